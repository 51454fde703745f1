//! The header of a CSV file → columns. All errors of a header are reported together.

use super::matching::Matching;
use super::options::Options;
use crate::error::{Code, Error};
use crate::template::Template;
use crate::value::file_format::VERSION;
use crate::value::slug::STANDARD_FIELDS;

/// The column with the error message in a file of rejected rows. A corrected file may still contain
/// it.
pub const REASON: &str = "import_error";

/// The maximum number of columns: more than a template can have attributes.
const MAX_COLUMNS: usize = 2000;

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The external key.
    Key,
    /// The id of the record, for rows without a key.
    Id,
    /// The attribute at this position of the template.
    Attribute(usize),
    /// Ignored.
    Ignored,
    /// A column without a name: its cells must be empty.
    Unnamed,
}

impl Column {
    /// Whether several columns can have this content.
    fn is_shared(self) -> bool {
        matches!(self, Column::Ignored | Column::Unnamed)
    }
}

/// Resolves the columns of a file.
pub fn resolve(
    template: &Template,
    header: &[String],
    options: &Options,
    matching: &Matching,
) -> Result<Vec<Column>, Error> {
    check_width(header.len())?;
    let mut errors = Vec::new();
    let mut columns: Vec<Column> = Vec::with_capacity(header.len());
    for (index, name) in header.iter().enumerate() {
        let column = column(template, options, index, name).unwrap_or_else(|error| {
            errors.push(error);
            Column::Ignored
        });
        let earlier = columns.iter().position(|it| *it == column && !it.is_shared());
        if let Some(earlier) = earlier {
            errors.push(violation(
                index,
                format!(
                    "column {name:?} maps to the same attribute as column {:?}: rename one of them, or map it to null",
                    header[earlier]
                ),
            ));
        }
        columns.push(column);
    }
    let named = options.mapping.iter().map(|(name, _)| name).chain(&options.key_column);
    for name in named.filter(|name| !header.contains(name)) {
        let message = format!("the file has no column {name:?}");
        errors.push(
            Error::at(Code::InvalidValue, "/header", message)
                .hint(format!("Use one of its columns: {}.", shown(header))),
        );
    }
    for position in matching.positions().filter(|it| !columns.contains(&Column::Attribute(*it))) {
        let slug = &template.attributes[position].slug;
        let message = format!("match: no column of the file is imported into {slug}");
        errors.push(
            Error::at(Code::InvalidValue, format!("/match/{slug}"), message)
                .hint(format!("Use one of its columns: {}.", shown(header))),
        );
    }
    let has_names = columns.iter().any(|it| matches!(it, Column::Key | Column::Id));
    if let Some(mode) = options.mode_that_requires_identifiers().filter(|_| !has_names) {
        let message = format!("mode={mode} requires a column of keys or ids");
        errors.push(
            Error::at(Code::InvalidValue, "/header", message)
                .hint("Name the column of the key with key_column=Column."),
        );
    }
    Error::join(errors).map_or(Ok(columns), Err)
}

/// A line of commas may have millions of columns, and each would be compared with all previous ones.
fn check_width(columns: usize) -> Result<(), Error> {
    if columns <= MAX_COLUMNS {
        return Ok(());
    }
    let message = format!("the file has {columns} columns: at most {MAX_COLUMNS} are allowed");
    Err(Error::at(Code::InvalidValue, "/header", message)
        .hint("Write the names of the columns in the first line, separated by the delimiter."))
}

fn column(template: &Template, options: &Options, index: usize, name: &str) -> Result<Column, Error> {
    if options.key_column.as_deref() == Some(name) {
        return Ok(Column::Key);
    }
    if let Some((_, target)) = options.mapping.iter().find(|(column, _)| column == name) {
        return match target.as_deref() {
            None => Ok(Column::Ignored),
            Some("external_key") => Ok(Column::Key),
            Some(slug) => {
                template.position(slug).map(Column::Attribute).ok_or_else(|| unknown(template, index, slug))
            }
        };
    }
    match name {
        "" => return Ok(Column::Unnamed),
        "external_key" => return Ok(Column::Key),
        "id" => return Ok(Column::Id),
        REASON if template.position(REASON).is_none() => return Ok(Column::Ignored),
        _ if STANDARD_FIELDS.contains(&name) => return Ok(Column::Ignored),
        _ => {}
    }
    if let Some(position) = template.position(name) {
        return Ok(Column::Attribute(position));
    }
    let labelled = |attribute: &crate::template::Attribute| attribute.label.as_deref() == Some(name);
    let mut positions = template.attributes.iter().enumerate().filter(|(_, it)| labelled(it)).map(|it| it.0);
    match (positions.next(), positions.next()) {
        (Some(position), None) => Ok(Column::Attribute(position)),
        (Some(_), Some(_)) => Err(violation(index, format!("several attributes are labelled {name:?}"))
            .hint("Name the column by the slug of the attribute.")),
        _ => Err(unknown(template, index, name)),
    }
}

fn unknown(template: &Template, index: usize, name: &str) -> Error {
    if name == VERSION {
        let message = "an import does not compare versions, so it would overwrite changes since the export";
        return violation(index, message.to_owned()).hint(
            "Map the column to null to overwrite them: mapping={\"version\":null}. Otherwise send the version as \
             if_match of an operation in POST /entities/batch.",
        );
    }
    let slugs: Vec<String> = template.attributes.iter().map(|attribute| attribute.slug.clone()).collect();
    let message = format!("{} has no attribute {name:?}", template.full_name());
    let code = Code::UnknownAttribute;
    Error::at(code, format!("/header/{index}"), message).hint(format!(
        "Use one of its attributes: {}. Map a column with mapping={{\"Column\":\"slug\"}}, or with null \
         to skip it, and name the column of the external key with key_column=Column.",
        shown(&slugs)
    ))
}

fn violation(index: usize, message: String) -> Error {
    Error::at(Code::InvalidValue, format!("/header/{index}"), message)
}

fn shown(names: &[String]) -> String {
    let more = if names.len() > 30 { ", …" } else { "" };
    names[..names.len().min(30)].join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_commas_is_not_a_header() {
        assert!(check_width(MAX_COLUMNS).is_ok());
        let error = check_width(MAX_COLUMNS + 1).expect_err("too many");
        assert_eq!((error.code, error.violations[0].pointer.as_str()), (Code::InvalidValue, "/header"));
    }
}
