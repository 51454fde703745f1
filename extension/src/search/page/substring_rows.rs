//! Records by a part of a text, found without a statement: texts are compared in memory.
//!
//! The index of the order is read among the TIDs that the trigram index has found ([`crate::postgres::key_order`]).

use super::access_path::{self, AccessPath, Look, Question, choose, is_small};
use super::paths::Part;
use super::substring_comparison::{Compared, PartComparison};
use super::top_n::FirstItems;
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::key_order::{Along, KeyOrder, Limit};
use crate::postgres::places::Place;
use crate::postgres::table::Table;
use crate::template::Template;
use crate::value::standard_column::ID;
use uuid::Uuid;

/// So many places take six megabytes. A statement sorts more without keeping them.
const MOST_PLACES: usize = 1_000_000;

/// Records with a part.
pub struct PartRows {
    /// Where they are, in no order.
    pub places: Vec<Place>,
    /// Whether these are all, and not only the first.
    pub are_all: bool,
    /// How many records were read in their order; none for all.
    pub read: Option<u64>,
    /// What was seen of them, where the index was asked then.
    pub look: Option<Look>,
}

/// The first live records with a part along an index, as many as the question wants, after a number of them was looked at; or all,
/// where that is less work.
pub fn find(
    template: &Template,
    part: Part,
    question: Question,
    looked_at: u64,
    along: Along,
    order: KeyOrder,
) -> Result<PartRows, Unfit> {
    Table::with(template.table, |table| {
        let mut comparison = PartComparison::of(table, part)?;
        let columns = comparison.columns();
        let mut look = Look { served: vec![0], ..Look::default() };
        let mut until = if is_small(question, looked_at) { u64::MAX } else { looked_at };
        let (mut places, mut read, mut goes_on) = (Vec::new(), None, true);
        table.in_order(along, order, columns, |row| {
            if look.records == until {
                until = match choose(question, &look) {
                    AccessPath::Walk(among) | AccessPath::Look(among) => among.max(until + 1),
                    AccessPath::Planned => u64::MAX,
                    AccessPath::Lookup(_) => {
                        goes_on = false;
                        return false;
                    }
                };
            }
            let Compared { is_met, is_found } = comparison.of_record(row);
            (look.records, look.counted) = (look.records + 1, look.counted + 1);
            look.passing += u64::from(is_met);
            look.served[0] += u64::from(is_found);
            if is_met {
                places.push(row.place());
            }
            if places.len() == question.wanted {
                read = Some(look.records);
            }
            read.is_none()
        })?;
        if goes_on {
            return Ok(PartRows { places, are_all: false, read, look: None });
        }
        let found = table.places_by_text(part.column, part.pattern())?;
        let read = Some(look.records);
        let look = Some(look);
        let entries = access_path::entries(question, found.count());
        if entries > 0 {
            let limit = Limit { places: &found, entries, entries_of_row: access_path::ENTRIES_OF_ROW };
            places.clear();
            let is_within = table.at_places_in_order(along, order, columns, limit, |row| {
                if comparison.is_met(row) {
                    places.push(row.place());
                }
                places.len() < question.wanted
            })?;
            if is_within || places.len() == question.wanted {
                return Ok(PartRows { places, are_all: false, read, look });
            }
        }
        if let Along::Ids(after) = along {
            let compare = |one: &Uuid, other: &Uuid| match order {
                KeyOrder::Ascending => one.cmp(other),
                KeyOrder::Descending => other.cmp(one),
            };
            let mut first = FirstItems::new(question.wanted);
            table.rows_at(&found, columns, |row| {
                let id = row.get(ID).map(datum::read_uuid);
                let follows = |id: &Uuid| after.is_none_or(|after| compare(id, &after).is_gt());
                if let Some(id) = id.filter(|id| follows(id) && first.may_take(id, compare))
                    && comparison.is_met(row)
                {
                    first.take(id, row.place(), compare);
                }
                true
            });
            return Ok(PartRows { places: first.into_items(compare), are_all: false, read, look });
        }
        places.clear();
        table.rows_at(&found, columns, |row| {
            if comparison.is_met(row) {
                places.push(row.place());
            }
            places.len() < MOST_PLACES
        });
        let fit = places.len() < MOST_PLACES;
        if fit { Ok(PartRows { places, are_all: true, read, look }) } else { Err(Unfit) }
    })
}
