//! Reads documents of the records that a caller with a scope sees.
//!
//! How many documents others hold must not show: these are the newest, in whatever way they are found, so others decide on the way
//! alone.

use super::documents::{Lookup, MOST_IN_SIGHT, SAMPLED};
use super::{Read, Source, Taker};
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::heap::{Heap, Row};
use crate::postgres::heap_by_index::Which;
use crate::record::read;
use std::cmp::Reverse;

/// So many documents that the index finds are compared.
const MOST_COMPARED: usize = 20_000;
/// So many documents that hold a text are gathered before their records are looked up.
const GATHERED: usize = 500;
/// The part of all documents that is read one after the other, and the most bytes of them.
const MOST_WALKED: f64 = 0.25;
const MOST_BYTES: usize = 64 << 20;
/// How much longer than expected that may take.
const PATIENCE: f64 = 2.0;
/// On fewer pages of those looked at, what is in sight may lie together, and far from where the walk begins.
const FEW_PAGES: usize = 4;
/// Looking a record up takes as long as reading so many documents.
const COST_OF_RECORD: f64 = 6.0;

/// What some documents show.
#[derive(Default)]
struct Tally {
    pages: u32,
    documents: usize,
    bytes: usize,
    /// How many have a text, and how many of these are in sight.
    matching: usize,
    in_sight: usize,
    /// On how many pages some are in sight.
    pages_in_sight: usize,
    /// Whether these are all pages.
    are_all: bool,
}

impl Source<'_> {
    /// Reads documents in sight that hold one of these texts, and tells whether these are all; an error where a statement must.
    pub(super) fn found_in_sight(
        &self,
        texts: &[String],
        take: &Taker,
        scope: &str,
    ) -> Result<(Vec<Read>, bool), Unfit> {
        let lookup = self.lookup(texts)?;
        Heap::with(lookup.table, |heap| {
            let (mut found, is_whole) = self.walked_or_looked_up(heap, &lookup, take, scope)?;
            found.sort_unstable_by_key(|read| Reverse(read.record));
            let are_all = is_whole && found.len() <= MOST_IN_SIGHT;
            found.truncate(MOST_IN_SIGHT);
            let list = self.budget.in_sight.list();
            let fitting = found
                .iter()
                .take_while(|read| {
                    !list.is_spent() && {
                        list.take(read.bytes);
                        true
                    }
                })
                .count();
            found.truncate(fitting);
            Ok((found, are_all && !list.is_spent()))
        })
    }

    fn walked_or_looked_up(
        &self,
        heap: &Heap,
        lookup: &Lookup,
        take: &Taker,
        scope: &str,
    ) -> Result<(Vec<Read>, bool), Unfit> {
        if !heap.may_be_read_whole() {
            return Err(Unfit);
        }
        let some = self.sample(heap, lookup, take, scope);
        let all = some.documents as f64 * f64::from(heap.pages()) / f64::from(some.pages.max(1));
        // Of what was never seen, there may be nearly one.
        let walk = MOST_IN_SIGHT as f64 / (some.in_sight as f64).max(0.5) * some.documents as f64;
        let bytes = walk.min(all) * some.bytes as f64 / some.documents.max(1) as f64;
        let matching = some.matching as f64 / some.documents.max(1) as f64;
        let is_short =
            walk * (1.0 + COST_OF_RECORD * matching) <= MOST_WALKED * all && bytes <= MOST_BYTES as f64;
        if some.are_all || is_short && some.pages_in_sight >= FEW_PAGES {
            let most = if some.are_all { usize::MAX } else { (PATIENCE * walk) as usize };
            return self.walk(heap, lookup, take, scope, most);
        }
        if matching * all > MOST_COMPARED as f64 {
            return Err(Unfit);
        }
        let (mut found, list) = (Vec::new(), self.budget.looked_at.list());
        let are_all =
            heap.some_rows_with(lookup.index, &lookup.wanted, MOST_COMPARED, Which::AllOrNone, |row| {
                let [record, document] = *row;
                datum::with_bytes(document, |document| {
                    if lookup.finders.iter().any(|text| text.find(document).is_some()) {
                        found.extend(self.read(record, &lookup.comparison, document, take));
                    }
                    list.take(document.len())
                })
            })?;
        if are_all { Ok((self.in_sight(found, scope), true)) } else { Err(Unfit) }
    }

    /// What documents of some pages show.
    fn sample(&self, heap: &Heap, lookup: &Lookup, take: &Taker, scope: &str) -> Tally {
        let mut some = Tally::default();
        let list = self.budget.looked_at.list();
        let step = (heap.pages() / SAMPLED).max(1);
        for page in (0..heap.pages()).step_by(step as usize).take(SAMPLED as usize) {
            let mut found = Vec::new();
            heap.rows_of(page, &mut |row| {
                if !list.is_spent() {
                    let before = some.bytes;
                    self.read_matching(row, lookup, take, &mut found, &mut some);
                    list.take(some.bytes - before);
                }
            });
            some.pages += 1;
            let found = self.in_sight(found, scope).len();
            some.in_sight += found;
            some.pages_in_sight += usize::from(found > 0);
        }
        some.are_all = some.pages == heap.pages() && !list.is_spent();
        some
    }

    /// Reads from the newest on, until there are enough; whether these are all. An error after so many documents, or where they
    /// are long.
    fn walk(
        &self,
        heap: &Heap,
        lookup: &Lookup,
        take: &Taker,
        scope: &str,
        most: usize,
    ) -> Result<(Vec<Read>, bool), Unfit> {
        let (mut found, mut gathered): (Vec<Read>, Vec<Read>) = Default::default();
        let (mut read, list) = (Tally::default(), self.budget.looked_at.list());
        heap.descending(None, |row| {
            let before = gathered.len();
            self.read_matching(row, lookup, take, &mut gathered, &mut read);
            // What was read of documents is kept only for those with a text.
            gathered[before..].iter().for_each(|read| _ = list.take(read.bytes));
            if gathered.len() >= GATHERED {
                found.extend(self.in_sight(std::mem::take(&mut gathered), scope));
            }
            found.len() <= MOST_IN_SIGHT
                && read.documents <= most
                && read.bytes <= MOST_BYTES
                && !list.is_spent()
        })?;
        found.extend(self.in_sight(gathered, scope));
        let is_enough = found.len() > MOST_IN_SIGHT;
        let is_broken_off = read.documents > most || read.bytes > MOST_BYTES || list.is_spent();
        if is_broken_off && !is_enough { Err(Unfit) } else { Ok((found, !is_broken_off && !is_enough)) }
    }

    /// Reads a document if it holds one of the texts.
    fn read_matching(
        &self,
        [record, document]: &Row,
        lookup: &Lookup,
        take: &Taker,
        found: &mut Vec<Read>,
        tally: &mut Tally,
    ) {
        datum::with_bytes(*document, |document| {
            (tally.documents, tally.bytes) = (tally.documents + 1, tally.bytes + document.len());
            if lookup.finders.iter().any(|text| text.find(document).is_some()) {
                tally.matching += 1;
                found.extend(self.read(*record, &lookup.comparison, document, take));
            }
        });
    }

    /// Those whose records the caller sees, in their order.
    fn in_sight(&self, mut found: Vec<Read>, scope: &str) -> Vec<Read> {
        let ids: Vec<_> = found.iter().map(|read| read.record).collect();
        let passing = read::passing(self.template, &ids, scope);
        found.retain(|read| passing.contains(&read.record));
        found
    }
}
