//! The order of the modules: each depends only on earlier ones, and files depend on each other in one direction.

use source_layers::{Exception, Sources};
use std::sync::LazyLock;

/// The folders and top-level files, from the lowest to the highest.
const ORDER: [&str; 7] = ["address", "settings", "target", "signature", "connection", "attempt", "worker"];

/// The allowed cycles.
const EXCEPTIONS: [Exception; 0] = [];

/// The maximum number of lines of a file.
const MAX_LINES: usize = 500;

/// Read once for all tests.
static SOURCES: LazyLock<Sources> = LazyLock::new(|| Sources::of_crate(env!("CARGO_MANIFEST_DIR")));

#[test]
fn modules_import_only_from_those_below() {
    let violations = SOURCES.imports_from_above(&ORDER);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn files_have_no_dependency_cycles() {
    let violations = SOURCES.cycles(&EXCEPTIONS);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn files_are_short() {
    let long = SOURCES.longer_than(MAX_LINES, &[]);
    assert!(long.is_empty(), "A long file often holds two ideas:\n{}", long.join("\n"));
}
