//! Constants of conditions: values that SQL compares with columns.

use crate::value::quote::literal;
use crate::value::time;
use uuid::Uuid;

/// A constant of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `text`.
    Text(String),
    /// A value of another type in text form, and the type.
    Typed(String, &'static str),
    /// `timestamptz`: the start of this day, in days since 2000-01-01, in the time zone of the request.
    Midnight(i32),
}

/// The last microsecond of a day.
pub const LAST_MICROSECOND: &str = "23:59:59.999999";

/// The start of the next day: one microsecond after the last one of a day. Midnight itself can be repeated or skipped if
/// clocks change at midnight. The last microsecond always exists, and PostgreSQL chooses the later one if it is repeated.
pub fn midnight_after(last_microsecond: &str, time_zone: &str) -> String {
    format!("({last_microsecond} at time zone {time_zone} + '0.000001 s'::interval)")
}

impl Constant {
    /// A `date`: days since 2000-01-01.
    pub fn date(days: i32) -> Constant {
        let mut text = String::new();
        time::write_date(&mut text, days);
        Constant::Typed(text, "date")
    }

    /// A `timestamptz`: microseconds since 2000-01-01T00:00:00Z.
    pub fn instant(at: i64) -> Constant {
        let mut text = String::new();
        time::write_datetime(&mut text, at);
        Constant::Typed(text, "timestamptz")
    }

    /// A `uuid`.
    pub fn id(id: Uuid) -> Constant {
        Constant::Typed(id.hyphenated().to_string(), "uuid")
    }

    /// The first characters of a string.
    pub fn beginning(&self, characters: usize) -> Constant {
        match self {
            Constant::Text(text) => Constant::Text(text.chars().take(characters).collect()),
            other => other.clone(),
        }
    }

    /// A literal without a type, or an expression for a time that PostgreSQL computes. `time_zone` is an SQL literal.
    pub fn untyped(&self, time_zone: &str) -> String {
        match self {
            Constant::Text(text) | Constant::Typed(text, _) => literal(text),
            Constant::Midnight(days) => {
                let mut text = String::new();
                time::write_date(&mut text, *days - 1);
                let last_microsecond = match *days == *time::DATE_RANGE.start() {
                    // There is no year 0.
                    true => format!("'0001-12-31 {LAST_MICROSECOND} BC'::timestamp"),
                    false => format!("'{text} {LAST_MICROSECOND}'::timestamp"),
                };
                midnight_after(&last_microsecond, time_zone)
            }
        }
    }

    /// An expression with an explicit type.
    pub fn typed(&self, time_zone: &str) -> String {
        let sql = self.untyped(time_zone);
        match self {
            Constant::Text(_) | Constant::Midnight(_) => sql,
            Constant::Typed(_, sql_type) => format!("{sql}::{sql_type}"),
        }
    }
}
