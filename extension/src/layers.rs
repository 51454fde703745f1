//! The order of the folders: each imports only from those before it, so that there is no cycle between folders.

use source_layers::Sources;

/// The folders, and files beside them, from the lowest to the highest.
const ORDER: [&str; 26] = [
    "json_write",
    "error",
    "json",
    "limits",
    "value",
    "postgres",
    "attribute_type",
    "filter",
    "template",
    "access",
    "quota",
    "job",
    "metric",
    "vectors",
    "record",
    "view",
    "search",
    "embedding",
    "batch",
    "import",
    "export",
    "inbound",
    "idempotency",
    "define",
    "trigger",
    "job_worker",
];

/// The most lines of a file.
const MOST_LINES: usize = 310;

fn sources() -> Sources {
    Sources::of_crate(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn folders_import_only_from_those_below() {
    let faults = sources().imports_from_above(&ORDER);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn files_are_short() {
    let long = sources().longer_than(MOST_LINES, &[]);
    assert!(long.is_empty(), "A long file often holds two ideas:\n{}", long.join("\n"));
}
