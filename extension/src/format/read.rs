//! Cells of a format → cells as keyed writes them, which the types of attributes read.

use super::pattern::{Fields, Pattern};
use super::{Format, shown};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::value::cell_format::{unguarded, write_text};
use crate::value::time;
use crate::value::zone::{Instants, Zone, instants};
use std::borrow::Cow;

/// The day 2000-02-01 at 13:45, in examples.
const EXAMPLE: Fields =
    Fields { year: 2024, month: 2, day: 29, hour: 13, minute: 45, second: 0, microsecond: 0 };

/// How many texts for no value a hint shows.
const SHOWN: usize = 5;

impl Format {
    /// The same cell as keyed writes it, or what would fit.
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
            // The empty text is a text, and no other value.
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
            self.null.iter().flatten().take(SHOWN).map(|text| format!("{text:?}")).collect();
        let error = Error::at(Code::InvalidValue, pointer, "the cell is empty");
        match texts.as_slice() {
            [] => error.hint("The format has no text for cells without a value."),
            texts => error.hint(format!("A cell without a value has {}.", shown(texts))),
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
        let fields = pattern.read(cell).ok_or_else(|| unlike("a date", cell, pattern, pointer))?;
        let date = date_text(fields);
        match time::parse_date(&date, pointer) {
            Ok(_) => Ok(Cow::Owned(date)),
            Err(_) => Err(absent("day", cell, pattern, pointer)),
        }
    }

    /// A time in the pattern of the file, or RFC 3339 with an offset: no pattern has an offset, so the two differ.
    fn datetime<'c>(&self, cell: &'c str, zone: &dyn Zone, pointer: &str) -> Result<Cow<'c, str>, Error> {
        let Some(pattern) = &self.datetime else { return Ok(Cow::Borrowed(cell)) };
        let Some(fields) = pattern.read(cell) else {
            let is_rfc = time::parse_datetime(cell, pointer).is_ok();
            return if is_rfc {
                Ok(Cow::Borrowed(cell))
            } else {
                Err(unlike("a time", cell, pattern, pointer))
            };
        };
        let local = local_of(fields).ok_or_else(|| absent("time", cell, pattern, pointer))?;
        self.instant(local, cell, zone, pointer).map(Cow::Owned)
    }

    /// A local time of the zone in RFC 3339, if it comes once; `cell` is how it was written.
    pub fn instant(&self, local: i64, cell: &str, zone: &dyn Zone, pointer: &str) -> Result<String, Error> {
        let name = self.time_zone.as_deref().unwrap_or("UTC");
        let refuse =
            |message: String, hint: String| Err(Error::at(Code::InvalidValue, pointer, message).hint(hint));
        match instants(zone, local) {
            Instants::Once(at) if time::DATETIME_RANGE.contains(&at) => Ok(time::datetime(at)),
            Instants::Once(_) => {
                let message = format!("{cell:?} is in UTC not a time of the years 0001 to 9999");
                Err(Error::at(Code::InvalidValue, pointer, message))
            }
            Instants::Never => refuse(
                format!("there is no time {cell:?} in {name}: the clock is set forward over it"),
                "Write another time, or one in RFC 3339 with its offset.".to_owned(),
            ),
            Instants::Twice(first, second) => {
                let (first, second) = (time::datetime(first), time::datetime(second));
                refuse(
                    format!("the time {cell:?} comes twice in {name}: the clock is set back"),
                    format!("Write {first} for the first, {second} for the second."),
                )
            }
        }
    }

    /// A list as JSON, so that no element is taken apart again.
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

    /// A text, or the key of a reference.
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

/// A local time in microseconds since 2000-01-01, if there is such a day and time.
pub(super) fn local_of(fields: Fields) -> Option<i64> {
    if fields.hour > 23 || fields.minute > 59 || fields.second > 59 {
        return None;
    }
    let Fields { hour, minute, second, microsecond, .. } = fields;
    let text = format!("{}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}Z", date_text(fields));
    time::parse_datetime(&text, "").ok()
}

/// The example of a pattern.
fn example(pattern: &Pattern) -> String {
    let mut example = String::new();
    pattern.write(&mut example, EXAMPLE);
    example
}

fn unlike(what: &str, cell: &str, pattern: &Pattern, pointer: &str) -> Error {
    let message = format!("{cell:?} is not {what} of the form {}", pattern.text());
    Error::at(Code::InvalidValue, pointer, message).hint(format!("Write for example {}.", example(pattern)))
}

fn absent(what: &str, cell: &str, pattern: &Pattern, pointer: &str) -> Error {
    let message = format!("there is no {what} {cell:?} ({})", pattern.text());
    Error::at(Code::InvalidValue, pointer, message).hint(format!("Write for example {}.", example(pattern)))
}
