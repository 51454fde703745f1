//! Writes records as arrays of typed cells for a spreadsheet, which an import reads back.

use super::Field;
use super::csv::Style;
use super::record::Record;
use crate::attribute_type::AttributeType;
use crate::json::write_string;
use crate::postgres::datum;
use crate::record::shape::{STANDARD_COLUMNS, write_uuid};
use crate::template::Template;
use crate::value::time;
use crate::value::zone::{Instants, instants, local};
use pgrx::pg_sys::Datum;

/// The number of digits that spreadsheets preserve.
const EXACT_DIGITS: usize = 15;

/// The first date with the same serial number in all spreadsheets, 1900-03-01, in days and microseconds since 2000-01-01.
const FIRST_DAY: i32 = -36_465;
const FIRST_TIME: i64 = FIRST_DAY as i64 * 86_400_000_000;

/// The header row.
pub fn header(template: &Template, fields: &[Field]) -> String {
    let mut line = String::from("[");
    for (position, field) in fields.iter().enumerate() {
        if position > 0 {
            line.push(',');
        }
        write_string(&mut line, field.name(template));
    }
    line + "]\n"
}

/// Appends the line of a record.
pub fn write(out: &mut String, record: &Record, fields: &[Field], style: &Style) {
    for (position, field) in fields.iter().enumerate() {
        out.push(if position == 0 { '[' } else { ',' });
        write_cell(out, record, *field, style);
    }
    out.push_str("]\n");
}

fn write_cell(out: &mut String, record: &Record, field: Field, style: &Style) {
    let mut text = String::new();
    match field {
        Field::Standard("id") => write_uuid(&mut text, record.column(0)),
        Field::Standard("external_key") => return write_text(out, record.column(1), style),
        Field::Standard("template_id") => text.push_str(&record.template.id_text),
        Field::Standard("template_slug") => text.push_str(&record.template.slug),
        Field::Standard(time) => {
            let column = match time {
                "created_at" => 2,
                "updated_at" => 3,
                _ => 4,
            };
            let Some(at) = record.column(column) else { return out.push_str("null") };
            // Imports ignore these times, so their precision does not matter.
            return write_time(out, datum::read_i64(at).div_euclid(1_000_000) * 1_000_000, style);
        }
        Field::Attribute(position) => return write_attribute(out, record, position, style),
        Field::Version => text.push_str(&record.version()),
    }
    write_string(out, &text);
}

fn write_attribute(out: &mut String, record: &Record, position: usize, style: &Style) {
    let Some(value) = record.column(STANDARD_COLUMNS + position) else { return out.push_str("null") };
    let mut text = String::new();
    match (record.target_key(position), record.template.attributes[position].kind) {
        (Some(key), _) => return write_text(out, Some(key), style),
        (None, AttributeType::String) => return write_text(out, Some(value), style),
        (None, AttributeType::DateTime) => return write_time(out, datum::read_i64(value), style),
        (None, AttributeType::Boolean) => {
            return out.push_str(if datum::read_bool(value) { "true" } else { "false" });
        }
        (None, AttributeType::Number) => {
            datum::write_numeric(&mut text, value);
            if is_exact(&text) {
                return out.push_str(&text);
            }
            let number = std::mem::take(&mut text);
            style.format.write_number(&mut text, &number);
        }
        (None, AttributeType::Date) => {
            let days = datum::read_i32(value);
            let mut date = String::new();
            time::write_date(&mut date, days);
            if days >= FIRST_DAY {
                return write_date(out, &date);
            }
            style.format.write_date(&mut text, &date);
        }
        (None, AttributeType::Metric) => record.write_metric(&mut text, position, value),
        (None, AttributeType::List) => {
            style.format.write_list(&mut text, &datum::read_text_array(value).unwrap_or_default());
        }
        (None, kind) => kind.write_cell(&mut text, value),
    }
    write_string(out, &text);
}

/// Writes a text cell. Typed text is never a formula, so only a string that would read back differently gets a leading `'`.
fn write_text(out: &mut String, text: Option<Datum>, style: &Style) {
    let Some(text) = text else { return out.push_str("null") };
    let mut cell = String::new();
    datum::with_text(text, |text| {
        let own =
            if text.is_empty() || text.starts_with('\'') { format!("'{text}") } else { text.to_owned() };
        style.format.write_text(&mut cell, &own);
    });
    write_string(out, &cell);
}

/// Writes a time as a local time of the time zone if that is exact, otherwise in RFC 3339.
fn write_time(out: &mut String, at: i64, style: &Style) {
    let shown = style.format.time_zone.as_ref().map(|_| local(&*style.zone, at));
    let shown = shown.filter(|shown| {
        at % 1000 == 0
            && *shown >= FIRST_TIME
            && time::DATETIME_RANGE.contains(shown)
            && instants(&*style.zone, *shown) == Instants::Once(at)
    });
    match shown {
        Some(shown) => write_date(out, time::datetime(shown).trim_end_matches('Z')),
        None => write_string(out, &time::datetime(at)),
    }
}

fn write_date(out: &mut String, date: &str) {
    out.push_str("{\"date\":");
    write_string(out, date);
    out.push('}');
}

/// Whether a spreadsheet preserves a number. Its numbers are doubles.
fn is_exact(number: &str) -> bool {
    if !number
        .parse::<f64>()
        .is_ok_and(|read| read.is_normal() || number.trim_matches(['-', '0', '.']).is_empty())
    {
        return false;
    }
    let digits = number.trim_start_matches('-').trim_start_matches(['0', '.']);
    let digits =
        if digits.contains('.') || number.contains('.') { digits.trim_end_matches('0') } else { digits };
    digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(u8::is_ascii_digit).count() <= EXACT_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_a_spreadsheet_would_round_is_a_text() {
        for number in ["0", "-1234.50", "999999999999999", "0.000000000000000123", "123456789012345.000"] {
            assert!(is_exact(number), "{number}");
        }
        let smallest = format!("0.{}1", "0".repeat(399));
        for number in ["1234567890123456", "10000000000000000", "1.234567890123456", "NaN", &smallest] {
            assert!(!is_exact(number), "{number}");
        }
    }

    #[test]
    fn first_day_is_1900_03_01() {
        assert_eq!(time::parse_date("1900-03-01", "").ok(), Some(FIRST_DAY));
    }
}
