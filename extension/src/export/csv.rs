//! Writes records as CSV that an import reads back.

use super::Field;
use super::options::Options;
use super::record::Record;
use crate::attribute_type::AttributeType;
use crate::error::Error;
use crate::format::Format;
use crate::import::cells::zone_of;
use crate::postgres::datum;
use crate::record::shape::{STANDARD_COLUMNS, write_uuid};
use crate::template::Template;
use crate::value::file_format::write_text;
use crate::value::zone::Zone;
use pgrx::pg_sys::Datum;

/// The style of cells.
pub struct Style {
    /// The delimiter.
    delimiter: char,
    pub(super) format: Format,
    pub(super) zone: Box<dyn Zone>,
}

impl Style {
    /// The style for export options.
    pub fn new(options: &Options) -> Result<Style, Error> {
        let zone = zone_of(options.cells.as_ref())?;
        let format = options.cells.clone().unwrap_or_default();
        Ok(Style { delimiter: options.delimiter.into(), format, zone })
    }
}

/// The header line.
pub fn header(template: &Template, fields: &[Field], style: &Style) -> String {
    let names: Vec<&str> = fields.iter().map(|field| field.name(template)).collect();
    // Slugs need quotes only if the delimiter is an underscore.
    let mut line = String::new();
    for (position, name) in names.into_iter().enumerate() {
        if position > 0 {
            line.push(style.delimiter);
        }
        push_cell(&mut line, name, style.delimiter);
    }
    line + "\r\n"
}

/// Appends the line of a record.
pub fn write(out: &mut String, record: &Record, fields: &[Field], style: &Style) {
    let mut cell = String::new();
    for (position, field) in fields.iter().enumerate() {
        if position > 0 {
            out.push(style.delimiter);
        }
        cell.clear();
        if !write_cell(&mut cell, record, *field, style) {
            style.format.write_null(&mut cell);
        }
        push_cell(out, &cell, style.delimiter);
    }
    out.push_str("\r\n");
}

/// Writes a value; returns false if there is none.
fn write_cell(cell: &mut String, record: &Record, field: Field, style: &Style) -> bool {
    let template = record.template;
    match field {
        Field::Standard("id") => write_uuid(cell, record.column(0)),
        Field::Standard("external_key") => {
            let Some(key) = record.column(1) else { return false };
            write_guarded(cell, key, style);
        }
        Field::Standard("template_id") => cell.push_str(&template.id_text),
        Field::Standard("template_slug") => cell.push_str(&template.slug),
        Field::Standard(time) => {
            let column = match time {
                "created_at" => 2,
                "updated_at" => 3,
                _ => 4,
            };
            let Some(at) = record.column(column) else { return false };
            style.format.write_datetime(cell, datum::read_i64(at), &*style.zone);
        }
        Field::Attribute(position) => return write_attribute(cell, record, position, style),
        Field::Version => cell.push_str(&record.version()),
    }
    true
}

/// Appends a string as a cell.
fn write_guarded(cell: &mut String, text: Datum, style: &Style) {
    let mut own = String::new();
    datum::with_text(text, |text| write_text(&mut own, text));
    style.format.write_text(cell, &own);
}

fn write_attribute(cell: &mut String, record: &Record, position: usize, style: &Style) -> bool {
    let Some(value) = record.column(STANDARD_COLUMNS + position) else { return false };
    let format = &style.format;
    let mut own = String::new();
    match (record.target_key(position), record.template.attributes[position].kind) {
        (Some(key), _) => write_guarded(cell, key, style),
        (None, AttributeType::String) => write_guarded(cell, value, style),
        (None, AttributeType::Metric) => {
            record.write_metric(&mut own, position, value);
            format.write_number(cell, &own);
        }
        (None, AttributeType::DateTime) => format.write_datetime(cell, datum::read_i64(value), &*style.zone),
        (None, AttributeType::Boolean) => format.write_boolean(cell, datum::read_bool(value)),
        (None, AttributeType::List) => {
            format.write_list(cell, &datum::read_text_array(value).unwrap_or_default());
        }
        (None, kind) => {
            kind.write_cell(&mut own, value);
            match kind {
                AttributeType::Number => format.write_number(cell, &own),
                AttributeType::Date => format.write_date(cell, &own),
                _ => cell.push_str(&own),
            }
        }
    }
    true
}

/// Appends a cell, with quotes if necessary (RFC 4180).
fn push_cell(out: &mut String, cell: &str, delimiter: char) {
    if !cell.contains([delimiter, '"', '\n', '\r']) && !cell.starts_with(' ') && !cell.ends_with(' ') {
        out.push_str(cell);
        return;
    }
    out.push('"');
    for (position, part) in cell.split('"').enumerate() {
        if position > 0 {
            out.push_str("\"\"");
        }
        out.push_str(part);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cell_round_trips(
            cells in prop::collection::vec("[a ,;\"'\n\r\té]{0,6}", 2..5),
            delimiter in prop::sample::select(vec![',', ';', '\t']),
        ) {
            let mut line = String::new();
            for (position, cell) in cells.iter().enumerate() {
                if position > 0 {
                    line.push(delimiter);
                }
                push_cell(&mut line, cell, delimiter);
            }
            line.push_str("\r\n");
            let records = crate::import::csv::records(&line, delimiter as u8, 2).expect("CSV");
            prop_assert_eq!(records.len(), 1);
            prop_assert!(records[0].iter().eq(cells.iter().map(String::as_str)), "{}", line);
        }
    }
}
