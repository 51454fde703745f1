//! Export options. Pure.

use super::Field;
use crate::error::{Code, Error};
use crate::format::Format;
use crate::json;
use crate::template::Template;
use crate::value::file_format::{FileFormat, VERSION};
use crate::value::member::unknown_member;

/// The options of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format of the file.
    pub format: FileFormat,
    /// The format of CSV cells, if it is not the default.
    pub cells: Option<Format>,
    /// The delimiter of CSV.
    pub delimiter: u8,
    /// Whether rows are arrays of typed cells, for a spreadsheet, instead of CSV.
    pub is_typed: bool,
    /// Whether each record has its version. A search can request it, too.
    pub versions: bool,
}

impl Options {
    /// Parses the name of a format, or `{format?, delimiter?, is_typed?, versions?}`. An object as `format` is the cell
    /// format of CSV.
    pub fn parse(text: &str) -> Result<Options, Error> {
        let mut options = Options {
            format: FileFormat::Csv,
            cells: None,
            delimiter: b',',
            is_typed: false,
            versions: false,
        };
        if !text.starts_with('{') {
            options.format = FileFormat::parse(text)?;
            return Ok(options);
        }
        let mut delimiter = None;
        for (name, value) in json::object(text)?.0 {
            let here = format!("/{}", json::pointer_step(&name));
            match name.as_ref() {
                _ if json::is_null(value) => {}
                "format" if value.get().starts_with('{') => {
                    options.cells = Some(Format::parse(value, &here)?);
                }
                "format" => options.format = FileFormat::parse(&json::text_at(value, &here)?)?,
                "is_typed" => options.is_typed = json::boolean_at(value, &here)?,
                "versions" => options.versions = json::boolean_at(value, &here)?,
                "delimiter" => match json::text_at(value, &here)?.as_bytes() {
                    [byte] if is_delimiter(*byte) => delimiter = Some(*byte),
                    _ => {
                        let message = "a delimiter is one character that is neither letter, digit nor quote";
                        return Err(Error::at(Code::InvalidValue, here, message));
                    }
                },
                _ => return Err(unknown_member(&name, &here)),
            }
        }
        if delimiter.is_some() && options.format != FileFormat::Csv {
            return Err(Error::at(Code::InvalidValue, "/delimiter", "delimiter applies only to CSV"));
        }
        options.delimiter = delimiter.unwrap_or(options.delimiter);
        Ok(options)
    }

    /// Rejects a format in which a value of these fields is written like null, or two fields have the same column.
    pub fn check(&self, template: &Template, fields: &[Field]) -> Result<(), Error> {
        let has_columns = self.is_typed || self.format == FileFormat::Csv;
        if has_columns && fields.contains(&Field::Version) && template.position(VERSION).is_some() {
            let message =
                format!("{} has an attribute {VERSION:?}, which has the same column", template.full_name());
            return Err(Error::at(Code::InvalidValue, "/versions", message)
                .hint("Export NDJSON, or read the versions with a search."));
        }
        let Some(format) = &self.cells else { return Ok(()) };
        let refuse = |message: String| Err(Error::at(Code::InvalidValue, "/format/null", message));
        if format.null_cell().is_none() {
            return refuse("needs a string that represents no value".to_owned());
        }
        for field in fields {
            let Field::Attribute(position) = field else { continue };
            let attribute = &template.attributes[*position];
            if let Some(text) = format.hidden_value(attribute.kind) {
                return refuse(format!(
                    "{text:?} is also a value of {}, so the file would be ambiguous",
                    attribute.slug
                ));
            }
        }
        Ok(())
    }
}

fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, 0 | b'"' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::{object_of, points_into};
    use proptest::prelude::*;

    #[test]
    fn options_are_a_name_or_an_object() {
        let parse = |text: &str| Options::parse(text).expect(text);
        assert_eq!(
            parse("csv"),
            Options {
                format: FileFormat::Csv,
                cells: None,
                delimiter: b',',
                is_typed: false,
                versions: false
            }
        );
        assert_eq!(parse("ndjson"), parse(r#"{"format": "ndjson"}"#));
        let german = parse(r#"{"format": {"decimal": ","}, "delimiter": ";"}"#);
        assert_eq!((german.format, german.delimiter), (FileFormat::Csv, b';'));
        assert!(german.cells.is_some() && !german.versions);
        assert!(parse(r#"{"format": "csv", "versions": true}"#).versions);
    }

    #[test]
    fn ambiguous_format_is_rejected() {
        for (text, pointer) in [
            ("xml", "/format"),
            (r#"{"delimiter": "ab"}"#, "/delimiter"),
            (r#"{"delimiter": "a"}"#, "/delimiter"),
            (r#"{"delimiter": "\""}"#, "/delimiter"),
            (r#"{"delimiter": ";", "format": "ndjson"}"#, "/delimiter"),
            (r#"{"format": {"date": "D"}}"#, "/format/date"),
            (r#"{"bom": true}"#, "/bom"),
        ] {
            assert_eq!(Options::parse(text).expect_err(text).violations[0].pointer, pointer, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_object_is_valid_or_rejected_with_its_pointer(text in object_of(&["format", "delimiter", "is_typed", "versions"])) {
            if let Err(error) = Options::parse(&text) {
                prop_assert!(points_into(&text, &error), "{:?}", error.violations);
            }
        }
    }
}
