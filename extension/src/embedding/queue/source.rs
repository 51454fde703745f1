//! The text of a record that is embedded: the values of the attributes that its template names, each on a line.

use crate::attribute_type::AttributeType;
use crate::postgres::datum;
use crate::postgres::spi::Rows;
use crate::template::Template;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The maximum number of bytes of a text that are embedded. Models read far less; more would only be carried around.
const MAX_BYTES: usize = 256 << 10;

/// The columns that a text is made of: id, then the attributes that are embedded.
pub fn columns(template: &Template) -> String {
    let mut sql = "t.id".to_owned();
    for attribute in template.embedded() {
        let _ = write!(sql, ", t.\"{}\"", attribute.slug);
    }
    sql
}

/// The text of a row with [`columns`]; empty where no attribute has a value.
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

/// A hash as it travels to a worker and back.
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
    fn values_stand_on_lines_of_their_own_and_empty_ones_not_at_all() {
        assert_eq!(text_of(&["Girl", "", " \n", " oil, tempera "]), "Girl\noil, tempera");
        assert_eq!(text_of(&["", " "]), "");
    }

    #[test]
    fn a_text_is_cut_between_two_characters() {
        let long = "ä".repeat(MAX_BYTES);
        let text = text_of(&["a", &long, "more"]);
        assert!(text.len() <= MAX_BYTES && text.len() > MAX_BYTES - 2 && text.ends_with('ä'));
    }

    #[test]
    fn a_hash_is_written_in_hexadecimal() {
        assert!(hex(&hash("")).starts_with("e3b0c44298fc1c14"));
    }
}
