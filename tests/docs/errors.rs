//! The table of errors is the same in docs/reference/errors.md and in the proxy.

use crate::page::file;
use std::collections::BTreeMap;

/// SQLSTATE → code, as the proxy's source has it.
fn table_of_the_proxy() -> BTreeMap<String, String> {
    let source = file("proxy/src/error.rs");
    let table = source.split("TABLE: &[(&str, Code)] = &[").nth(1).and_then(|rest| rest.split("];").next());
    let lines = table.expect("the proxy has the table").lines().filter(|line| line.contains("Code::"));
    lines
        .map(|line| {
            let state = line.split('"').nth(1).expect("a SQLSTATE");
            let code = line.split("Code::").nth(1).and_then(|rest| rest.split(')').next()).expect("a code");
            (state.to_owned(), snake_case(code))
        })
        .collect()
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// SQLSTATE → the first code of its line, as the page has it.
fn table_of_the_page() -> BTreeMap<String, String> {
    let page = file("docs/reference/errors.md");
    let mut table = BTreeMap::new();
    for row in page.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let code = cells[2].split([',', ';']).next().unwrap_or_default().trim().to_owned();
        for state in cells[0].split(',').map(|state| state.trim().trim_end_matches('…')) {
            if state.len() == 5 || state.len() == 2 {
                table.insert(state.to_owned(), code.clone());
            }
        }
    }
    table
}

#[test]
fn the_page_and_the_proxy_answer_each_sqlstate_alike() {
    let proxy = table_of_the_proxy();
    assert!(proxy.len() > 20, "the table was found: {proxy:?}");
    assert_eq!(table_of_the_page(), proxy);
}

#[test]
fn the_reference_lists_every_function_that_people_call() {
    let reference = file("docs/reference/sql.md");
    for page in [
        "sql/functions/template.sql",
        "sql/functions/record.sql",
        "sql/functions/access.sql",
        "sql/functions/idempotency.sql",
        "sql/functions/view.sql",
        "sql/functions/inbound.sql",
        "sql/functions/quota.sql",
    ] {
        for line in file(page).lines() {
            let Some(rest) = line.strip_prefix("create function keyed.") else { continue };
            let name = rest.split('(').next().unwrap_or_default();
            let internal = ["authenticate"].contains(&name);
            assert!(
                internal || reference.contains(&format!("`{name}(")),
                "docs/reference/sql.md does not explain keyed.{name}"
            );
        }
    }
}
