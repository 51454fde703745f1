//! Finds the records that match a query.

use super::document::Whole;
use super::first::{First, Search};
use super::names::{self, VisibleRows};
use super::query::TextQuery;
use super::rank::{self, SearchTerms};
use super::reader::{Match, Reader};
use super::sample::{LONG, Sample};
use super::stem::Stemmer;
use super::terms::{self, PreparedTerm};
use crate::postgres::guard::as_owner;
use crate::postgres::heap::Row;
use crate::postgres::heap_by_index::Requested;
use crate::postgres::spi::{Connection, connected};
use crate::record::read;
use crate::template::Template;
use crate::value::key;
use crate::value::quote::literal;
use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::HashSet;
use uuid::Uuid;

/// Above this number of matches, terms are compared record by record instead of collecting all matches.
pub const MANY: usize = 20_000;
/// The rank of the record whose external key is the whole text of the query.
pub const RANK_KEY: i16 = 5;

/// The live records that match a query, regardless of the caller; found on demand. Ranks: 5 the key equals the query, 4 the
/// name or the key equals it, ignoring case and accents, 3 either has the same words and no others, 2 all terms are whole
/// words of the name or the key, 1 all terms are whole words, 0 other matches. Matches are ordered by rank, and then newest
/// first.
pub struct Matches<'q> {
    template: &'q Template,
    requested: Vec<PreparedTerm<'q>>,
    /// The names and keys that rank first.
    complete_names: Vec<Whole>,
    /// The record whose key equals the query.
    pub key_holder: Option<Uuid>,
    sample: OnceCell<Sample>,
    /// All matches after a position, in their order, if known.
    behind: RefCell<Option<(Option<Match>, Vec<Match>)>>,
}

impl<'q> Matches<'q> {
    /// Prepares to find the live records of a template that match a query.
    pub fn of(template: &'q Template, query: &'q TextQuery, visible_rows: &VisibleRows) -> Matches<'q> {
        let key_holder = key::normalize(&query.text).ok().and_then(|key| read::id_by_key(template, key));
        let requested = with_connection(|spi| {
            let mut requested = PreparedTerm::all(template, query);
            let references = names::references(template, visible_rows);
            requested.iter_mut().for_each(|it| it.add_names(spi, &references));
            requested
        });
        let complete_names = Stemmer::new(template).complete_names(query);
        Matches {
            template,
            requested,
            complete_names,
            key_holder,
            sample: OnceCell::new(),
            behind: RefCell::default(),
        }
    }

    /// The first matches after a position, in their order: at least `requested`, unless there are fewer.
    pub fn first(&self, after: Option<Match>, requested: usize) -> First {
        let follows = |found: &Match| after.is_none_or(|after| *found < after);
        if let Some((position, all)) = &*self.behind.borrow()
            && (position.is_none() || *position >= after && after.is_some())
        {
            let mut rest = all.iter().copied().filter(follows);
            let matches = rest.by_ref().take(requested).collect();
            return First { matches, are_all: rest.next().is_none(), ..First::default() };
        }
        let mut first = with_connection(|spi| self.find(spi, after, requested + 1));
        let known = first.known.take();
        let known = known.or_else(|| first.are_all.then(|| first.matches.clone()));
        if let Some(mut known) = known {
            self.place_holder(after, &mut known);
            self.behind.replace(Some((after, known)));
        }
        self.place_holder(after, &mut first.matches);
        first
    }

    /// Moves the record whose key equals the query to the front.
    fn place_holder(&self, after: Option<Match>, matches: &mut Vec<Match>) {
        let Some(holder) = self.key_holder else { return };
        matches.retain(|(_, id)| *id != holder);
        if after.is_none_or(|after| (RANK_KEY, holder) < after) {
            matches.insert(0, (RANK_KEY, holder));
        }
    }

    fn find(&self, spi: &Connection, after: Option<Match>, limit: usize) -> First {
        let Matches { template, requested, complete_names, .. } = self;
        let found = Reader::with(template, requested, complete_names, |reader| {
            Search::new(reader, requested, complete_names, &|| self.by_statement(spi, None, None))
                .first(after, limit)
        });
        found.unwrap_or_else(|_| {
            let matches = self.by_statement(spi, after, Some(limit));
            First { are_all: matches.len() < limit, matches, ..First::default() }
        })
    }

    /// All records that match, in no order.
    pub fn all(&self) -> Vec<Uuid> {
        if let Some((None, all)) = &*self.behind.borrow() {
            return all.iter().map(|(_, id)| *id).collect();
        }
        let mut all = self.collect(Vec::new(), Vec::push);
        if let Some(holder) = self.key_holder.filter(|holder| !all.contains(holder)) {
            all.push(holder);
        }
        all
    }

    /// The number of matches.
    pub fn count(&self) -> usize {
        if let Some((None, all)) = &*self.behind.borrow() {
            return all.len();
        }
        let holder = self.key_holder;
        let (count, is_counted) = self.collect((0, holder.is_none()), |(count, is_counted), id| {
            *count += 1;
            *is_counted |= holder == Some(id);
        });
        count + usize::from(!is_counted)
    }

    /// The matches among these records, in their order.
    pub fn among(&self, records: &[Uuid]) -> Vec<Match> {
        let found = with_connection(|_| {
            let mut found = Vec::new();
            let outcome = Reader::with(self.template, &self.requested, &self.complete_names, |reader| {
                reader.read_each(records, |it| found.push(it))
            });
            outcome.is_ok().then_some(found)
        });
        let mut found: Vec<Match> = found.unwrap_or_else(|| {
            let records: HashSet<&Uuid> = records.iter().collect();
            let all = with_connection(|spi| self.by_statement(spi, None, None));
            all.into_iter().filter(|(_, id)| records.contains(id)).collect()
        });
        if let Some(holder) = self.key_holder.filter(|holder| records.contains(holder)) {
            found.retain(|(_, id)| *id != holder);
            found.push((RANK_KEY, holder));
        }
        found.sort_unstable_by_key(|it| Reverse(*it));
        found
    }

    /// Collects all records that match. The record whose key equals the query may be among them.
    fn collect<T: Clone>(&self, empty: T, mut add: impl FnMut(&mut T, Uuid)) -> T {
        let (template, requested) = (self.template, &self.requested);
        with_connection(|spi| {
            let sample = self.sample_with(spi);
            let leader = rank::leader(requested, sample);
            if leader.is_none_or(|leader| requested[leader].names.is_empty()) {
                let outcome = Reader::with(template, requested, &[], |reader| {
                    let mut sum = empty.clone();
                    let add = |row: &Row| reader.record(row).into_iter().for_each(|id| add(&mut sum, id));
                    let Some(leader) = leader.filter(|leader| !sample.is_full_scan_faster(*leader)) else {
                        reader.read_all(add)?;
                        return Ok(sum);
                    };
                    let is_looked_up = |position: &usize| {
                        let it = &requested[*position];
                        *position == leader
                            || it.is_indexable() && it.names.is_empty() && sample.is_rare(*position)
                    };
                    let looked_up = (0..requested.len()).filter(is_looked_up);
                    let texts = looked_up.map(|position| requested[position].needle.looked_up()).collect();
                    reader.look_up(&Requested { texts, ..Requested::default() }, add)?;
                    Ok(sum)
                });
                if let Ok(sum) = outcome {
                    return sum;
                }
            }
            let mut sum = empty;
            self.by_statement(spi, None, None).into_iter().for_each(|(_, id)| add(&mut sum, id));
            sum
        })
    }

    /// The matches after a position in their order, up to a limit.
    fn by_statement(&self, spi: &Connection, after: Option<Match>, limit: Option<usize>) -> Vec<Match> {
        let sought = SearchTerms {
            requested: &self.requested,
            complete_names: &self.complete_names,
            sample: self.sample_with(spi),
        };
        rank::by_statement(spi, self.template, &sought, after, limit)
    }

    /// Whether there are many matches, according to a sample.
    pub fn are_many(&self) -> bool {
        // The factor 1.5 keeps sampling error from deciding wrongly.
        with_connection(|spi| self.sample_with(spi).found() * 2 > 3 * MANY as i64)
    }

    /// Whether documents are so long that comparing them takes most of the time.
    pub fn are_long(&self) -> bool {
        with_connection(|spi| self.sample_with(spi).bytes_of_document() > LONG)
    }

    fn sample_with(&self, spi: &Connection) -> &Sample {
        self.sample.get_or_init(|| Sample::take(spi, self.template, &self.requested, MANY))
    }

    /// The condition that the record `t` with its document `d` matches, apart from the match of a key.
    pub fn condition(&self) -> String {
        terms::condition(&self.requested)
    }

    /// The terms, if none of them can use an index, so that all documents are read.
    pub fn scanned(&self) -> Vec<String> {
        let is_scanned = !self.requested.iter().any(PreparedTerm::is_indexable);
        self.requested.iter().filter(|_| is_scanned).map(|it| it.term.shown()).collect()
    }
}

fn with_connection<R>(body: impl FnOnce(&Connection) -> R) -> R {
    as_owner(|| connected(body))
}

/// The condition that a record `t` with its document `d` matches, for explanations.
pub fn condition(template: &Template, query: &TextQuery, visible_rows: &VisibleRows) -> String {
    let references = names::references(template, visible_rows);
    let mut requested = PreparedTerm::all(template, query);
    for it in &mut requested {
        let names =
            references.iter().map(|reference| reference.to(names::Names::Many(reference.query(it.term))));
        it.names = names.collect();
    }
    let condition = terms::condition(&requested);
    match key::normalize(&query.text) {
        Ok(key) if !query.is_empty() => format!("(t.external_key = {} or {condition})", literal(key)),
        _ => condition,
    }
}
