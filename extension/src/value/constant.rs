//! Values that SQL compares columns with.

use crate::value::quote::literal;
use crate::value::time;
use uuid::Uuid;

/// A value that SQL can compare a column with.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `text`.
    Text(String),
    /// Of another type: as PostgreSQL reads it, and the type.
    Typed(String, &'static str),
    /// `timestamptz`: when this day, in days since 2000-01-01, begins in the time zone of the request.
    Midnight(i32),
}

/// The last microsecond of a day, as PostgreSQL counts.
pub const LAST_MOMENT: &str = "23:59:59.999999";

/// When the day after begins: one microsecond behind the last one of a day. Midnight itself would not do, since where
/// clocks are moved at midnight it comes twice or not at all; the moment before it is there, and the later of two is
/// the one before the new day.
pub fn midnight_after(last_moment: &str, time_zone: &str) -> String {
    format!("({last_moment} at time zone {time_zone} + '0.000001 s'::interval)")
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

    /// What a text begins with.
    pub fn beginning(&self, characters: usize) -> Constant {
        match self {
            Constant::Text(text) => Constant::Text(text.chars().take(characters).collect()),
            other => other.clone(),
        }
    }

    /// As a quoted literal whose type the context decides, except for a time that PostgreSQL has to work out;
    /// `time_zone` is a literal already.
    pub fn untyped(&self, time_zone: &str) -> String {
        match self {
            Constant::Text(text) | Constant::Typed(text, _) => literal(text),
            Constant::Midnight(days) => {
                let mut text = String::new();
                time::write_date(&mut text, *days - 1);
                let last_moment = match *days == *time::DATE_RANGE.start() {
                    // There is no year 0.
                    true => format!("'0001-12-31 {LAST_MOMENT} BC'::timestamp"),
                    false => format!("'{text} {LAST_MOMENT}'::timestamp"),
                };
                midnight_after(&last_moment, time_zone)
            }
        }
    }

    /// As an expression of its own type.
    pub fn typed(&self, time_zone: &str) -> String {
        let sql = self.untyped(time_zone);
        match self {
            Constant::Text(_) | Constant::Midnight(_) => sql,
            Constant::Typed(_, sql_type) => format!("{sql}::{sql_type}"),
        }
    }
}
