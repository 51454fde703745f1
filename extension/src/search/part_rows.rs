//! Records by a part of a text, found without a statement: texts are compared in memory.

use super::access_path::{self, AccessPath, Look, Question, choose, is_small};
use super::path_statement::Part;
use super::text_pattern::TextPattern;
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::found::Found;
use crate::postgres::key_order::{Along, KeyOrder, Limit};
use crate::postgres::places::Place;
use crate::postgres::table::Table;
use crate::postgres::table_by_text::{Matcher, Pattern};
use crate::template::Template;
use crate::value::pattern::words;
use crate::value::standard_column::{DELETED_AT, ID};
use std::cmp::Reverse;
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
        let mut comparison = Comparison::of(table, part)?;
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
                if comparison.of_record(row).is_met {
                    places.push(row.place());
                }
                places.len() < question.wanted
            })?;
            if is_within || places.len() == question.wanted {
                return Ok(PartRows { places, are_all: false, read, look });
            }
        }
        if let Along::Ids(after) = along {
            let mut best = Best::new(question.wanted, order, after);
            table.rows_at(&found, columns, |row| {
                let rank = row.get(ID).and_then(|id| best.rank(datum::read_uuid(id)));
                if let Some(rank) = rank
                    && comparison.of_record(row).is_met
                {
                    best.add(rank, row.place());
                }
                true
            });
            return Ok(PartRows { places: best.into_items(), are_all: false, read, look });
        }
        places.clear();
        table.rows_at(&found, columns, |row| {
            if comparison.of_record(row).is_met {
                places.push(row.place());
            }
            places.len() < MOST_PLACES
        });
        let fit = places.len() < MOST_PLACES;
        if fit { Ok(PartRows { places, are_all: true, read, look }) } else { Err(Unfit) }
    })
}

/// What a comparison tells of a record.
struct Compared {
    /// Whether it is live and has the part.
    is_met: bool,
    /// Whether an index of trigrams finds it.
    is_found: bool,
}

/// Compares the texts of records with a part.
struct Comparison {
    column: i16,
    part: TextPattern,
    /// What an index of trigrams finds: these parts, wherever each of them stands. None where they are the same.
    found: Vec<TextPattern>,
    /// Where the language of the texts decides.
    matcher: Matcher,
}

impl Comparison {
    fn of(table: &Table, part: Part) -> Result<Comparison, Unfit> {
        if !table.lowers_ascii(part.column) {
            return Err(Unfit);
        }
        let words = words(part.text);
        let is_exact = words == [part.text];
        let read = |pattern: &str| TextPattern::read(pattern, part.ignores_case).ok_or(Unfit);
        let found = words.iter().filter(|_| !is_exact).map(|word| read(word));
        Ok(Comparison {
            column: part.column,
            part: read(part.text)?,
            found: found.collect::<Result<_, Unfit>>()?,
            matcher: Matcher::new(part.pattern()),
        })
    }

    /// How many columns of a row are looked at.
    fn columns(&self) -> i16 {
        self.column.max(DELETED_AT)
    }

    fn of_record(&mut self, row: &Found) -> Compared {
        let Some(text) = row.get(self.column) else { return Compared { is_met: false, is_found: false } };
        let (matches, is_found) = datum::with_bytes(text, |bytes| {
            let matches = self.part.matches(bytes);
            // What only the language tells may be.
            let may_have = |word: &mut TextPattern| word.matches(bytes) != Some(false);
            let is_found = !self.found.is_empty() && self.found.iter_mut().all(may_have);
            (matches, is_found)
        });
        let matches = matches.unwrap_or_else(|| self.matcher.matches(text));
        Compared { is_met: matches && row.get(DELETED_AT).is_none(), is_found: matches || is_found }
    }
}

impl<'p> Part<'p> {
    fn pattern(self) -> Pattern<'p> {
        Pattern { text: self.text, ignores_case: self.ignores_case }
    }
}

/// What belongs to the first ids of those that were added, such as places.
struct Best<P> {
    wanted: usize,
    order: KeyOrder,
    /// Only ranks below that of the position follow it.
    below: Option<u128>,
    /// Only ranks above this one are among the first.
    above: Option<u128>,
    kept: Vec<(u128, P)>,
}

impl<P> Best<P> {
    fn new(wanted: usize, order: KeyOrder, after: Option<Uuid>) -> Best<P> {
        let mut best = Best { wanted, order, below: None, above: None, kept: Vec::new() };
        best.below = after.and_then(|after| best.rank(after));
        best
    }

    /// The rank of an id, higher for one that comes before; none if it is not among the first.
    fn rank(&self, id: Uuid) -> Option<u128> {
        let rank = match self.order {
            KeyOrder::Descending => id.as_u128(),
            KeyOrder::Ascending => !id.as_u128(),
        };
        let follows = self.below.is_none_or(|below| rank < below);
        (follows && self.above.is_none_or(|above| rank > above)).then_some(rank)
    }

    fn add(&mut self, rank: u128, item: P) {
        self.kept.push((rank, item));
        if self.kept.len() >= 2 * self.wanted {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.wanted {
            self.kept.select_nth_unstable_by_key(self.wanted - 1, |(rank, _)| Reverse(*rank));
            self.kept.truncate(self.wanted);
            self.above = self.kept.last().map(|(rank, _)| *rank);
        }
    }

    fn into_items(mut self) -> Vec<P> {
        self.cut();
        self.kept.into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_ids_behind_a_position_are_kept_whatever_order_they_come_in(
            mut ids in prop::collection::hash_set(0..60u128, 0..40).prop_map(Vec::from_iter).prop_shuffle(),
            wanted in 1..12usize, after in prop::option::of(0..60u128), ascending: bool,
        ) {
            let order = if ascending { KeyOrder::Ascending } else { KeyOrder::Descending };
            let mut best = Best::new(wanted, order, after.map(Uuid::from_u128));
            for id in &ids {
                if let Some(rank) = best.rank(Uuid::from_u128(*id)) {
                    best.add(rank, *id);
                }
            }
            let mut found = best.into_items();
            ids.retain(|id| after.is_none_or(|after| if ascending { *id > after } else { *id < after }));
            for ids in [&mut ids, &mut found] {
                ids.sort_unstable();
                if !ascending {
                    ids.reverse();
                }
            }
            ids.truncate(wanted);
            prop_assert_eq!(found, ids);
        }
    }
}
