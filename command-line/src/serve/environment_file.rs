//! A settings file with one `NAME=value` per line, in the syntax of systemd's EnvironmentFile. Pure.

use std::collections::BTreeMap;

/// The settings of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EnvironmentFile(BTreeMap<String, String>);

impl EnvironmentFile {
    pub(crate) fn parse(text: &str) -> EnvironmentFile {
        let settings = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
        EnvironmentFile(
            settings
                .filter_map(|line| line.split_once('='))
                .map(|(name, value)| (name.trim().to_owned(), unquoted(value.trim()).to_owned()))
                .collect(),
        )
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The names of the settings that differ.
    pub(crate) fn differences<'a>(&'a self, other: &'a EnvironmentFile) -> Vec<&'a str> {
        let names = self.0.keys().chain(other.0.keys().filter(|name| !self.0.contains_key(*name)));
        names.filter(|name| self.0.get(*name) != other.0.get(*name)).map(String::as_str).collect()
    }
}

fn unquoted(value: &str) -> &str {
    ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_read_like_systemd() {
        let file = EnvironmentFile::parse(
            "# KEYED_LOG=trace\n; KEYED_LOG=trace\nKEYED_LOG = \"debug\"\n\nKEYED_A='b c'\nKEYED_B=x=y\nnothing",
        );
        assert_eq!(file.get("KEYED_LOG"), Some("debug"));
        assert_eq!(file.get("KEYED_A"), Some("b c"));
        assert_eq!(file.get("KEYED_B"), Some("x=y"));
        assert_eq!(file.get("nothing"), None);
    }

    #[test]
    fn unsupported_syntax_is_named() {
        let before = EnvironmentFile::parse("A=1\nB=2\nC=3");
        let after = EnvironmentFile::parse("A=1\nB=3\nD=4");
        assert_eq!(before.differences(&after), ["B", "C", "D"]);
        assert!(before.differences(&before).is_empty());
    }
}
