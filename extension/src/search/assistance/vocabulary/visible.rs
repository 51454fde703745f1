//! Reads the documents of records that are visible to a caller with a scope.
//!
//! The number of hidden documents must not be disclosed. Every access path reads the newest visible documents, so hidden
//! documents affect only the choice of the path.

use super::documents::{Lookup, MAX_VISIBLE, Read, SAMPLED, Source, Taker};
use crate::postgres::datum;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::heap::{Heap, Row};
use crate::postgres::heap_by_index::Which;
use crate::record::read;
use std::cmp::Reverse;

/// The maximum number of documents that the index finds and that are compared.
const MAX_COMPARED: usize = 20_000;
/// The number of documents with a text whose records are looked up together.
const GATHERED: usize = 500;
/// The maximum share of all documents that a scan reads, and the maximum of their bytes.
const MAX_SCANNED: f64 = 0.25;
const MAX_BYTES: usize = 64 << 20;
/// A scan ends after this many times the expected number of documents.
const MAX_OVERRUN: f64 = 2.0;
/// If the sample finds visible records on fewer pages, they may be clustered far from the start of
/// the scan.
const FEW_PAGES: usize = 4;
/// The cost of looking a record up, relative to reading a document.
const COST_OF_RECORD: f64 = 6.0;

/// What a sample of documents shows.
#[derive(Default)]
struct Tally {
    pages: u32,
    documents: usize,
    bytes: usize,
    /// The number of documents with the substring, and the number of visible ones among them.
    matching: usize,
    visible: usize,
    /// The number of pages with visible ones.
    visible_pages: usize,
    /// Whether these are all pages.
    are_all: bool,
}

/// Reads visible documents with one of these substrings. Returns whether these are all; an error if a statement must read
/// them.
pub(super) fn read(
    source: &Source,
    texts: &[String],
    take: &Taker,
    scope: &str,
) -> Result<(Vec<Read>, bool), Unsupported> {
    let reader = Reader { source, lookup: source.lookup(texts)?, take, scope };
    Heap::with(reader.lookup.table, |heap| {
        let (mut found, is_whole) = reader.read(heap)?;
        found.sort_unstable_by_key(|read| Reverse(read.record));
        let are_all = is_whole && found.len() <= MAX_VISIBLE;
        found.truncate(MAX_VISIBLE);
        let list = source.budget.visible.list();
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

/// Reads documents with one of several substrings.
struct Reader<'a> {
    source: &'a Source<'a>,
    lookup: Lookup<'a>,
    take: &'a Taker<'a>,
    /// The condition that a record is visible.
    scope: &'a str,
}

impl Reader<'_> {
    /// By a scan or the index.
    fn read(&self, heap: &Heap) -> Result<(Vec<Read>, bool), Unsupported> {
        if !heap.allows_page_reads() {
            return Err(Unsupported);
        }
        let some = self.sample(heap);
        let all = some.documents as f64 * f64::from(heap.pages()) / f64::from(some.pages.max(1));
        // A match that the sample missed may still have a share of nearly one in the sample size.
        let scan = MAX_VISIBLE as f64 / (some.visible as f64).max(0.5) * some.documents as f64;
        let bytes = scan.min(all) * some.bytes as f64 / some.documents.max(1) as f64;
        let matching = some.matching as f64 / some.documents.max(1) as f64;
        let is_short =
            scan * (1.0 + COST_OF_RECORD * matching) <= MAX_SCANNED * all && bytes <= MAX_BYTES as f64;
        if some.are_all || is_short && some.visible_pages >= FEW_PAGES {
            let maximum = if some.are_all { usize::MAX } else { (MAX_OVERRUN * scan) as usize };
            return self.scan_newest(heap, maximum);
        }
        if matching * all > MAX_COMPARED as f64 {
            return Err(Unsupported);
        }
        let (mut found, list) = (Vec::new(), self.source.budget.read.list());
        let are_all = heap.some_rows_with(
            self.lookup.index,
            &self.lookup.requested,
            MAX_COMPARED,
            Which::AllOrNone,
            |row| {
                let [record, document] = *row;
                datum::with_bytes(document, |document| {
                    if self.lookup.finders.iter().any(|text| text.find(document).is_some()) {
                        found.extend(self.source.read(record, &self.lookup.comparison, document, self.take));
                    }
                    list.take(document.len())
                })
            },
        )?;
        if are_all { Ok((self.visible(found), true)) } else { Err(Unsupported) }
    }

    /// A sample of some pages.
    fn sample(&self, heap: &Heap) -> Tally {
        let mut some = Tally::default();
        let list = self.source.budget.read.list();
        let step = (heap.pages() / SAMPLED).max(1);
        for page in (0..heap.pages()).step_by(step as usize).take(SAMPLED as usize) {
            let mut found = Vec::new();
            heap.rows_of(page, &mut |row| {
                if !list.is_spent() {
                    let before = some.bytes;
                    self.read_matching(row, &mut found, &mut some);
                    list.take(some.bytes - before);
                }
            });
            some.pages += 1;
            let found = self.visible(found).len();
            some.visible += found;
            some.visible_pages += usize::from(found > 0);
        }
        some.are_all = some.pages == heap.pages() && !list.is_spent();
        some
    }

    /// Reads documents, newest first, until there are enough. Returns whether these are all; an error after `maximum`
    /// documents, or if they are long.
    fn scan_newest(&self, heap: &Heap, maximum: usize) -> Result<(Vec<Read>, bool), Unsupported> {
        let (mut found, mut gathered): (Vec<Read>, Vec<Read>) = Default::default();
        let (mut read, list) = (Tally::default(), self.source.budget.read.list());
        heap.descending(None, |row| {
            let before = gathered.len();
            self.read_matching(row, &mut gathered, &mut read);
            // Words are stored only for documents with a substring.
            gathered[before..].iter().for_each(|read| _ = list.take(read.bytes));
            if gathered.len() >= GATHERED {
                found.extend(self.visible(std::mem::take(&mut gathered)));
            }
            found.len() <= MAX_VISIBLE
                && read.documents <= maximum
                && read.bytes <= MAX_BYTES
                && !list.is_spent()
        })?;
        found.extend(self.visible(gathered));
        let is_enough = found.len() > MAX_VISIBLE;
        let is_broken_off = read.documents > maximum || read.bytes > MAX_BYTES || list.is_spent();
        if is_broken_off && !is_enough { Err(Unsupported) } else { Ok((found, !is_broken_off && !is_enough)) }
    }

    /// Reads a document if it has one of the strings.
    fn read_matching(&self, [record, document]: &Row, found: &mut Vec<Read>, tally: &mut Tally) {
        datum::with_bytes(*document, |document| {
            (tally.documents, tally.bytes) = (tally.documents + 1, tally.bytes + document.len());
            if self.lookup.finders.iter().any(|text| text.find(document).is_some()) {
                tally.matching += 1;
                found.extend(self.source.read(*record, &self.lookup.comparison, document, self.take));
            }
        });
    }

    /// The documents of visible records, in the same order.
    fn visible(&self, mut found: Vec<Read>) -> Vec<Read> {
        let ids: Vec<_> = found.iter().map(|read| read.record).collect();
        let passing = read::passing(self.source.template, &ids, self.scope);
        found.retain(|read| passing.contains(&read.record));
        found
    }
}
