//! Converts cells of a file to canonical cells, which attribute types parse.

use super::pattern::{Fields, Pattern};
use super::{Format, shown};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::value::file_format::{unguarded, write_text};
use crate::value::time;
use crate::value::zone::{Instants, Zone, instants};
use std::borrow::Cow;

/// The time in examples: 2024-02-29 13:45.
const EXAMPLE: Fields =
    Fields { year: 2024, month: 2, day: 29, hour: 13, minute: 45, second: 0, microsecond: 0 };

/// The maximum number of null strings in a hint.
const MAX_LISTED: usize = 5;

impl Format {
    /// Converts a cell to its canonical form. The error names valid forms.
    pub fn read<'c>(
        &self,
        kind: AttributeType,
        cell: &'c str,
        zone: &dyn Zone,
        pointer: &str,
    ) -> Result<Cow<'c, str>, Error> {
        if self.is_null(cell) {
            return Ok(Cow::Borrowed(""));
        }
        if cell.is_empty() {
            // If the empty cell is not null, it is the empty text.
            return if kind == AttributeType::String {
                Ok(Cow::Borrowed("'"))
            } else {
                Err(self.empty(pointer))
            };
        }
        match kind {
            AttributeType::Number => self.number(cell, pointer),
            AttributeType::Metric if !cell.starts_with(['{', '[']) => self.number(cell, pointer),
            AttributeType::Metric => Ok(Cow::Borrowed(cell)),
            AttributeType::Boolean => self.boolean(cell, pointer),
            AttributeType::Date => self.date(cell, pointer),
            AttributeType::DateTime => self.datetime(cell, zone, pointer),
            AttributeType::List => self.list(cell, pointer),
            AttributeType::String | AttributeType::Reference => Ok(self.text(cell)),
        }
    }

    fn empty(&self, pointer: &str) -> Error {
        let texts: Vec<String> =
            self.null.iter().flatten().take(MAX_LISTED).map(|text| format!("{text:?}")).collect();
        let error = Error::at(Code::InvalidValue, pointer, "the cell is empty");
        match texts.as_slice() {
            [] => error.hint("Fill the cell, or add \"\" to null in the format."),
            texts => error.hint(format!("Write {} in a cell without a value.", shown(texts))),
        }
    }

    fn number<'c>(&self, cell: &'c str, pointer: &str) -> Result<Cow<'c, str>, Error> {
        let Some(number) = self.number else { return Ok(Cow::Borrowed(cell)) };
        number.read(cell).map(Cow::Owned).ok_or_else(|| {
            let message = format!("{cell:?} is not a number in the format of the file");
            let mut fits = number.example();
            if number.thousands.is_some() {
                let plain = super::number::NumberFormat { thousands: None, ..number };
                fits = format!("{} or {fits}", plain.example());
            }
            Error::at(Code::InvalidValue, pointer, message).hint(format!("Write {fits}."))
        })
    }

    fn boolean<'c>(&self, cell: &'c str, pointer: &str) -> Result<Cow<'c, str>, Error> {
        if self.yes.is_none() && self.no.is_none() {
            return Ok(Cow::Borrowed(cell));
        }
        if self.means(true, cell) {
            return Ok(Cow::Borrowed("true"));
        }
        if self.means(false, cell) {
            return Ok(Cow::Borrowed("false"));
        }
        let message = format!("{cell:?} is neither true nor false in the format of the file");
        let hint =
            format!("Write {} for true, {} for false.", shown(&self.words(true)), shown(&self.words(false)));
        Err(Error::at(Code::InvalidValue, pointer, message).hint(hint))
    }

    fn date<'c>(&self, cell: &'c str, pointer: &str) -> Result<Cow<'c, str>, Error> {
        let Some(pattern) = &self.date else { return Ok(Cow::Borrowed(cell)) };
        let fields = pattern.read(cell).ok_or_else(|| mismatch("a date", cell, pattern, pointer))?;
        let date = date_text(fields);
        match time::parse_date(&date, pointer) {
            Ok(_) => Ok(Cow::Owned(date)),
            Err(_) => Err(nonexistent("day", cell, pattern, pointer)),
        }
    }

    /// Converts a time in the pattern of the file, or in RFC 3339. Patterns have no offset, so the two cannot be confused.
    fn datetime<'c>(&self, cell: &'c str, zone: &dyn Zone, pointer: &str) -> Result<Cow<'c, str>, Error> {
        let Some(pattern) = &self.datetime else { return Ok(Cow::Borrowed(cell)) };
        let Some(fields) = pattern.read(cell) else {
            let is_rfc = time::parse_datetime(cell, pointer).is_ok();
            return if is_rfc {
                Ok(Cow::Borrowed(cell))
            } else {
                Err(mismatch("a time", cell, pattern, pointer))
            };
        };
        let local = local_of(fields).ok_or_else(|| nonexistent("time", cell, pattern, pointer))?;
        self.instant(local, cell, zone, pointer).map(Cow::Owned)
    }

    /// Converts a local time of the time zone to RFC 3339, if it is unambiguous. `cell` is for the error message.
    pub fn instant(&self, local: i64, cell: &str, zone: &dyn Zone, pointer: &str) -> Result<String, Error> {
        let name = self.time_zone.as_deref().unwrap_or("UTC");
        let refuse =
            |message: String, hint: String| Err(Error::at(Code::InvalidValue, pointer, message).hint(hint));
        match instants(zone, local) {
            Instants::Once(at) if time::DATETIME_RANGE.contains(&at) => Ok(time::datetime(at)),
            Instants::Once(_) => {
                let message = format!("{cell:?} in UTC is outside the years 0001 to 9999");
                Err(Error::at(Code::InvalidValue, pointer, message))
            }
            Instants::Never => refuse(
                format!("the time {cell:?} does not exist in {name}: the clock is set forward"),
                "Write another time, or one in RFC 3339 with its offset.".to_owned(),
            ),
            Instants::Twice(first, second) => {
                let (first, second) = (time::datetime(first), time::datetime(second));
                refuse(
                    format!("the time {cell:?} is ambiguous in {name}: the clock is set back"),
                    format!("Write {first} for the first, {second} for the second."),
                )
            }
        }
    }

    /// Converts a list to JSON, so that its elements are not split again.
    fn list<'c>(&self, cell: &'c str, pointer: &str) -> Result<Cow<'c, str>, Error> {
        let inner = self.unguarded_null(cell).unwrap_or(unguarded(cell));
        let Some(separator) = self.list.filter(|_| !inner.starts_with('[')) else {
            return Ok(self.text(cell));
        };
        let mut list = String::from("[");
        for (position, element) in inner.split(separator).map(|it| it.trim_matches(' ')).enumerate() {
            if element.is_empty() {
                return Err(Error::at(Code::InvalidValue, pointer, "contains an empty element")
                    .hint(format!("Write a{separator}b, or an array in JSON: [\"a\",\"\"].")));
            }
            if position > 0 {
                list.push(',');
            }
            write_string(&mut list, element);
        }
        list.push(']');
        Ok(Cow::Owned(list))
    }

    /// Converts a string, or the key of a reference.
    fn text<'c>(&self, cell: &'c str) -> Cow<'c, str> {
        let Some(rest) = self.unguarded_null(cell) else { return Cow::Borrowed(cell) };
        let mut text = String::new();
        write_text(&mut text, rest);
        Cow::Owned(text)
    }
}

/// `YYYY-MM-DD`.
pub(super) fn date_text(fields: Fields) -> String {
    format!("{:04}-{:02}-{:02}", fields.year, fields.month, fields.day)
}

/// A local time in microseconds since 2000-01-01; `None` if it is invalid.
pub(super) fn local_of(fields: Fields) -> Option<i64> {
    if fields.hour > 23 || fields.minute > 59 || fields.second > 59 {
        return None;
    }
    let Fields { hour, minute, second, microsecond, .. } = fields;
    let text = format!("{}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}Z", date_text(fields));
    time::parse_datetime(&text, "").ok()
}

/// An example for a pattern.
fn example(pattern: &Pattern) -> String {
    let mut example = String::new();
    pattern.write(&mut example, EXAMPLE);
    example
}

fn mismatch(what: &str, cell: &str, pattern: &Pattern, pointer: &str) -> Error {
    let message = format!("{cell:?} is not {what} of the form {}", pattern.text());
    Error::at(Code::InvalidValue, pointer, message)
        .hint(format!("Write a value such as {}.", example(pattern)))
}

fn nonexistent(what: &str, cell: &str, pattern: &Pattern, pointer: &str) -> Error {
    let message = format!("there is no {what} {cell:?} ({})", pattern.text());
    Error::at(Code::InvalidValue, pointer, message)
        .hint(format!("Write a value such as {}.", example(pattern)))
}
