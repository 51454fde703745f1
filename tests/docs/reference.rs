//! The tables of the reference are held against the code: errors, functions, settings and routes.

use crate::page::file;
use harness::{proxy_program, repository_folder};
use std::collections::{BTreeMap, BTreeSet};

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
    let mut count = 0;
    for page in [
        "template",
        "record",
        "search",
        "access",
        "embedding",
        "idempotency",
        "view",
        "inbound",
        "quota",
        "job",
        "owner",
    ] {
        for line in file(&format!("sql/functions/{page}.sql")).lines() {
            let Some(rest) = line.strip_prefix("create function keyed.") else { continue };
            let name = rest.split('(').next().unwrap_or_default();
            // The proxy, triggers and other functions call these.
            let internal =
                ["authenticate", "failed_embeddings", "job_report", "is_defining", "guard_definition"];
            count += 1;
            assert!(
                internal.contains(&name) || reference.contains(&format!("`{name}(")),
                "docs/reference/sql.md does not explain keyed.{name}"
            );
        }
    }
    assert!(count > 50, "functions were found: {count}");
}

/// What stands between two texts in the files of a folder, from each of their lines that has it.
fn between(folder: &str, before: &str, after: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(repository_folder().join(folder)).expect("a folder of the code").flatten()
    {
        let path = entry.path();
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            found.extend(between(&name, before, after));
        } else if name.ends_with(".rs") {
            let text = file(&name);
            let parts = text.split(before).skip(1).filter_map(|rest| rest.split_once(after));
            found.extend(parts.map(|(part, _)| part.to_owned()));
        }
    }
    found
}

#[test]
fn the_reference_lists_every_setting() {
    let pages =
        ["settings", "embeddings", "command-line"].map(|page| file(&format!("docs/reference/{page}.md")));
    let pages = pages.concat();
    let mut settings = between("proxy/src", "env = \"", "\"");
    settings.extend(
        between("extension/src/postgres", "c\"keyed.", "\"").iter().map(|name| format!("keyed.{name}")),
    );
    // Functions of ours set it, and nobody else can.
    settings.remove("keyed.principal");
    assert!(settings.len() > 50, "settings were found: {settings:?}");
    for setting in settings.iter().filter(|setting| !setting.contains(' ')) {
        assert!(pages.contains(&format!("`{setting}`")), "no page of the reference lists {setting}");
    }
}

/// The methods and paths in the first cells of a page's tables: `GET, PUT /a, /b; POST /c`.
fn routes_of(page: &str) -> BTreeSet<(String, String)> {
    let mut routes = BTreeSet::new();
    for row in file(page).lines().filter(|line| line.starts_with("| ")) {
        let cell = row.trim_matches('|').split('|').next().unwrap_or_default();
        let (mut methods, mut seen_path) = (Vec::new(), false);
        for word in cell.split([' ', ',', ';']).filter(|word| !word.is_empty()) {
            if let Some(path) = word.strip_prefix('/') {
                seen_path = true;
                let path = path.split('?').next().unwrap_or_default();
                routes.extend(methods.iter().map(|method| (String::clone(method), format!("/{path}"))));
            } else if word.chars().all(|letter| letter.is_ascii_uppercase()) {
                if seen_path {
                    methods.clear();
                }
                seen_path = false;
                methods.push(word.to_owned());
            }
        }
    }
    routes
}

#[test]
fn the_reference_lists_every_route() {
    let document = proxy_program(&["openapi"]).output().expect("the proxy is built").stdout;
    let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    let mut described = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let path = path.strip_prefix("/v1").unwrap_or(path);
        for method in methods.as_object().expect("methods").keys().filter(|name| *name != "parameters") {
            described.insert((method.to_uppercase(), path.to_owned()));
        }
    }
    let mut listed = routes_of("docs/reference/http.md");
    listed.extend(routes_of("docs/reference/inbound.md"));
    assert_eq!(listed, described);
}
