//! The tables of the reference are compared with the code: errors, functions, settings and routes.

use crate::page::file;
use harness::{proxy_program, repository_folder};
use keyed_errors::{Code, POSTGRES};
use std::collections::BTreeSet;

/// The rows of the table below a heading of a page.
fn table(page: &str, heading: &str) -> Vec<String> {
    let page = file(page);
    let rest = page.split(&format!("\n{heading}\n")).nth(1).expect("the page has the heading");
    let section = rest.split("\n## ").next().unwrap_or_default();
    section.lines().filter(|line| line.starts_with('|')).skip(2).map(str::to_owned).collect()
}

#[test]
fn error_page_lists_every_code() {
    let row = |code: &Code| {
        let (name, status, retryable) = (code.name(), code.status(), code.is_retryable());
        let sqlstate = code.sqlstate().unwrap_or("—");
        format!("| {name} | {status} | {retryable} | {sqlstate} | {} |", code.meaning())
    };
    let rows: Vec<String> = Code::ALL.iter().map(row).collect();
    assert_eq!(table("docs/reference/errors.md", "## Codes"), rows);
}

#[test]
fn error_page_lists_every_sqlstate() {
    let mut rows: Vec<String> = Vec::new();
    for same in POSTGRES.chunk_by(|one, other| one.1 == other.1) {
        let code = same[0].1;
        let states = same
            .iter()
            .map(|(state, _)| if state.len() == 2 { format!("{state}…") } else { (*state).to_owned() });
        let states: Vec<String> = states.collect();
        rows.push(format!("| {} | {} | {} |", states.join(", "), code.status(), code.name()));
    }
    rows.push("| any other | 500 | internal |".to_owned());
    assert_eq!(table("docs/reference/errors.md", "## PostgreSQL's own errors"), rows);
}

#[test]
fn reference_lists_every_public_function() {
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
        "webhook",
        "quota",
        "job",
        "owner",
    ] {
        for line in file(&format!("sql/functions/{page}.sql")).lines() {
            let Some(rest) = line.strip_prefix("create function keyed.") else { continue };
            let name = rest.split('(').next().unwrap_or_default();
            // Functions that only the proxy, triggers and other functions call.
            let internal = [
                "authenticate",
                "failed_embeddings",
                "job_report",
                "is_defining",
                "guard_definition",
                "server_measurements",
                "measurement_report",
                "visible_templates",
                "attribute_uses",
                "estimated_bytes",
                "last_index_scan",
            ];
            count += 1;
            assert!(
                internal.contains(&name) || reference.contains(&format!("`{name}(")),
                "docs/reference/sql.md does not explain keyed.{name}"
            );
        }
    }
    assert!(count > 50, "functions were found: {count}");
}

/// The substrings between two texts in the lines of all files of a folder.
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
fn reference_lists_every_setting() {
    let pages = ["settings", "embeddings", "webhooks", "command-line"]
        .map(|page| file(&format!("docs/reference/{page}.md")));
    let pages = pages.concat();
    let mut settings = BTreeSet::new();
    for folder in ["command-line/src", "embedding-worker/src", "webhook-worker/src", "proxy/src"] {
        settings.extend(between(folder, "env = \"", "\""));
    }
    settings.extend(
        between("extension/src/postgres", "c\"keyed.", "\"").iter().map(|name| format!("keyed.{name}")),
    );
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
fn reference_lists_every_route() {
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
    listed.extend(routes_of("docs/reference/webhooks.md"));
    assert_eq!(listed, described);
}
