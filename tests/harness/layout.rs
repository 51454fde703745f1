//! Tests of the layout of test files.

use crate::repository_folder;
use std::path::{Path, PathBuf};

/// The maximum number of lines of a file.
const MAX_LINES: usize = 500;

/// The maximum number of files of a kind without folders.
const MAX_FILES_WITHOUT_FOLDERS: usize = 12;

/// A kind of test whose folders and files have the names of those in a source folder.
struct Mirror {
    kind: &'static str,
    source: &'static str,
    /// Files and folders without a counterpart in the source, and the reason.
    others: &'static [(&'static str, &'static str)],
}

const MIRRORS: [Mirror; 4] = [
    Mirror {
        kind: "sql",
        source: "extension/src",
        others: &[
            ("gallery", "records for tests of filters and searches"),
            ("growth", "the cost of operations"),
            ("hostile_input", "calls every function"),
        ],
    },
    Mirror {
        kind: "http",
        source: "proxy/src",
        others: &[
            ("access_log", "the lines of requests of all routes"),
            ("embedding", "the crate embedding-worker, and query_text"),
            ("reload", "the settings that SIGHUP reloads"),
            ("service", "common properties of all responses"),
            ("service_manager", "notifications to systemd"),
            ("shutdown", "the steps of shutdown, for several crates"),
            ("tls", "the listener, and connections of the crate service"),
            ("webhooks", "the crate webhook-worker"),
        ],
    },
    Mirror {
        kind: "access",
        source: "extension/src",
        others: &[
            ("attacks", "against several folders at once"),
            ("changes", "changed privileges, through every interface"),
            ("clients", "third-party tools"),
            ("differential", "compares interfaces with a model"),
            ("explain", "which grants show a record"),
            ("files", "import and export"),
            ("grants", "the effects of a grant, through every interface"),
            ("lint", "all objects of a database"),
            ("sales", "a project for these tests"),
            ("sessions", "cached privileges of a session, through every interface"),
            ("visibility", "invisible records, through every interface"),
        ],
    },
    Mirror {
        kind: "race",
        source: "extension/src",
        others: &[
            ("order", "the order of locks of several folders"),
            ("tenants", "callers that share the proxy's connections"),
        ],
    },
];

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}

/// All Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    entries(folder)
        .into_iter()
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether the source has a folder or file with this name.
fn exists(source: &Path) -> bool {
    source.is_dir() || source.with_extension("rs").is_file()
}

/// The folders below `folder` that have no counterpart in the source.
fn unmatched_folders(folder: &Path, source: &Path) -> Vec<PathBuf> {
    let folders = entries(folder).into_iter().filter(|path| path.is_dir());
    folders
        .flat_map(|path| {
            let counterpart = source.join(stem(&path));
            if exists(&counterpart) { unmatched_folders(&path, &counterpart) } else { vec![path] }
        })
        .collect()
}

#[test]
fn test_folders_mirror_the_source() {
    let root = repository_folder();
    let mut problems = Vec::new();
    for Mirror { kind, source, others } in MIRRORS {
        let source = root.join(source);
        let tests = root.join("tests").join(kind);
        for path in entries(&tests) {
            let name = stem(&path);
            let is_listed = others.iter().any(|(other, _)| *other == name);
            if name == "main" || is_listed {
                continue;
            }
            if !exists(&source.join(&name)) {
                problems.push(path);
            } else if path.is_dir() {
                problems.extend(unmatched_folders(&path, &source.join(&name)));
            }
        }
        for (name, _) in others {
            assert!(exists(&tests.join(name)), "{kind}: {name} is listed and does not exist");
        }
    }
    assert!(problems.is_empty(), "these have no counterpart in the source: {problems:?}");
}

#[test]
fn kind_without_folders_is_small() {
    for folder in entries(&repository_folder().join("tests")) {
        let is_mirror = MIRRORS.iter().any(|mirror| folder.ends_with(mirror.kind));
        if !folder.join("main.rs").is_file() || is_mirror || folder.ends_with("bench") {
            continue;
        }
        let count = entries(&folder).iter().filter(|path| path.is_file()).count();
        assert!(count <= MAX_FILES_WITHOUT_FOLDERS, "{} has {count} files: make folders", folder.display());
    }
}

#[test]
fn files_are_short() {
    let lines = |path: &PathBuf| std::fs::read_to_string(path).expect("a source").lines().count();
    let long = sources(&repository_folder().join("tests"));
    let long: Vec<String> = long
        .iter()
        .filter(|path| lines(path) > MAX_LINES)
        .map(|path| format!("{}: {} lines, at most {MAX_LINES}", path.display(), lines(path)))
        .collect();
    assert!(long.is_empty(), "A long file often has two topics:\n{}", long.join("\n"));
}

#[test]
fn side_tables_are_named_only_in_the_harness() {
    for path in sources(&repository_folder().join("tests")) {
        let is_bench = path.iter().any(|step| step == "bench");
        if is_bench || path.ends_with("harness/side_table.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        for kind in ["history", "metric", "text", "vector"] {
            for (start, prefix) in text.match_indices(&format!("keyed_state.{kind}_")) {
                let next = text[start + prefix.len()..].chars().next();
                let is_numbered = next.is_some_and(|next| next.is_ascii_digit());
                assert!(!is_numbered, "{}: use harness::customers and its like", path.display());
            }
        }
    }
}

/// Tests that read a clock, and why they are reliable.
const TIMED: [(&str, &str); 2] = [
    ("http/admission/flood.rs", "compares latencies, with a floor of seconds"),
    ("http/embedding/failures.rs", "allows for more requests the longer it takes"),
];

#[test]
fn tests_read_no_clock() {
    let root = repository_folder().join("tests");
    for kind in ["sql", "http", "race", "access", "cli", "lifecycle"] {
        for path in sources(&root.join(kind)) {
            let text = std::fs::read_to_string(&path).expect("a source");
            let is_timed = text.contains("Instant::now()") || text.contains(".elapsed()");
            let is_listed = TIMED.iter().any(|(timed, _)| path.ends_with(timed));
            assert!(
                is_timed == is_listed,
                "{}: wait with harness::until, or count work (harness::processor_time)",
                path.display()
            );
        }
    }
}

/// The names of the tests of a kind, in the form that libtest filters.
fn names(kind: &str) -> Vec<String> {
    let root = repository_folder().join("tests").join(kind);
    let of_file = |path: PathBuf| {
        let steps = path.strip_prefix(&root).expect("a file of the kind").with_extension("");
        let steps: Vec<String> = steps.iter().map(|step| step.to_string_lossy().into_owned()).collect();
        let module: String = steps.iter().filter(|it| *it != "mod").map(|it| format!("{it}::")).collect();
        let text = std::fs::read_to_string(&path).expect("a source");
        let functions = text.lines().filter_map(|line| line.split_once("fn ")?.1.split('(').next());
        functions.map(|function| format!("{module}{function}")).collect::<Vec<_>>()
    };
    sources(&root).into_iter().flat_map(of_file).collect()
}

#[test]
fn test_filters_match_existing_tests() {
    let script = std::fs::read_to_string(repository_folder().join(".dev/test")).expect("the script");
    let all: Vec<String> =
        ["sql", "access", "race", "lifecycle"].iter().flat_map(|kind| names(kind)).collect();
    for list in ["ONCE", "ONCE_MAJOR", "ONCE_INDIRECT", "REACH_DIRECT_ACCESS"] {
        let (_, rest) = script.split_once(&format!("readonly {list}=(")).expect("a list");
        let (filters, _) = rest.split_once(')').expect("the end");
        let words = filters.lines().flat_map(|line| line.split('#').next().unwrap_or("").split_whitespace());
        let filters: Vec<&str> = words.collect();
        assert!(!filters.is_empty(), "{list}");
        for filter in filters {
            assert!(
                all.iter().any(|name| name.contains(filter)),
                "{list} in .dev/test: no test has {filter}"
            );
        }
    }
}

#[test]
fn make_help_names_every_target_and_kind() {
    let root = repository_folder();
    let makefile = std::fs::read_to_string(root.join("Makefile")).expect("the Makefile");
    let help: Vec<&str> = makefile.lines().filter(|line| line.contains("@echo")).collect();
    let targets = makefile.lines().find_map(|line| line.strip_prefix(".PHONY: help ")).expect("targets");
    for target in targets.split(' ') {
        let line = help.iter().find(|line| line.contains(&format!("'make {target} ")));
        assert!(line.is_some(), "make {target}");
        assert!(root.join(".dev").join(target).is_file(), ".dev/{target}");
    }
    let kinds_of = |target: &str| -> Vec<&str> {
        let line = help.iter().find(|line| line.contains(&format!("'make {target} "))).expect("a line");
        let (_, kinds) = line.split_once("KIND=").expect("kinds");
        let end = kinds.find([',', ')']).expect("an end");
        kinds[..end].split('|').collect()
    };
    let mut tests: Vec<String> = entries(&root.join("tests"))
        .iter()
        .filter(|folder| folder.join("main.rs").is_file() && !folder.ends_with("bench"))
        .map(|folder| stem(folder))
        .chain(["lint".to_owned(), "unit".to_owned()])
        .collect();
    let mut named = kinds_of("test");
    tests.sort();
    named.sort_unstable();
    assert_eq!(named, tests);
    // The soak kind `crash` is a lifecycle test.
    let folders = entries(&root.join("tests/soak")).into_iter().map(|folder| stem(&folder));
    let mut soak: Vec<String> = folders.chain(["crash".to_owned()]).collect();
    let mut named = kinds_of("soak");
    soak.sort();
    named.sort_unstable();
    assert_eq!(named, soak);
}
