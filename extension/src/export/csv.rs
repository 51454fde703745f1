//! Records → CSV: each cell as an import reads it back.

use super::Field;
use super::record::Record;
use crate::attribute_type::AttributeType;
use crate::postgres::datum;
use crate::record::shape::{STANDARD_COLUMNS, write_uuid};
use crate::template::Template;
use crate::value::cell_format::write_text;
use crate::value::time;

/// The line that names the columns.
pub fn header(template: &Template, fields: &[Field]) -> String {
    let names: Vec<&str> = fields.iter().map(|field| field.name(template)).collect();
    // Slugs hold nothing that would have to be quoted.
    names.join(",") + "\r\n"
}

/// Appends the line of a record.
pub fn write(out: &mut String, record: &Record, fields: &[Field]) {
    let mut cell = String::new();
    for (position, field) in fields.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        cell.clear();
        write_cell(&mut cell, record, *field);
        push_cell(out, &cell);
    }
    out.push_str("\r\n");
}

fn write_cell(cell: &mut String, record: &Record, field: Field) {
    let template = record.template;
    match field {
        Field::Standard("id") => write_uuid(cell, record.column(0)),
        Field::Standard("external_key") => {
            if let Some(key) = record.column(1) {
                datum::with_text(key, |key| write_text(cell, key));
            }
        }
        Field::Standard("template_id") => cell.push_str(&template.id_text),
        Field::Standard("template_slug") => cell.push_str(&template.slug),
        Field::Standard(time) => {
            let column = match time {
                "created_at" => 2,
                "updated_at" => 3,
                _ => 4,
            };
            if let Some(at) = record.column(column) {
                time::write_datetime(cell, datum::read_i64(at));
            }
        }
        Field::Attribute(position) => write_attribute(cell, record, position),
    }
}

fn write_attribute(cell: &mut String, record: &Record, position: usize) {
    let Some(value) = record.column(STANDARD_COLUMNS + position) else { return };
    match (record.target_key(position), record.template.attributes[position].kind) {
        (Some(key), _) => datum::with_text(key, |key| write_text(cell, key)),
        (None, AttributeType::Metric) => record.write_metric(cell, position, value),
        (None, kind) => kind.write_cell(cell, value),
    }
}

/// Appends a cell, in quotes where it needs them (RFC 4180).
fn push_cell(out: &mut String, cell: &str) {
    if !cell.contains([',', '"', '\n', '\r']) && !cell.starts_with(' ') && !cell.ends_with(' ') {
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
        fn a_cell_reads_back(cells in prop::collection::vec("[a ,;\"'\n\r\té]{0,6}", 2..5)) {
            let mut line = String::new();
            for (position, cell) in cells.iter().enumerate() {
                if position > 0 {
                    line.push(',');
                }
                push_cell(&mut line, cell);
            }
            line.push_str("\r\n");
            let records = crate::import::csv::records(&line, b',', 2).expect("CSV");
            prop_assert_eq!(records.len(), 1);
            prop_assert!(records[0].iter().eq(cells.iter().map(String::as_str)), "{}", line);
        }
    }
}
