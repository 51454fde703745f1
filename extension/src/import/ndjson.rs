//! NDJSON → rows. A line is `{external_key?, attributes, embedding?}`, or a record as in exports and responses.

use super::matching::{Matching, by_text};
use super::options::Options;
use super::{Outcome, Row};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json;
use crate::record::changes;
use crate::record::key::{Key, parse_key};
use crate::template::Template;
use crate::value::file_format::VERSION;
use crate::value::member::unknown_member;
use crate::value::slug::STANDARD_FIELDS;
use crate::value::vector::Embedding;
use uuid::Uuid;

/// The lines that are not empty, each of which is a row.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.trim_ascii().is_empty())
}

/// Parses each line as a row, or returns its error.
pub fn rows<'a>(
    template: &Template,
    options: &Options,
    matching: &Matching,
    text: &'a str,
) -> (Vec<Row<'a>>, Vec<(usize, Outcome)>) {
    let (mut rows, mut rejected) = (Vec::new(), Vec::new());
    for (index, line) in lines(text).enumerate() {
        match row(template, options, matching, index, line) {
            Ok(row) => rows.push(row),
            Err(error) => rejected.push((index, Outcome::Rejected(error))),
        }
    }
    (rows, rejected)
}

fn row<'a>(
    template: &Template,
    options: &Options,
    matching: &Matching,
    index: usize,
    line: &'a str,
) -> Result<Row<'a>, Error> {
    let mut row =
        Row { index, key: None, id: None, changes: Vec::new(), embedding: Embedding::Absent, exists: false };
    for (name, value) in json::object(line)?.0 {
        match name.as_ref() {
            "external_key" => {
                if let Key::Value(own) = parse_key(value)? {
                    row.key = Some(options.key(&own)?);
                }
            }
            "id" if json::is_null(value) => {}
            "id" => {
                let id = json::text_at(value, "/id")?;
                let id = Uuid::parse_str(&id);
                row.id = Some(id.map_err(|_| Error::at(Code::InvalidValue, "/id", "must be a record id"))?);
            }
            "attributes" => {
                row.changes = changes::parse_by(template, value, |position, value, rules| {
                    match matching.get(position) {
                        // The key is part of the error message if the line is an object.
                        Some(matched) if value.get().starts_with('"') => {
                            AttributeType::String.parse(value, rules).map(|change| by_text(change, matched))
                        }
                        _ => template.attributes[position].kind.parse(value, rules),
                    }
                })?;
            }
            "embedding" => row.embedding = Embedding::parse(value, "/embedding")?,
            "attribute_values" => {}
            name if STANDARD_FIELDS.contains(&name) => {}
            VERSION => {
                let message =
                    "an import does not compare versions, so it would overwrite changes since the export";
                return Err(Error::at(Code::UnknownField, format!("/{VERSION}"), message).hint(
                    "Export without versions to overwrite them. Otherwise send the version as if_match of an \
                     operation in POST /entities/batch.",
                ));
            }
            name => {
                let pointer = format!("/{}", json::pointer_step(name));
                return Err(unknown_member(name, &pointer)
                    .hint("Use the members external_key, attributes and embedding."));
            }
        }
    }
    Ok(row)
}
