//! The first records with a substring in an order that no index has, found without a statement.
//!
//! All records with the substring have to be read. A record whose sort value comes after the page is not compared, and only
//! the first records are kept in memory.

use super::access_path::{self, Sample};
use super::paths::Substring;
use super::substring_rows::SubstringComparison;
use super::top_n::TopN;
use crate::postgres::datum;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::key_order::KeyOrder;
use crate::postgres::table::{Found, Table};
use crate::postgres::tid::{Tid, TidBitmap};
use crate::postgres::value_order::ValueOrder;
use crate::search::query::sort::{Direction, Nulls};
use crate::template::Template;
use crate::value::standard_column::ID;
use pgrx::pg_sys::{Datum, Oid};
use std::cmp::Ordering;
use uuid::Uuid;

/// The number of pages of the sample.
const SAMPLED: u32 = 8;

/// The sort order: the values of a column, and ids among equal values.
#[derive(Clone, Copy, Debug)]
pub struct Sorting {
    /// The number of the column.
    pub column: i16,
    /// The number of characters that are compared.
    pub max_characters: usize,
    /// The collation of the order; 0 for that of the column.
    pub collation: Oid,
    /// The direction of values, and of ids.
    pub direction: Direction,
    /// The position of records without a value.
    pub nulls: Nulls,
}

/// Records with a substring.
pub struct SortedRows {
    /// Their TIDs, in no order.
    pub tids: Vec<Tid>,
    /// The sample, if the trigram index was used afterwards; none if all records were read.
    pub sample: Option<Sample>,
}

/// A record's value and id.
type Key = (Option<Datum>, Uuid);

/// The first live records with a substring.
pub fn find(
    template: &Template,
    substring: Substring,
    sorting: Sorting,
    records: f64,
    requested: usize,
) -> Result<SortedRows, Unsupported> {
    Table::with(template.table, |table| {
        let mut comparison = SubstringComparison::of(table, substring)?;
        let values = ValueOrder::of(table, sorting.column, sorting.max_characters, sorting.collation)?;
        let columns = comparison.columns().max(sorting.column);
        let sample = take_sample(table, &mut comparison, columns, records);
        let compare = |one: &Key, other: &Key| sorting.compare(&values, one, other);
        let mut first = TopN::new(requested);
        // Returns the value of the last of the first records.
        let mut read = |row: &Found| {
            let key = (values.value(row), datum::read_uuid(row.get(ID)?));
            // The cheaper comparison first.
            let is_long = key.0.is_some_and(|value| values.is_long(value));
            if is_long && !comparison.is_met(row)
                || !first.may_take(&key, compare)
                || !is_long && !comparison.is_met(row)
            {
                return None;
            }
            let copied = (key.0.map(|value| values.copy(value)), key.1);
            let others = first.take(copied, row.tid(), compare);
            let others = others.into_iter().filter_map(|((value, _), _)| value);
            others.for_each(|value| values.free(value));
            first.last().and_then(|(value, _)| *value)
        };
        if sample.is_some() {
            let found = table.tids_by_text(substring.column, substring.pattern())?;
            table.rows_at(&found, columns, |row| {
                read(row);
                true
            });
        } else {
            // With nulls last, no record without a value precedes one with a value.
            let bound = (sorting.nulls == Nulls::Last).then(|| values.bound(sorting.order())).flatten();
            table.rows(columns, bound.as_ref(), read);
        }
        Ok(SortedRows { tids: first.into_items(compare), sample })
    })
}

/// A sample of the records, if it shows that the trigram index costs less than reading all of them.
fn take_sample(
    table: &Table,
    comparison: &mut SubstringComparison,
    columns: i16,
    records: f64,
) -> Option<Sample> {
    let pages = table.pages();
    if pages <= 2 * SAMPLED {
        return None;
    }
    let some = TidBitmap::of_pages((0..SAMPLED).map(|number| number * (pages / SAMPLED)));
    let mut sample = Sample { indexable: vec![0], ..Sample::default() };
    table.rows_at(&some, columns, |row| {
        let compared = comparison.of_record(row);
        (sample.records, sample.counted) = (sample.records + 1, sample.counted + 1);
        sample.passing += u64::from(compared.is_met);
        sample.indexable[0] += u64::from(compared.is_found);
        true
    });
    access_path::is_lookup_less_than_all(records, &sample).then_some(sample)
}

impl Sorting {
    fn compare(self, values: &ValueOrder, one: &Key, other: &Key) -> Ordering {
        let by_value = match (one.0, other.0) {
            (Some(one), Some(other)) => self.directed(values.compare(one, other)),
            (None, None) => Ordering::Equal,
            (None, Some(_)) if self.nulls == Nulls::First => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) if self.nulls == Nulls::First => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
        };
        by_value.then_with(|| self.directed(one.1.cmp(&other.1)))
    }

    fn order(self) -> KeyOrder {
        match self.direction {
            Direction::Ascending => KeyOrder::Ascending,
            Direction::Descending => KeyOrder::Descending,
        }
    }

    fn directed(self, order: Ordering) -> Ordering {
        if self.direction == Direction::Descending { order.reverse() } else { order }
    }
}
