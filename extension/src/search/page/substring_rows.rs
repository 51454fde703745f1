//! Records with a substring in an order that an index has, found without a statement: strings are compared in memory.
//!
//! The sort index is read, restricted to the TIDs that the trigram index has found
//! ([`crate::postgres::key_order`]).

use super::access_path::{self, AccessPath, Question, Sample, choose, is_small};
use super::paths::Substring;
use super::substring_pattern::SubstringPattern;
use super::top_n::TopN;
use crate::postgres::datum;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::key_order::{Along, KeyOrder, Limit};
use crate::postgres::table::{Found, Table};
use crate::postgres::table_by_text::{Matcher, Pattern};
use crate::postgres::tid::Tid;
use crate::template::Template;
use crate::value::pattern::words;
use crate::value::standard_column::{DELETED_AT, ID};
use pgrx::pg_sys::Datum;
use uuid::Uuid;

/// This many TIDs take six megabytes. For more, a statement sorts the records without keeping their
/// TIDs in memory.
const MAX_TIDS: usize = 1_000_000;

/// The result of comparing a record.
pub struct Compared {
    /// Whether the record is live and has the substring.
    pub is_met: bool,
    /// Whether a trigram index finds the record.
    pub is_found: bool,
}

/// Compares the values of records with a substring.
pub struct SubstringComparison {
    column: i16,
    pattern: SubstringPattern,
    /// The words of the substring, which is how a trigram index matches it; empty if they are the substring
    /// itself.
    words: Vec<SubstringPattern>,
    /// Compares by the rules of the locale, if bytes are not sufficient.
    matcher: Matcher,
}

impl SubstringComparison {
    /// A comparison with a substring in a column of a table.
    pub fn of(table: &Table, substring: Substring) -> Result<SubstringComparison, Unsupported> {
        if !table.lowers_ascii(substring.column) {
            return Err(Unsupported);
        }
        let texts = words(substring.text);
        let is_exact = texts == [substring.text];
        let read = |pattern: &str| SubstringPattern::read(pattern, substring.ignores_case).ok_or(Unsupported);
        let words = texts.iter().filter(|_| !is_exact).map(|word| read(word));
        Ok(SubstringComparison {
            column: substring.column,
            pattern: read(substring.text)?,
            words: words.collect::<Result<_, Unsupported>>()?,
            matcher: Matcher::new(substring.pattern()),
        })
    }

    /// The number of columns of a row that are read.
    pub fn columns(&self) -> i16 {
        self.column.max(DELETED_AT)
    }

    /// Compares a record, of which [`Self::columns`] are read.
    pub fn of_record(&mut self, row: &Found) -> Compared {
        let Some(text) = row.get(self.column) else { return Compared { is_met: false, is_found: false } };
        let has_substring = self.is_in(text);
        let is_found = has_substring
            || !self.words.is_empty()
                && datum::with_bytes(text, |bytes| {
                    // If only the collation decides, the index may find it.
                    self.words.iter_mut().all(|word| word.matches(bytes) != Some(false))
                });
        Compared { is_met: has_substring && row.get(DELETED_AT).is_none(), is_found }
    }

    /// Whether a record is live and has the substring.
    pub fn is_met(&mut self, row: &Found) -> bool {
        row.get(DELETED_AT).is_none() && row.get(self.column).is_some_and(|text| self.is_in(text))
    }

    fn is_in(&mut self, text: Datum) -> bool {
        let matches = datum::with_bytes(text, |bytes| self.pattern.matches(bytes));
        matches.unwrap_or_else(|| self.matcher.matches(text))
    }
}

impl<'p> Substring<'p> {
    /// The pattern that the trigram index looks up.
    pub fn pattern(self) -> Pattern<'p> {
        Pattern { text: self.text, ignores_case: self.ignores_case }
    }
}

/// Records with a substring.
pub struct SubstringRows {
    /// Their TIDs, in no order.
    pub tids: Vec<Tid>,
    /// Whether these are all records, not only the first.
    pub are_all: bool,
    /// The number of records read in index order; `None` for all.
    pub read: Option<u64>,
    /// The sample, if the trigram index was used afterwards.
    pub sample: Option<Sample>,
}

/// The first live records with a substring in index order, up to the requested number, after a sample; or all of them, if
/// that costs less.
pub fn find(
    template: &Template,
    substring: Substring,
    question: Question,
    sample_size: u64,
    along: Along,
    order: KeyOrder,
) -> Result<SubstringRows, Unsupported> {
    Table::with(template.table, |table| {
        let mut comparison = SubstringComparison::of(table, substring)?;
        let columns = comparison.columns();
        let mut sample = Sample { indexable: vec![0], ..Sample::default() };
        let mut until = if is_small(question, sample_size) { u64::MAX } else { sample_size };
        let (mut tids, mut read, mut goes_on) = (Vec::new(), None, true);
        table.in_order(along, order, columns, |row| {
            if sample.records == until {
                until = match choose(question, &sample) {
                    AccessPath::OrderedScan(among) | AccessPath::Sample(among) => among.max(until + 1),
                    AccessPath::Planned => u64::MAX,
                    AccessPath::Lookup(_) => {
                        goes_on = false;
                        return false;
                    }
                };
            }
            let Compared { is_met, is_found } = comparison.of_record(row);
            (sample.records, sample.counted) = (sample.records + 1, sample.counted + 1);
            sample.passing += u64::from(is_met);
            sample.indexable[0] += u64::from(is_found);
            if is_met {
                tids.push(row.tid());
            }
            if tids.len() == question.requested {
                read = Some(sample.records);
            }
            read.is_none()
        })?;
        if goes_on {
            return Ok(SubstringRows { tids, are_all: false, read, sample: None });
        }
        let found = table.tids_by_text(substring.column, substring.pattern())?;
        let read = Some(sample.records);
        let sample = Some(sample);
        let entries = access_path::entries(question, found.count());
        if entries > 0 {
            let limit = Limit { tids: &found, entries, entries_of_row: access_path::ENTRIES_OF_ROW };
            tids.clear();
            let is_within = table.at_tids_in_order(along, order, columns, limit, |row| {
                if comparison.is_met(row) {
                    tids.push(row.tid());
                }
                tids.len() < question.requested
            })?;
            if is_within || tids.len() == question.requested {
                return Ok(SubstringRows { tids, are_all: false, read, sample });
            }
        }
        if let Along::Ids(after) = along {
            let compare = |one: &Uuid, other: &Uuid| match order {
                KeyOrder::Ascending => one.cmp(other),
                KeyOrder::Descending => other.cmp(one),
            };
            let mut first = TopN::new(question.requested);
            table.rows_at(&found, columns, |row| {
                let id = row.get(ID).map(datum::read_uuid);
                let follows = |id: &Uuid| after.is_none_or(|after| compare(id, &after).is_gt());
                if let Some(id) = id.filter(|id| follows(id) && first.may_take(id, compare))
                    && comparison.is_met(row)
                {
                    first.take(id, row.tid(), compare);
                }
                true
            });
            return Ok(SubstringRows { tids: first.into_items(compare), are_all: false, read, sample });
        }
        tids.clear();
        table.rows_at(&found, columns, |row| {
            if comparison.is_met(row) {
                tids.push(row.tid());
            }
            tids.len() < MAX_TIDS
        });
        let fit = tids.len() < MAX_TIDS;
        if fit { Ok(SubstringRows { tids, are_all: true, read, sample }) } else { Err(Unsupported) }
    })
}
