//! Cell formats of other programs: numbers, dates, times, booleans, lists and empty values. Pure.
//!
//! ```text
//! JSON ──parse──▶ Format ──read──▶ canonical cell ──attribute_type──▶ value
//!                        ◀─write──
//! ```
//!
//! A format only converts between cells of a file and canonical cells, the form that keyed writes without a format. The
//! attribute type parses canonical cells with all its rules.

/// Example cells.
mod examples;
/// Numbers.
pub mod number;
/// JSON → format.
pub mod parse;
/// Patterns of dates and times.
pub mod pattern;
/// Cells of a file → canonical cells.
pub mod read;
/// Suggestions of formats for a column.
pub mod suggest;
/// Canonical cells → cells of a file.
pub mod write;

use number::NumberFormat;
use pattern::Pattern;

/// The format of cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// The format of numbers.
    pub number: Option<NumberFormat>,
    /// The pattern of dates.
    pub date: Option<Pattern>,
    /// The pattern of times.
    pub datetime: Option<Pattern>,
    /// The time zone of times without an offset.
    pub time_zone: Option<String>,
    /// The cells that mean no value.
    pub null: Option<Vec<String>>,
    /// The cells that mean true.
    pub yes: Option<Vec<String>>,
    /// The cells that mean false.
    pub no: Option<Vec<String>>,
    /// The separator of list elements.
    pub list: Option<char>,
}

impl Format {
    /// Whether it has a format of numbers.
    pub fn has_numbers(&self) -> bool {
        self.number.is_some()
    }

    /// Whether a cell means no value.
    pub fn is_null(&self, cell: &str) -> bool {
        match &self.null {
            Some(texts) => texts.iter().any(|text| text == cell),
            None => cell.is_empty(),
        }
    }

    /// The cell that is written for no value; `None` if the format has none.
    pub fn null_cell(&self) -> Option<&str> {
        match &self.null {
            Some(texts) => texts.first().map(String::as_str),
            None => Some(""),
        }
    }

    /// The text of a cell with a leading `'`, if the text without it would mean no value.
    pub fn unguarded_null<'c>(&self, cell: &'c str) -> Option<&'c str> {
        cell.strip_prefix('\'').filter(|rest| self.null.is_some() && self.is_null(rest))
    }
}

/// Joins strings for a message.
fn shown(texts: &[String]) -> String {
    texts.join(" or ")
}

#[cfg(test)]
mod tests;
