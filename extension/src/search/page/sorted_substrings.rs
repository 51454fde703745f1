//! The first records with a part of a text in an order that no index has, found without a statement.
//!
//! All records with the part have to be looked at. Those whose value comes behind what was found already need no comparison of
//! their texts, and no record is kept that is not among the first.

use super::access_path::{self, Look};
use super::paths::Part;
use super::substring_comparison::PartComparison;
use super::top_n::FirstItems;
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::found::Found;
use crate::postgres::key_order::KeyOrder;
use crate::postgres::places::{Place, Places};
use crate::postgres::table::Table;
use crate::postgres::value_order::ValueOrder;
use crate::search::query::sort::{Direction, Nulls};
use crate::template::Template;
use crate::value::standard_column::ID;
use pgrx::pg_sys::{Datum, Oid};
use std::cmp::Ordering;
use uuid::Uuid;

/// So many pages are looked at to see how frequent a part is.
const SAMPLED: u32 = 8;

/// What records are sorted by: the values of a column, and their ids where these are alike.
#[derive(Clone, Copy, Debug)]
pub struct Sorting {
    /// The number of the column.
    pub column: i16,
    /// So many characters of texts decide.
    pub most_characters: usize,
    /// The collation by which they do; 0 for that of the column.
    pub collation: Oid,
    /// Which values come first, and which ids.
    pub direction: Direction,
    /// The position of records without a value.
    pub nulls: Nulls,
}

/// Records with a part.
pub struct SortedParts {
    /// Where they are, in no order.
    pub places: Vec<Place>,
    /// What was seen of some records, where the index of trigrams was asked then; none where all were read.
    pub look: Option<Look>,
}

/// A record's value and id.
type Key = (Option<Datum>, Uuid);

/// The first so many live records with a part.
pub fn find(
    template: &Template,
    part: Part,
    sorting: Sorting,
    records: f64,
    wanted: usize,
) -> Result<SortedParts, Unfit> {
    Table::with(template.table, |table| {
        let mut comparison = PartComparison::of(table, part)?;
        let values = ValueOrder::of(table, sorting.column, sorting.most_characters, sorting.collation)?;
        let columns = comparison.columns().max(sorting.column);
        let look = look(table, &mut comparison, columns, records);
        let compare = |one: &Key, other: &Key| sorting.compare(&values, one, other);
        let mut first = FirstItems::new(wanted);
        // Returns the value of the last of the first.
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
            let kept = (key.0.map(|value| values.keep(value)), key.1);
            let others = first.take(kept, row.place(), compare);
            let others = others.into_iter().filter_map(|((value, _), _)| value);
            others.for_each(|value| values.give_back(value));
            first.last().and_then(|(value, _)| *value)
        };
        if look.is_some() {
            let found = table.places_by_text(part.column, part.pattern())?;
            table.rows_at(&found, columns, |row| {
                read(row);
                true
            });
        } else {
            // Behind a value there are no records without one.
            let bound = (sorting.nulls == Nulls::Last).then(|| values.bound(sorting.order())).flatten();
            table.rows(columns, bound.as_ref(), read);
        }
        Ok(SortedParts { places: first.into_items(compare), look })
    })
}

/// What some records show, if the index of trigrams finds few enough.
fn look(table: &Table, comparison: &mut PartComparison, columns: i16, records: f64) -> Option<Look> {
    let pages = table.pages();
    if pages <= 2 * SAMPLED {
        return None;
    }
    let some = Places::of_pages((0..SAMPLED).map(|number| number * (pages / SAMPLED)));
    let mut look = Look { served: vec![0], ..Look::default() };
    table.rows_at(&some, columns, |row| {
        let compared = comparison.of_record(row);
        (look.records, look.counted) = (look.records + 1, look.counted + 1);
        look.passing += u64::from(compared.is_met);
        look.served[0] += u64::from(compared.is_found);
        true
    });
    access_path::is_lookup_less_than_all(records, &look).then_some(look)
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
