//! The order of the folders: each imports only from those before it, so that there is no circle between folders.
//!
//! The test reads `use` lines and paths within the code. Tests of a module may look further up.

/// The folders, and files beside them, from the lowest to the highest.
const ORDER: [&str; 26] = [
    "json_write",
    "error",
    "json",
    "limits",
    "value",
    "postgres",
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
    "lib",
];

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most lines of a file.
const MOST_LINES: usize = 310;

/// A source file: where it is, and the segments of its module.
struct File {
    path: PathBuf,
    module: Vec<String>,
    text: String,
}

fn files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the source") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let within = path.strip_prefix(&root).expect("below the root").with_extension("");
            let mut module: Vec<String> =
                within.iter().map(|step| step.to_string_lossy().into_owned()).collect();
            if module.last().is_some_and(|last| last == "mod") {
                module.pop();
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            files.push(File { path, module, text });
        }
    }
    files
}

/// The lines of the code without comments, with their numbers; a `use` of several lines is one. What is for tests alone is
/// left out.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut statements = Vec::new();
    let mut lines = text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    while let Some((number, line)) = lines.next() {
        let mut statement = code(line);
        if statement.split_whitespace().take(2).any(|word| word == "use") {
            while !statement.contains(';')
                && let Some((_, further)) = lines.next()
            {
                statement.push_str(&code(further));
            }
        }
        statements.push((number + 1, statement));
    }
    statements
}

/// The first name of each path of `{a, b::{c, d}, e}`.
fn first_names(braces: &str) -> Vec<String> {
    let (mut names, mut depth, mut name) = (Vec::new(), 0, String::new());
    for character in braces.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(std::mem::take(&mut name)),
            _ if depth == 1 => name.push(character),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names.push(name);
    names.iter().map(|name| name.trim().split("::").next().unwrap_or_default().to_owned()).collect()
}

/// What a file imports from the crate, with the number of the line: paths that begin with `crate` or `super`.
fn imports(file: &File) -> Vec<(usize, Vec<String>)> {
    let mut imports = Vec::new();
    for (number, code) in statements(&file.text) {
        for (start, word) in code.match_indices("crate::").chain(code.match_indices("super::")) {
            let is_whole =
                !code[..start].ends_with(|before: char| before.is_alphanumeric() || "_:$".contains(before));
            if !is_whole {
                continue;
            }
            let mut path: Vec<String> = match word {
                "crate::" => Vec::new(),
                _ => file.module[..file.module.len().saturating_sub(1)].to_vec(),
            };
            let mut rest = &code[start + word.len()..];
            while let Some(further) = rest.strip_prefix("super::") {
                path.pop();
                rest = further;
            }
            let name: String = rest.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
            if path.is_empty() && name.is_empty() {
                imports.extend(first_names(rest).into_iter().map(|name| (number, vec![name])));
                continue;
            }
            path.push(name);
            imports.push((number, path));
        }
    }
    imports
}

fn place(folder: &str) -> Option<usize> {
    ORDER.iter().position(|it| *it == folder)
}

#[test]
fn folders_import_only_from_those_below() {
    let mut faults = Vec::new();
    for file in files() {
        let own = file.module.first().map_or("lib", String::as_str);
        if own == "layers" || own == "schema" {
            continue;
        }
        let Some(own_place) = place(own) else {
            faults.push(format!("{}: the folder {own} is not in ORDER", file.path.display()));
            continue;
        };
        for (line, import) in imports(&file) {
            let folder = import.first().map_or("", String::as_str);
            if place(folder).is_some_and(|place| place > own_place) {
                let below = ORDER[..own_place].join(", ");
                faults.push(format!(
                    "{}:{line}: {own} imports from {folder}; it may import from {below}",
                    file.path.display()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn files_are_short() {
    let lengths: BTreeMap<PathBuf, usize> =
        files().into_iter().map(|file| (file.path, file.text.lines().count())).collect();
    let long: Vec<String> = lengths
        .into_iter()
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(path, lines)| format!("{}: {lines} lines, at most {MOST_LINES}", path.display()))
        .collect();
    assert!(long.is_empty(), "A long file often holds two ideas:\n{}", long.join("\n"));
}

#[test]
fn an_import_from_above_would_be_seen() {
    let file = |text: &str| File {
        path: PathBuf::from("record/read.rs"),
        module: vec!["record".to_owned(), "read".to_owned()],
        text: text.to_owned(),
    };
    for (text, first) in [
        ("use crate::search::run;", "search"),
        ("    crate::search::run::all();", "search"),
        ("use super::super::search;", "search"),
        ("use super::write;", "record"),
        ("use crate::{search, json};", "search"),
        ("use crate::{\n    search::{run, plan},\n    json,\n};", "search"),
    ] {
        let found = imports(&file(text));
        assert_eq!(found.first().map(|it| it.1[0].as_str()), Some(first), "{text}");
    }
    let nested = imports(&file("use crate::{json::{a, b}, search::run};"));
    assert_eq!(nested.iter().map(|it| it.1[0].as_str()).collect::<Vec<_>>(), ["json", "search"]);
    for text in ["// crate::search", "my_crate::search::x()", "#[cfg(test)]\nuse crate::search;"] {
        assert!(imports(&file(text)).is_empty(), "{text}");
    }
}
