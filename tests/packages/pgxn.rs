//! `META.json`, which describes the extension for PGXN.

use crate::page::file;
use harness::repository_folder;
use serde_json::{Value, json};

fn meta() -> Value {
    serde_json::from_str(&file("META.json")).expect("JSON")
}

/// The text after these words in a file, up to the end of the line.
fn after<'a>(text: &'a str, words: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.strip_prefix(words)).unwrap_or_else(|| panic!("no {words}"));
    line.trim_matches(|character| "\"' =".contains(character))
}

#[test]
fn pgxn_metadata_is_valid() {
    let rules: Value = serde_json::from_str(include_str!("pgxn.schema.json")).expect("JSON");
    let rules = jsonschema::validator_for(&rules).expect("a schema");
    let problems: Vec<String> = rules.iter_errors(&meta()).map(|problem| problem.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    for (member, wrong) in [
        ("name", json!("a/b")),
        ("version", json!("1.0")),
        ("provides", json!({})),
        ("licence", json!("mit")),
    ] {
        let mut meta = meta();
        meta[member] = wrong;
        assert!(!rules.is_valid(&meta), "{member}");
    }
}

#[test]
fn pgxn_metadata_matches_this_tree() {
    let (meta, cargo) = (meta(), file("Cargo.toml"));
    let version = after(&cargo, "version = ");
    assert_eq!(meta["version"], version);
    let extension = &meta["provides"]["keyed"];
    assert_eq!(extension["version"], version);
    for path in [&extension["file"], &extension["docfile"]] {
        let path = path.as_str().expect("a path");
        assert!(repository_folder().join(path).is_file(), "{path}");
    }
    for folder in meta["no_index"]["directory"].as_array().expect("a list") {
        let folder = folder.as_str().expect("a path");
        assert!(repository_folder().join(folder).is_dir(), "{folder}");
    }
    assert_eq!((after(&cargo, "license = "), meta["license"].as_str()), ("Apache-2.0", Some("apache_2_0")));
    let comment = file("extension/keyed.control").replace("''", "'");
    assert_eq!(meta["abstract"], after(&comment, "comment = "));
    // The oldest version of PostgreSQL that the extension supports.
    let manifest = file("extension/Cargo.toml");
    let oldest =
        manifest.lines().find_map(|line| line.strip_prefix("pg")?.split_once(" = ")).expect("a feature").0;
    assert_eq!(meta["prereqs"]["runtime"]["requires"]["PostgreSQL"], format!("{oldest}.0.0"));
}
