//! Export of search results as CSV or NDJSON, which an import reads back.
//!
//! Within one transaction and one snapshot, `keyed_http.export_open` opens a cursor and `keyed_http.export_next` returns one
//! chunk after another.

/// Writes CSV.
pub mod csv;
/// The SQL functions.
pub mod functions;
/// Writes NDJSON.
pub mod ndjson;
/// Export options.
pub mod options;
/// Exported records.
pub mod record;
/// Cursors of exports.
pub mod run;
/// Writes typed rows for spreadsheets.
pub mod typed;

use crate::template::Template;
use crate::value::file_format::VERSION;
use crate::value::slug::STANDARD_FIELDS;

/// A field of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The standard field of this name.
    Standard(&'static str),
    /// The attribute at this position of the template.
    Attribute(usize),
    /// The version.
    Version,
}

impl Field {
    /// The fields of an export: the requested ones after the key or id that an import needs; by default all fields of
    /// one template.
    pub fn of_export(template: &Template, requested: Option<&[String]>) -> Vec<Field> {
        let mut fields = vec![Field::Standard("id"), Field::Standard("external_key")];
        let Some(requested) = requested else {
            fields.extend((0..template.attributes.len()).map(Field::Attribute));
            fields.extend(["created_at", "updated_at"].map(Field::Standard));
            return fields;
        };
        for name in requested {
            let standard = STANDARD_FIELDS.into_iter().find(|field| field == name).map(Field::Standard);
            let field = standard.or_else(|| template.position(name).map(Field::Attribute));
            fields.extend(field.filter(|field| !fields.contains(field)));
        }
        fields
    }

    /// Its name.
    pub fn name<'t>(&self, template: &'t Template) -> &'t str {
        match self {
            Field::Standard(name) => name,
            Field::Attribute(position) => &template.attributes[*position].slug,
            Field::Version => VERSION,
        }
    }
}
