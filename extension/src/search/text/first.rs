//! The first matches of a query in their order, without reading all of them.
//!
//! Matches are ordered by rank, and then newest first. So the best rank is searched first, until the page is full, then the
//! next one. There are two paths for each rank. A backward scan reads documents, newest first, and soon finds enough matches
//! of a frequent rank. An index lookup finds all matches of a rare one. The scan measures how frequent they are: it
//! continues, twice as far each time, until the lookup costs less. If the scan finds none, it ends at the latest after the
//! square root of the number of documents, so neither choice costs much more than the better one. Records whose name or key
//! is the query rank best; the index finds them by their fingerprint.

use super::document::{LISTS, Whole};
use super::keys;
use super::reader::{Match, Reader};
use super::terms::PreparedTerm;
use crate::postgres::datum;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::heap_by_index::Requested;
use std::cmp::Reverse;
use uuid::Uuid;

/// The ranks of documents, in ascending order from 0.
const RANKS: usize = 5;
/// The number of documents that are read before a lookup is considered.
const FEW: usize = 32;
/// The number of index entries that are read in the time of one document.
const ENTRIES: f64 = 64.0;
/// The factor by which a lookup for all ranks may cost more than one for a single rank.
const ALL_RANKS_FACTOR: f64 = 3.0;
/// The ratio of a statement's time to that of a comparison in memory.
const BY_STATEMENT: f64 = 4.0;

/// A lookup in the index of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Records whose name or key may be the query.
    Whole,
    /// Records with all terms as whole words of name or key.
    Names,
    /// Records with all terms as whole words.
    WholeWords,
    /// All matches.
    All,
    /// All matches by a statement, including matches through display terms of other records.
    Statement,
}

impl Lookup {
    /// The lowest rank whose matches it finds completely.
    pub fn lowest_rank(self) -> usize {
        match self {
            Lookup::Whole => 3,
            Lookup::Names => 2,
            Lookup::WholeWords => 1,
            Lookup::All | Lookup::Statement => 0,
        }
    }
}

/// The first matches.
#[derive(Default)]
pub struct First {
    /// The first matches after the position, in their order: at least the requested number.
    pub matches: Vec<Match>,
    /// Whether these are all.
    pub are_all: bool,
    /// All matches after the position, if a lookup has found them.
    pub known: Option<Vec<Match>>,
    /// How they were found.
    pub work: Work,
}

/// How matches were found.
#[derive(Default)]
pub struct Work {
    /// The number of documents read, newest first.
    pub read: usize,
    /// Whether these were all documents.
    pub is_over: bool,
    /// The lookups, with the number of documents that each found.
    pub looked_up: Vec<(Lookup, usize)>,
}

impl Work {
    /// The number of documents compared.
    pub fn documents(&self) -> usize {
        self.read + self.looked_up.iter().map(|(_, found)| found).sum::<usize>()
    }
}

/// Documents read in descending order, beginning with the newest or at a position.
#[derive(Default)]
struct BackwardScan {
    last: Option<Uuid>,
    read: usize,
    is_over: bool,
    /// The number of documents with each term.
    match_counts: Vec<usize>,
    /// The matches by rank, the newest first.
    found: [Vec<Uuid>; RANKS],
}

/// A search for the first matches.
pub struct Search<'a> {
    reader: &'a Reader<'a>,
    requested: &'a [PreparedTerm<'a>],
    /// The names and keys that rank first.
    complete_names: &'a [Whole],
    /// Finds all matches by a statement.
    by_statement: &'a dyn Fn() -> Vec<Match>,
    /// The approximate number of documents.
    documents: f64,
    /// The code of the attribute whose words have index keys of their own.
    name_code: Option<String>,
    /// The ranks of which all matches are known, and these matches.
    complete: [Option<Vec<Uuid>>; RANKS],
    work: Work,
}

impl<'a> Search<'a> {
    /// A search for these terms.
    pub fn new(
        reader: &'a Reader<'a>,
        requested: &'a [PreparedTerm<'a>],
        complete_names: &'a [Whole],
        by_statement: &'a dyn Fn() -> Vec<Match>,
    ) -> Search<'a> {
        let documents = reader.heap().about_rows();
        let name_code = reader.name_code();
        let (complete, work) = Default::default();
        Search { reader, requested, complete_names, by_statement, documents, name_code, complete, work }
    }

    /// The first matches after a position: at least `requested`, unless there are fewer.
    pub fn first(mut self, after: Option<Match>, requested: usize) -> Result<First, Unsupported> {
        let best = RANKS - 1;
        let (top, before) = match after {
            Some((rank, id)) if (rank as usize) <= best => (rank as usize, Some(id)),
            _ => (best, None),
        };
        let mut matches: Vec<Match> = Vec::new();
        let mut are_all = true;
        let mut newest = BackwardScan::default();
        for rank in (0..=top).rev() {
            let need = requested.saturating_sub(matches.len());
            let mut behind = BackwardScan { last: before, ..BackwardScan::default() };
            let is_behind = rank == top && before.is_some();
            let scan = if is_behind { &mut behind } else { &mut newest };
            let is_exhausted = self.fill(scan, rank, need)?;
            let before = before.filter(|_| is_behind);
            let found = self.complete[rank].as_ref().unwrap_or(&scan.found[rank]);
            let follows = |id: &&Uuid| before.is_none_or(|before| **id < before);
            let found = found.iter().filter(follows).map(|id| (rank as i16, *id));
            if is_exhausted {
                matches.extend(found);
            } else {
                matches.extend(found.take(need));
            }
            if !is_exhausted || matches.len() >= requested && rank > 0 {
                are_all = false;
                break;
            }
        }
        let known = self.known(top, before);
        Ok(First { matches, are_all, known, work: self.work })
    }

    /// All matches from a rank on, after a position in it, if lookups have found the matches of every
    /// rank.
    fn known(&self, top: usize, before: Option<Uuid>) -> Option<Vec<Match>> {
        let mut known = Vec::new();
        for rank in (0..=top).rev() {
            let before = before.filter(|_| rank == top);
            let follows = |id: &&Uuid| before.is_none_or(|before| **id < before);
            known.extend(self.complete[rank].as_ref()?.iter().filter(follows).map(|id| (rank as i16, *id)));
        }
        Some(known)
    }

    /// Finds `need` matches of a rank, or all of them. Returns whether these are all.
    fn fill(&mut self, scan: &mut BackwardScan, rank: usize, need: usize) -> Result<bool, Unsupported> {
        loop {
            if scan.is_over || self.complete[rank].is_some() {
                return Ok(true);
            }
            let found = scan.found[rank].len();
            if found >= need {
                return Ok(false);
            }
            if scan.read >= FEW
                && let Some((lookup, requested, cost)) = self.cheapest(scan, rank)
                && cost <= (need - found) as f64 * scan.read as f64 / (found + 1) as f64
            {
                self.look_up(lookup, &requested)?;
                continue;
            }
            self.read(scan, rank, need, scan.read.max(FEW))?;
        }
    }

    /// Reads more documents, until there are enough matches of the rank.
    fn read(
        &mut self,
        scan: &mut BackwardScan,
        rank: usize,
        need: usize,
        most: usize,
    ) -> Result<(), Unsupported> {
        scan.match_counts.resize(self.requested.len(), 0);
        scan.is_over = true;
        let mut read = 0;
        let from = scan.last;
        self.reader.heap().descending(from, |row| {
            read += 1;
            scan.last = Some(datum::read_uuid(row[0]));
            if let Some((rank, id)) = self.reader.rank(row, &mut scan.match_counts) {
                scan.found[rank as usize].push(id);
            }
            scan.is_over = read < most && scan.found[rank].len() < need;
            scan.is_over
        })?;
        scan.read += read;
        self.work.read += read;
        self.work.is_over |= scan.is_over;
        Ok(())
    }

    /// The lookup that finds the matches of a rank at the lowest cost, in documents to read.
    fn cheapest(&self, scan: &BackwardScan, rank: usize) -> Option<(Lookup, Requested, f64)> {
        let share = |count: usize| self.documents * (count + 1) as f64 / scan.read as f64;
        let of_entries = |terms: &[usize]| -> f64 {
            terms.iter().map(|term| share(scan.match_counts[*term]) / ENTRIES).sum()
        };
        let leader = |terms: &[usize]| terms.iter().copied().min_by_key(|term| scan.match_counts[*term]);
        let mut ways: Vec<(Lookup, Requested, f64)> = Vec::new();
        let indexable: Vec<usize> =
            (0..self.requested.len()).filter(|term| self.requested[*term].is_indexable()).collect();
        let nameless = |term: &usize| self.requested[*term].names.is_empty();
        let in_documents: Vec<usize> = indexable.iter().copied().filter(nameless).collect();
        if let Some(leader) = leader(&in_documents) {
            let is_rare = |term: &usize| *term == leader || scan.match_counts[*term] * 20 < scan.read;
            let terms: Vec<usize> = in_documents.into_iter().filter(is_rare).collect();
            let texts = terms.iter().map(|term| self.requested[*term].needle.looked_up()).collect();
            let requested = Requested { texts, ..Requested::default() };
            ways.push((Lookup::All, requested, share(scan.match_counts[leader]) + of_entries(&terms)));
        }
        if let Some(leader) = leader(&indexable).filter(|leader| !nameless(leader)) {
            ways.push((
                Lookup::Statement,
                Requested::default(),
                share(scan.match_counts[leader]) * BY_STATEMENT,
            ));
        }
        if rank >= Lookup::WholeWords.lowest_rank() {
            let whole = |term: &usize| Some((*term, self.requested[*term].needle.whole_word_index_terms()?));
            let (terms, texts): (Vec<usize>, Vec<_>) = indexable.iter().filter_map(whole).unzip();
            let found = scan.found[1..].iter().map(Vec::len).sum();
            if !terms.is_empty() {
                let requested = Requested { texts, ..Requested::default() };
                ways.push((Lookup::WholeWords, requested, share(found) + of_entries(&terms)));
            }
        }
        if rank >= Lookup::Names.lowest_rank()
            && let Some(code) = &self.name_code
        {
            let in_name = |term: &usize| self.requested[*term].needle.in_name(code);
            let queries: Vec<String> = indexable.iter().filter_map(in_name).flatten().collect();
            if !queries.is_empty() {
                let queries = queries.into_iter().map(|query| (keys::IN_NAME, query)).collect();
                let requested = Requested { queries, ..Requested::default() };
                ways.push((Lookup::Names, requested, share(scan.found[2..].iter().map(Vec::len).sum())));
            }
        }
        if rank >= Lookup::Whole.lowest_rank() && !self.complete_names.is_empty() {
            let found = scan.found[Lookup::Whole.lowest_rank()..].iter().map(Vec::len).sum();
            let marks = self.complete_names.iter().map(|whole| vec![whole.mark.clone()]).collect();
            let requested = Requested { texts: vec![marks], ..Requested::default() };
            ways.push((Lookup::Whole, requested, share(found) + self.documents / LISTS));
        }
        // A lookup for several ranks saves later lookups.
        let least = ways.iter().map(|way| way.2).fold(f64::INFINITY, f64::min);
        ways.into_iter().find(|way| way.2 <= least * ALL_RANKS_FACTOR)
    }

    fn look_up(&mut self, lookup: Lookup, requested: &Requested) -> Result<(), Unsupported> {
        let mut found: [Vec<Uuid>; RANKS] = Default::default();
        let mut add = |(rank, id): Match| found[rank as usize].push(id);
        let read = if lookup == Lookup::Statement {
            let all = (self.by_statement)();
            let count = all.len();
            all.into_iter().for_each(add);
            count
        } else {
            self.reader
                .look_up(requested, |row| self.reader.rank(row, &mut []).into_iter().for_each(&mut add))?
        };
        self.work.looked_up.push((lookup, read));
        for (rank, mut ids) in found.into_iter().enumerate().skip(lookup.lowest_rank()) {
            ids.sort_unstable_by_key(|id| Reverse(*id));
            self.complete[rank] = Some(ids);
        }
        Ok(())
    }
}
