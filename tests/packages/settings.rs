//! The settings and secrets in the packages and containers exist in the proxy.

use crate::page::file;
use harness::proxy_program;
use std::collections::BTreeSet;

const UNIT: &str = "packages/debian/keyed-proxy.service";
const ENVIRONMENT: &str = "packages/debian/proxy.env";
const REFERENCE: &str = "docs/reference/packages.md";

/// The names of settings in a text.
fn settings(text: &str) -> BTreeSet<String> {
    text.split(|character: char| !character.is_ascii_uppercase() && character != '_')
        .filter(|word| word.starts_with("KEYED_") && word.len() > "KEYED_".len())
        .map(str::to_owned)
        .collect()
}

#[test]
fn named_settings_exist() {
    let help = proxy_program(&["serve", "--help"]).output().expect("the proxy is built");
    let known = settings(&String::from_utf8_lossy(&help.stdout));
    assert!(known.contains("KEYED_DATABASE_URL_FILE"), "{known:?}");
    for path in [UNIT, ENVIRONMENT, REFERENCE, "packages/docker/Dockerfile"] {
        let unknown: Vec<String> = settings(&file(path)).difference(&known).cloned().collect();
        assert!(unknown.is_empty(), "{path}: {unknown:?}");
    }
}

#[test]
fn service_secrets_match_the_pages() {
    let unit = file(UNIT);
    let lines = unit.lines().filter_map(|line| line.strip_prefix("LoadCredential="));
    let secrets: Vec<(&str, &str)> =
        lines.map(|line| line.split_once(':').expect("a name and a path")).collect();
    assert_eq!(secrets.len(), 6);
    for (name, path) in secrets {
        let setting = unit
            .lines()
            .find_map(|line| line.strip_prefix("Environment=")?.strip_suffix(&format!("=%d/{name}")));
        let setting = setting.unwrap_or_else(|| panic!("no setting reads {name}"));
        assert!(file(ENVIRONMENT).contains(&format!("({})", setting.trim_end_matches("_FILE"))), "{setting}");
        let row = file(REFERENCE).lines().any(|line| {
            line.starts_with(&format!("| `{path}` |")) && line.ends_with(&format!("`{setting}` |"))
        });
        assert!(row, "{REFERENCE} has no row of {path} and {setting}");
    }
}

/// A setting whose comment sign an administrator removes is accepted by the proxy.
#[test]
fn configuration_lines_are_accepted_settings() {
    let environment = file(ENVIRONMENT);
    let lines = environment
        .lines()
        .filter_map(|line| line.strip_prefix('#').filter(|rest| rest.starts_with("KEYED_")));
    let settings: Vec<(&str, &str)> = lines.map(|line| line.split_once('=').expect("a setting")).collect();
    assert!(settings.len() > 5, "{settings:?}");
    // The files in these values are examples.
    let settings = settings.into_iter().filter(|(name, _)| !name.starts_with("KEYED_TLS_"));
    // The proxy starts up to the port, which it cannot use.
    let mut proxy = proxy_program(&["serve", "--listen", "256.0.0.1:1", "--database-url", "host=/nowhere"]);
    let output = proxy.envs(settings).output().expect("the proxy is built");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("cannot listen on 256.0.0.1:1"), "{complaint}");
}
