//! Converts canonical cells to cells of a file.

use super::Format;
use super::pattern::Fields;
use super::read::local_of;
use crate::attribute_type::{AttributeType, Rules};
use crate::value::file_format::{SEPARATOR, write_list};
use crate::value::time;
use crate::value::zone::{Instants, Utc, Zone, instants, local};

impl Format {
    /// Appends the cell for no value.
    pub fn write_null(&self, out: &mut String) {
        out.push_str(self.null_cell().unwrap_or_default());
    }

    /// Appends the canonical cell of a string or of a reference's key.
    pub fn write_text(&self, out: &mut String, cell: &str) {
        if self.null.is_some() && self.is_null(cell) {
            out.push('\'');
        }
        out.push_str(cell);
    }

    /// Appends a list.
    pub fn write_list(&self, out: &mut String, list: &[String]) {
        let mut cell = String::new();
        write_list(&mut cell, list, self.list.unwrap_or(SEPARATOR));
        self.write_text(out, &cell);
    }

    /// Appends the canonical cell of a number or a metric.
    pub fn write_number(&self, out: &mut String, cell: &str) {
        match self.number {
            // Points of a metric are JSON.
            Some(number) if !cell.starts_with(['{', '[']) => number.write(out, cell),
            _ => out.push_str(cell),
        }
    }

    /// Appends true or false.
    pub fn write_boolean(&self, out: &mut String, value: bool) {
        out.push_str(&self.words(value)[0]);
    }

    /// Appends the canonical cell of a date.
    pub fn write_date(&self, out: &mut String, cell: &str) {
        match (&self.date, fields_of(cell, "")) {
            (Some(pattern), Some(fields)) => pattern.write(out, fields),
            _ => out.push_str(cell),
        }
    }

    /// Appends a time, in microseconds since 2000-01-01T00:00:00Z. If the pattern cannot represent it exactly, for example in a
    /// repeated hour, it is written in RFC 3339, which reads back.
    pub fn write_datetime(&self, out: &mut String, at: i64, zone: &dyn Zone) {
        let Some(pattern) = &self.datetime else { return time::write_datetime(out, at) };
        let text = time::datetime(local(zone, at));
        let (date, clock) = text.split_once('T').unwrap_or((&text, ""));
        let begin = out.len();
        if let Some(fields) = fields_of(date, clock) {
            pattern.write(out, fields);
            let shown = pattern.read(&out[begin..]).and_then(local_of);
            if shown.is_some_and(|local| instants(zone, local) == Instants::Once(at)) {
                return;
            }
        }
        out.truncate(begin);
        time::write_datetime(out, at);
    }

    /// A null text that is also a valid value of this type, which would be read as no value.
    pub fn hidden_value(&self, kind: AttributeType) -> Option<&str> {
        if matches!(kind, AttributeType::String | AttributeType::Reference | AttributeType::List) {
            return None;
        }
        let without = Format { null: None, ..self.clone() };
        let is_value = |text: &&String| {
            let cell = without.read(kind, text, &Utc, "");
            !text.is_empty() && cell.is_ok_and(|cell| kind.parse_cell(&cell, &Rules::default()).is_ok())
        };
        self.null.iter().flatten().find(is_value).map(String::as_str)
    }
}

/// The parts of `YYYY-MM-DD` and `hh:mm:ss[.ffffff]Z`.
fn fields_of(date: &str, clock: &str) -> Option<Fields> {
    let mut parts = date.split('-').map(|part| part.parse().ok());
    let mut next = || parts.next().flatten();
    let mut fields = Fields { year: next()?, month: next()?, day: next()?, ..Fields::default() };
    if clock.is_empty() {
        return Some(fields);
    }
    let (clock, fraction) =
        clock.trim_end_matches('Z').split_once('.').unwrap_or((clock.trim_end_matches('Z'), ""));
    let mut parts = clock.split(':').map(|part| part.parse().ok());
    let mut next = || parts.next().flatten();
    (fields.hour, fields.minute, fields.second) = (next()?, next()?, next()?);
    fields.microsecond = format!("{fraction:0<6}").parse().ok()?;
    Some(fields)
}
