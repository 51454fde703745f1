//! Compares the texts of records with a part of a text, in memory.

use super::paths::Part;
use super::substring_pattern::TextPattern;
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::found::Found;
use crate::postgres::table::Table;
use crate::postgres::table_by_text::{Matcher, Pattern};
use crate::value::pattern::words;
use crate::value::standard_column::DELETED_AT;
use pgrx::pg_sys::Datum;

/// What a comparison tells of a record.
pub struct Compared {
    /// Whether it is live and has the part.
    pub is_met: bool,
    /// Whether an index of trigrams finds it.
    pub is_found: bool,
}

/// Compares the texts of records with a part.
pub struct PartComparison {
    column: i16,
    part: TextPattern,
    /// What an index of trigrams finds: these parts, wherever each of them stands. None where they are the same.
    found: Vec<TextPattern>,
    /// Where the language of the texts decides.
    matcher: Matcher,
}

impl PartComparison {
    /// With a part of a text in a column of a table.
    pub fn of(table: &Table, part: Part) -> Result<PartComparison, Unfit> {
        if !table.lowers_ascii(part.column) {
            return Err(Unfit);
        }
        let words = words(part.text);
        let is_exact = words == [part.text];
        let read = |pattern: &str| TextPattern::read(pattern, part.ignores_case).ok_or(Unfit);
        let found = words.iter().filter(|_| !is_exact).map(|word| read(word));
        Ok(PartComparison {
            column: part.column,
            part: read(part.text)?,
            found: found.collect::<Result<_, Unfit>>()?,
            matcher: Matcher::new(part.pattern()),
        })
    }

    /// How many columns of a row are looked at.
    pub fn columns(&self) -> i16 {
        self.column.max(DELETED_AT)
    }

    /// Compares a record, of which so many columns can be read.
    pub fn of_record(&mut self, row: &Found) -> Compared {
        let Some(text) = row.get(self.column) else { return Compared { is_met: false, is_found: false } };
        let has_part = self.is_in(text);
        let is_found = has_part
            || !self.found.is_empty()
                && datum::with_bytes(text, |bytes| {
                    // Where only the collation can tell, the index may find it.
                    self.found.iter_mut().all(|word| word.matches(bytes) != Some(false))
                });
        Compared { is_met: has_part && row.get(DELETED_AT).is_none(), is_found }
    }

    /// Whether a record is live and has the part.
    pub fn is_met(&mut self, row: &Found) -> bool {
        row.get(DELETED_AT).is_none() && row.get(self.column).is_some_and(|text| self.is_in(text))
    }

    fn is_in(&mut self, text: Datum) -> bool {
        let matches = datum::with_bytes(text, |bytes| self.part.matches(bytes));
        matches.unwrap_or_else(|| self.matcher.matches(text))
    }
}

impl<'p> Part<'p> {
    /// As the index of trigrams is asked for it.
    pub fn pattern(self) -> Pattern<'p> {
        Pattern { text: self.text, ignores_case: self.ignores_case }
    }
}
