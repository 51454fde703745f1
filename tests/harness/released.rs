//! Released scripts do not change: `sql/released/` lists the SHA-256 of each.

use crate::repository_folder;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The violations among the scripts in a list of `sha256sum`.
fn problems(list: &str, root: &Path) -> Vec<String> {
    let problem = |line: &str| {
        let Some((hash, path)) = line.split_once("  ") else {
            return Some(format!("{line:?} is not a line of sha256sum"));
        };
        let Ok(script) = std::fs::read(root.join(path)) else {
            return Some(format!("{path} was released and is gone"));
        };
        let found: String = Sha256::digest(script).iter().map(|byte| format!("{byte:02x}")).collect();
        (found != hash).then(|| format!("{path} was released and has changed: add a new step instead"))
    };
    list.lines().filter_map(problem).collect()
}

/// The lists of all releases, with their names.
fn lists(root: &Path) -> Vec<(String, String)> {
    let folder = std::fs::read_dir(root.join("sql/released")).expect("the folder of lists");
    let paths = folder.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "sha256"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("a list")))
        .collect()
}

#[test]
fn released_scripts_do_not_change() {
    let root = repository_folder();
    for (name, list) in lists(&root) {
        let state = list.lines().filter(|line| line.contains("  sql/state/"));
        assert!(state.count() > 0, "{name} lists no migration");
        let problems = problems(&list, &root);
        assert!(problems.is_empty(), "{name}:\n{}", problems.join("\n"));
    }
}

#[test]
fn every_released_script_is_in_a_list() {
    let root = repository_folder();
    let listed: String = lists(&root).into_iter().map(|(_, list)| list).collect();
    for entry in std::fs::read_dir(root.join("sql/released")).expect("the folder of lists") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_script = name.ends_with(".sql");
        assert!(!is_script || listed.contains(&format!("  sql/released/{name}\n")), "{name} is in no list");
    }
}

#[test]
fn changed_missing_and_unreadable_lines_are_detected() {
    let root = repository_folder();
    let path = "sql/roles.sql";
    let script = std::fs::read(root.join(path)).expect("a script");
    let hash: String = Sha256::digest(script).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(problems(&format!("{hash}  {path}\n"), &root).is_empty());
    let changed = format!("{}  {path}", "0".repeat(64));
    for (line, word) in [
        (changed.as_str(), "has changed"),
        (&format!("{hash}  sql/state/gone.sql"), "is gone"),
        (hash.as_str(), "not a line"),
    ] {
        let problems = problems(line, &root);
        assert!(problems.len() == 1 && problems[0].contains(word), "{problems:?}");
    }
}
