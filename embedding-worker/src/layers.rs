//! The order of the modules: each imports only from earlier ones, and files import each other in one direction.

use source_layers::{Exception, Sources};

/// The folders, and files beside them, from the lowest to the highest.
const ORDER: [&str; 9] =
    ["settings", "vector", "outcome", "hash", "answer", "isolation", "openai", "embedder", "worker"];

/// Where a cycle stays.
const EXCEPTIONS: [Exception; 0] = [];

/// The most lines of a file.
const MAX_LINES: usize = 500;

fn sources() -> Sources {
    Sources::of_crate(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn modules_import_only_from_those_below() {
    let faults = sources().imports_from_above(&ORDER);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_files_import_from_each_other() {
    let faults = sources().cycles(&EXCEPTIONS);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn files_are_short() {
    let long = sources().longer_than(MAX_LINES, &[]);
    assert!(long.is_empty(), "A long file often holds two ideas:\n{}", long.join("\n"));
}
