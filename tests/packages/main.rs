//! The packages that `make deb` makes, and the descriptions of the project for others who package it.
//!
//! What needs root, apt and minutes is ignored unless `make test KIND=packages` asks for it.

#[path = "../docs/answer.rs"]
mod answer;
mod containers;
mod debian;
mod machine;
#[path = "../docs/page.rs"]
#[expect(dead_code, reason = "the tests of pages ask more")]
mod page;
mod pgxn;
mod settings;
