//! The options of an import as a command line, for the next file of the same form.

use super::arguments::{Import, OnError};
use crate::format::given;

/// The command line, quoted for a shell. It does not contain the API key.
pub(super) fn command_line(import: &Import) -> String {
    let path = import.file.to_string_lossy();
    // A name that begins with a dash would be parsed as an option.
    let path = if path.starts_with('-') { format!("./{path}") } else { path.into_owned() };
    let mut words = vec!["keyed-proxy".to_owned(), "import".to_owned(), quoted(&path)];
    let (format, cells) = given(&import.format);
    let matching = import
        .matching
        .iter()
        .map(|(reference, attribute)| ("--match", Some(format!("{reference}={attribute}"))));
    let options = [
        ("--format", format.map(|format| format.name().to_owned())),
        ("--format", cells.map(str::to_owned)),
        ("--key-column", import.key_column.clone()),
        ("--key-prefix", import.key_prefix.clone()),
        ("--mapping", import.mapping.clone()),
        ("--mode", import.mode.name().map(str::to_owned)),
        ("--filter", import.filter.clone()),
        ("--max-deleted-share", import.max_deleted_share.clone()),
        ("--delimiter", import.delimiter.clone()),
        ("--sheet", import.sheet.clone()),
        ("--encoding", import.encoding.clone()),
        ("--on-error", matches!(import.on_error, OnError::Skip).then(|| "skip".to_owned())),
        ("--failed", import.failed.as_ref().map(|file| file.to_string_lossy().into_owned())),
    ];
    let service = import.service.options().into_iter().map(|(flag, value)| (flag, Some(value)));
    for (flag, value) in service.chain(matching).chain(options) {
        let Some(value) = value else { continue };
        // A value that begins with a dash would also be parsed as an option.
        match value.starts_with('-') {
            true => words.push(format!("{flag}={}", quoted(&value))),
            false => words.extend([flag.to_owned(), quoted(&value)]),
        }
    }
    words.join(" ")
}

/// Quotes a text as one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_./:@%+,-".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if !text.chars().any(char::is_control) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    // A terminal would interpret control characters.
    let mut word = "$'".to_owned();
    for character in text.chars() {
        match character {
            '\'' | '\\' => word.extend(['\\', character]),
            character if character.is_control() => {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    word.push_str(&format!("\\x{byte:02x}"));
                }
            }
            character => word.push(character),
        }
    }
    word + "'"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        import: Import,
    }

    #[test]
    fn text_is_one_shell_word() {
        for (text, word) in [
            ("a.csv", "a.csv"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(rm)", "'$(rm)'"),
            ("~/a", "'~/a'"),
            ("é", "'é'"),
            ("a\u{1b}]52;'\\b", r"$'a\x1b]52;\'\\b'"),
            ("\u{9b}", r"$'\xc2\x9b'"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }

    #[test]
    fn command_line_has_all_options_except_the_key() {
        let given = [
            "import",
            "a b.csv",
            "--interactive",
            "--template",
            "crm.customers",
            "--url",
            "http://keyed:1",
            "--api-key",
            "secret",
            "--format",
            "csv",
            "--format",
            r#"{"decimal": ","}"#,
            "--key-column",
            "No",
            "--key-prefix=-x",
            "--mapping",
            r#"{"Name": "name"}"#,
            "--match",
            "company=name",
            "--match",
            "boss=full_name",
            "--mode",
            "mirror",
            "--filter",
            "[]",
            "--max-deleted-share",
            "0.1",
            "--delimiter",
            ";",
            "--encoding",
            "windows-1252",
            "--on-error",
            "skip",
            "--failed",
            "failed.csv",
        ];
        let line = command_line(&Program::parse_from(given).import);
        assert_eq!(
            line,
            "keyed-proxy import 'a b.csv' --url http://keyed:1 --template crm.customers --match 'company=name' --match \
             'boss=full_name' --format csv --format \
             '{\"decimal\": \",\"}' --key-column No --key-prefix=-x --mapping '{\"Name\": \"name\"}' --mode mirror --filter '[]' \
             --max-deleted-share 0.1 --delimiter ';' \
             --encoding windows-1252 --on-error skip --failed failed.csv"
        );
    }
}
