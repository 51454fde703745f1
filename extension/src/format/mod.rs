//! Formats of files: how another program writes numbers, dates, times, booleans, lists and no value in its cells. Pure.
//!
//! ```text
//! JSON ──parse──▶ Format ──read──▶ the cell as keyed writes it ──attribute_type──▶ value
//!                        ◀─write──
//! ```
//!
//! A format changes the form of a cell, and nothing else: what it reads, the type of the attribute reads again, with all its rules.

/// Cells that show what formats read.
mod examples;
/// Numbers.
pub mod number;
/// JSON → format.
pub mod parse;
/// Patterns of dates and times.
pub mod pattern;
/// Cells of a format → cells of keyed.
pub mod read;
/// Which formats fit the cells of a column.
pub mod suggest;
/// Cells of keyed → cells of a format.
pub mod write;

use number::NumberFormat;
use pattern::Pattern;

/// How a file writes values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// How numbers are written.
    pub number: Option<NumberFormat>,
    /// How dates are written.
    pub date: Option<Pattern>,
    /// How times are written.
    pub datetime: Option<Pattern>,
    /// The time zone of times that name none.
    pub time_zone: Option<String>,
    /// The cells that hold no value.
    pub null: Option<Vec<String>>,
    /// The cells that mean true, and false.
    pub yes: Option<Vec<String>>,
    /// See `yes`.
    pub no: Option<Vec<String>>,
    /// What is between the elements of a list.
    pub list: Option<char>,
}

impl Format {
    /// Whether it says how numbers are written.
    pub fn has_numbers(&self) -> bool {
        self.number.is_some()
    }

    /// Whether a cell holds no value.
    pub fn is_null(&self, cell: &str) -> bool {
        match &self.null {
            Some(texts) => texts.iter().any(|text| text == cell),
            None => cell.is_empty(),
        }
    }

    /// The cell that holds no value, as it is written; none if no cell does.
    pub fn null_cell(&self) -> Option<&str> {
        match &self.null {
            Some(texts) => texts.first().map(String::as_str),
            None => Some(""),
        }
    }

    /// A text without the `'` that keeps it from being no value.
    pub fn unguarded_null<'c>(&self, cell: &'c str) -> Option<&'c str> {
        cell.strip_prefix('\'').filter(|rest| self.null.is_some() && self.is_null(rest))
    }
}

/// The texts of a list of these, for a message.
fn shown(texts: &[String]) -> String {
    texts.join(" or ")
}

#[cfg(test)]
mod tests;
