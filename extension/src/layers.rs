//! Checks of the module structure: import order, dependency cycles, purity and size of files.

/// Folders and top-level files in import order.
const ORDER: [&str; 31] = [
    "json_write",
    "error",
    "json",
    "limits",
    "value",
    "postgres",
    "attribute_type",
    "format",
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
    "change",
    "embedding",
    "batch",
    "import",
    "export",
    "inbound",
    "webhook",
    "idempotency",
    "define",
    "trigger",
    "job_worker",
    "administration",
    "statistics",
];

source_layers::rules!(ORDER, []);

/// Folders and files that must be pure even if their module comment does not say so.
const PURE: [&str; 17] = [
    "json_write",
    "error",
    "json",
    "limits",
    "value",
    "filter",
    "format",
    "access/policy_sql",
    "change/cursor",
    "change/position",
    "define/ddl",
    "import/columns",
    "inbound/signature",
    "record/changes",
    "search/query/cursor",
    "search/query/plan",
    "search/query/sort",
];

/// Names that pure code must not contain: PostgreSQL's API, clocks, and session state.
const IMPURE: [&str; 9] = [
    "pgrx",
    "pg_sys",
    "crate::postgres",
    "or_raise()",
    ".raise()",
    "SystemTime",
    "Instant::now",
    "thread_local!",
    "catalog::",
];

#[test]
fn pure_code_is_pure() {
    let violations = SOURCES.impure(&PURE, &IMPURE);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn dependents_are_listed() {
    let list = include_str!("define/dependents.rs");
    let list = list
        .split_once("const ALL")
        .and_then(|(_, rest)| rest.split_once(';'))
        .and_then(|(_, rest)| rest.split_once("];"));
    let (list, _) = list.expect("the list of dependents");
    let dependents = SOURCES.lines_with("impl Dependent for ");
    assert!(dependents.len() > 5, "{dependents:?}");
    for (place, line) in dependents {
        let name = line.trim_start_matches("impl Dependent for ").trim_end_matches(" {");
        assert!(list.contains(&format!("&{name}")), "{place}: {name} is not in define/dependents.rs");
    }
}

#[test]
fn only_compat_depends_on_the_postgresql_version() {
    let lines = SOURCES.lines_with("");
    let knows = |(_, code): &&(String, String)| code.contains("feature = \"pg");
    let (there, elsewhere): (Vec<_>, Vec<_>) =
        lines.iter().filter(knows).partition(|(place, _)| place.starts_with("postgres/compat.rs"));
    assert!(!there.is_empty());
    assert!(elsewhere.is_empty(), "move version checks to postgres/compat.rs: {elsewhere:?}");
}
