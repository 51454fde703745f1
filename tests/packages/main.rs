//! The packages that `make deb` makes, and the descriptions of the project for others who package it.
//!
//! What needs root, apt and minutes is ignored unless `make test KIND=packages` asks for it.

mod containers;
mod debian;
mod machine;
#[path = "../docs/output.rs"]
mod output;
#[path = "../docs/page.rs"]
#[expect(dead_code, reason = "the tests of pages ask more")]
mod page;
mod pgxn;
mod settings;
