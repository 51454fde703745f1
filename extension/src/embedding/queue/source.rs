//! The text of a record for embedding: the values of the template's embedded attributes, one on each line.

use crate::attribute_type::AttributeType;
use crate::postgres::datum;
use crate::postgres::spi::Rows;
use crate::template::Template;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The maximum size of a text. Models read far less.
const MAX_BYTES: usize = 256 << 10;

/// The columns of the text: the id, then the embedded attributes.
pub fn columns(template: &Template) -> String {
    let mut sql = "t.id".to_owned();
    for attribute in template.embedded() {
        let _ = write!(sql, ", t.\"{}\"", attribute.slug);
    }
    sql
}

/// The text of a row with [`columns`]; empty if no attribute has a value.
pub fn text_of(template: &Template, rows: &Rows, row: usize) -> String {
    let mut text = String::new();
    for (position, attribute) in template.embedded().enumerate() {
        let Some(value) = rows.datum(row, position + 1) else { continue };
        let line = if attribute.kind == AttributeType::List {
            let elements = datum::read_text_array(value).unwrap_or_default();
            let labels: Vec<&str> = elements.iter().map(|element| attribute.label_of(element)).collect();
            labels.join(", ")
        } else {
            datum::read_text(value)
        };
        add_line(&mut text, &line);
    }
    text
}

fn add_line(text: &mut String, line: &str) {
    let line = line.trim();
    if line.is_empty() || text.len() >= MAX_BYTES {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
    text.truncate(text.floor_char_boundary(MAX_BYTES));
}

/// The hash that identifies a text.
pub fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// A hash in hexadecimal, as workers get and return it.
pub fn hex(hash: &[u8; 32]) -> String {
    hash.iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(lines: &[&str]) -> String {
        let mut text = String::new();
        lines.iter().for_each(|line| add_line(&mut text, line));
        text
    }

    #[test]
    fn text_has_a_line_for_each_non_empty_value() {
        assert_eq!(text_of(&["Girl", "", " \n", " oil, tempera "]), "Girl\noil, tempera");
        assert_eq!(text_of(&["", " "]), "");
    }

    #[test]
    fn text_is_truncated_at_a_character_boundary() {
        let long = "ä".repeat(MAX_BYTES);
        let text = text_of(&["a", &long, "more"]);
        assert!(text.len() <= MAX_BYTES && text.len() > MAX_BYTES - 2 && text.ends_with('ä'));
    }

    #[test]
    fn hash_is_hexadecimal() {
        assert!(hex(&hash("")).starts_with("e3b0c44298fc1c14"));
    }
}
