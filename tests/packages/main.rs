//! The packages that `make deb` builds, and the metadata for other packagers.
//!
//! Tests that need root, apt and several minutes are ignored unless `make test KIND=packages` runs them.

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
