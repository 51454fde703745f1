//! The order of the modules: each depends only on earlier ones, and files depend on each other in one direction.

use source_layers::{Exception, Sources};
use std::sync::LazyLock;

/// The folders, and files beside them, from the lowest to the highest.
const ORDER: [&str; 39] = [
    "problem",
    "error",
    "metrics",
    "cors",
    "settings",
    "listener_tls",
    "traces",
    "header",
    "source",
    "query",
    "numbers",
    "conditional",
    "preference",
    "packing",
    "compression",
    "lingering",
    "observation",
    "envelope",
    "idempotency",
    "admission",
    "caller",
    "database",
    "readiness",
    "housekeeping",
    "query_text",
    "changes",
    "state",
    "authentication",
    "body",
    "answer",
    "call",
    "file",
    "import",
    "routes",
    "openapi",
    "application",
    "router",
    "server",
    "scrape",
];

/// Where a cycle stays.
const EXCEPTIONS: [Exception; 2] = [
    Exception { from: "database/mod.rs", to: "database/attempt.rs", reason: METHODS_OF_ONE_TYPE },
    Exception { from: "problem.rs", to: "problem/body.rs", reason: METHODS_OF_ONE_TYPE },
];

const METHODS_OF_ONE_TYPE: &str =
    "The methods of a type are divided among files, and the file of the type calls them.";

/// The most lines of a file.
const MAX_LINES: usize = 500;

/// Read once for all tests.
static SOURCES: LazyLock<Sources> = LazyLock::new(|| Sources::of_crate(env!("CARGO_MANIFEST_DIR")));

#[test]
fn modules_import_only_from_those_below() {
    let faults = SOURCES.imports_from_above(&ORDER);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_files_depend_on_each_other() {
    let faults = SOURCES.cycles(&EXCEPTIONS);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn hints_are_sentences() {
    let faults = SOURCES.hints_without_sentence();
    assert!(
        faults.is_empty(),
        "A hint begins with a capital and ends with a full stop:\n{}",
        faults.join("\n")
    );
}

#[test]
fn files_are_short() {
    let long = SOURCES.longer_than(MAX_LINES, &[]);
    assert!(long.is_empty(), "A long file often holds two ideas:\n{}", long.join("\n"));
}
