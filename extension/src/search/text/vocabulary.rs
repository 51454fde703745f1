//! Reads words out of documents, of which a caller sees the records.
//!
//! A word is shown only if a record that the caller sees holds it. Documents are found by the trigram index and read in
//! memory; of many, some of pages that are spread over the table. If the caller sees hardly any of the records of
//! these, a statement reads the documents of those that it sees.

use super::comparison::Comparison;
use super::document::{self, FIELD};
use super::needle::literal;
use super::table;
use super::terms::{self, PreparedTerm};
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::heap::{self, Heap};
use crate::postgres::heap_by_index::{Alternatives, Wanted};
use crate::postgres::spi::{Connection, Snapshot};
use crate::record::read;
use crate::template::{Template, catalog};
use crate::value::pattern::escaped;
use crate::value::table_name::{STATE, SideTable};
use std::collections::HashMap;
use uuid::Uuid;

/// Up to about this many documents are read, and this many bytes of them as they are stored.
const MOST_DOCUMENTS: usize = 2000;
const MOST_BYTES: usize = 8 << 20;
/// So many pages tell whether a text is in so many documents that looking it up takes longer than reading some of them.
const SAMPLED: u32 = 24;
/// So many records that the caller sees are enough to tell which words are frequent.
const ENOUGH: usize = 20;

/// The documents that words are read from.
pub struct Source<'a> {
    /// The connection of the statements.
    pub spi: &'a Connection,
    /// Whose documents.
    pub template: &'a Template,
    /// The records `t` that the caller sees; none for all.
    pub seen: Option<&'a str>,
    /// The terms that a document must satisfy beside.
    pub terms: &'a [PreparedTerm<'a>],
    /// Whether the names of records count alone.
    pub names_only: bool,
}

/// Words with the records that hold them.
#[derive(Default)]
pub struct Words {
    /// The records of each word that the caller sees.
    pub records: HashMap<String, Vec<Uuid>>,
    /// Whether all documents were read.
    pub is_whole: bool,
}

/// What is read of one document.
type Read = (Uuid, Vec<String>);

/// Takes the words that are wanted out of a document.
type Taker<'t> = dyn Fn(&str) -> Vec<String> + 't;

impl Source<'_> {
    /// The words that `take` takes out of the documents that hold one of these texts.
    pub fn words(&self, texts: &[String], take: &Taker) -> Words {
        let (found, is_whole) = match self.found_by_index(texts, take) {
            Ok(found) => found,
            Err(Unfit) => self.found_by_statement(texts, take, None),
        };
        let Some(seen) = self.seen else { return Words::of(found, is_whole) };
        let ids: Vec<Uuid> = found.iter().map(|(record, _)| *record).collect();
        let passing = read::passing(self.template, &ids, seen);
        let found: Vec<Read> = found.into_iter().filter(|(record, _)| passing.contains(record)).collect();
        if is_whole || found.len() >= ENOUGH {
            return Words::of(found, is_whole);
        }
        let (found, is_whole) = self.found_by_statement(texts, take, Some(seen));
        Words::of(found, is_whole)
    }

    fn found_by_index(&self, texts: &[String], take: &Taker) -> Result<(Vec<Read>, bool), Unfit> {
        // No document holds the names of other records.
        if self.terms.iter().any(|term| !term.names.is_empty()) {
            return Err(Unfit);
        }
        let comparison = terms::comparison(self.template, self.terms);
        let table = catalog::table_oid(STATE, &SideTable::Documents.name(self.template.id)).ok_or(Unfit)?;
        let index = catalog::table_oid(STATE, &table::index_name(self.template.id)).ok_or(Unfit)?;
        let alternatives: Alternatives = texts.iter().map(|text| vec![text.clone()]).collect();
        let served = self.terms.iter().filter(|term| term.is_served());
        let looked_up = std::iter::once(alternatives).chain(served.map(|term| term.needle.looked_up()));
        let wanted = Wanted { texts: looked_up.collect(), queries: Vec::new() };
        let (mut found, mut bytes) = (Vec::new(), 0);
        let is_whole = Heap::with(table, |heap| {
            if let ([text], []) = (texts, self.terms)
                && let Some(frequent) = self.found_by_sample(heap, text, &comparison, take)
            {
                found = frequent;
                return Ok(false);
            }
            heap.some_rows_with(index, &wanted, MOST_DOCUMENTS, |[record, document]| {
                bytes += heap::stored_size(*document);
                let words = datum::with_bytes(*document, |document| self.taken(&comparison, document, take));
                if !words.is_empty() {
                    found.push((datum::read_uuid(*record), words));
                }
                bytes < MOST_BYTES
            })
        })?;
        Ok((found, is_whole))
    }

    /// What some of the documents that hold a text have, if very many hold it.
    fn found_by_sample(
        &self,
        heap: &Heap,
        text: &str,
        comparison: &Comparison,
        take: &Taker,
    ) -> Option<Vec<Read>> {
        let pages = heap.pages();
        if pages < 8 * SAMPLED || !heap.may_be_read_whole() {
            return None;
        }
        let holds = memchr::memmem::Finder::new(text);
        let (mut found, mut looked_at, mut bytes) = (Vec::new(), 0, 0);
        let mut read = |page: u32, found: &mut Vec<Read>| {
            pgrx::check_for_interrupts!();
            heap.rows_of(page, &mut |[record, document]| {
                looked_at += 1;
                bytes += heap::stored_size(*document);
                let words = datum::with_bytes(*document, |document| match holds.find(document) {
                    Some(_) => self.taken(comparison, document, take),
                    None => Vec::new(),
                });
                if !words.is_empty() {
                    found.push((datum::read_uuid(*record), words));
                }
            });
            (looked_at, bytes < MOST_BYTES)
        };
        let mut seen = 0;
        for place in 0..SAMPLED {
            (seen, _) = read(place * (pages / SAMPLED), &mut found);
        }
        let of_page = found.len() as f64 / f64::from(SAMPLED);
        if found.len() * 20 < seen || of_page * f64::from(pages) < 2.0 * MOST_DOCUMENTS as f64 {
            return None;
        }
        found.clear();
        let stretch = (of_page * f64::from(pages) / MOST_DOCUMENTS as f64) as usize;
        for page in (0..pages).step_by(stretch.max(1)) {
            if !read(page, &mut found).1 {
                break;
            }
        }
        Some(found)
    }

    fn found_by_statement(&self, texts: &[String], take: &Taker, seen: Option<&str>) -> (Vec<Read>, bool) {
        let (records, documents) = (self.template.table_sql(), SideTable::Documents.sql(self.template.id));
        let like = |text: &String| format!("d.document like {}", literal(&format!("%{}%", escaped(text))));
        let texts: Vec<String> = texts.iter().map(like).collect();
        let sql = format!(
            "select d.record_id, d.document from {documents} d join {records} t on t.id = d.record_id \
             where t.deleted_at is null and ({}) and {} and {} limit {}",
            texts.join(" or "),
            seen.unwrap_or("true"),
            terms::condition(self.terms),
            MOST_DOCUMENTS + 1
        );
        let rows = self.spi.run_once(&sql, Snapshot::Active, &[]);
        let none = Comparison::new(std::iter::empty(), std::iter::empty());
        let none = none.without(&self.template.former_attributes);
        let read = |row: usize| {
            let record = rows.get::<Option<Uuid>>(row, 0)?;
            let words = datum::with_bytes(rows.datum(row, 1)?, |document| self.taken(&none, document, take));
            (!words.is_empty()).then_some((record, words))
        };
        let read: Vec<Read> = (0..rows.len().min(MOST_DOCUMENTS)).filter_map(read).collect();
        (read, rows.len() <= MOST_DOCUMENTS)
    }

    /// The words of a document that satisfies all terms.
    fn taken(&self, comparison: &Comparison, document: &[u8], take: &Taker) -> Vec<String> {
        let document = comparison.valid(document);
        if !comparison.each(&document).all(|is_met| is_met) {
            return Vec::new();
        }
        let document = std::str::from_utf8(&document).unwrap_or_default();
        let mut words = take(if self.names_only { self.name(document) } else { document });
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The part of a document that has the name of its record.
    fn name<'d>(&self, document: &'d str) -> &'d str {
        let display = self.template.display_slug().and_then(|slug| self.template.position(slug));
        let start = document::field_start(display.map(|position| self.template.attributes[position].id));
        let Some(start) = document.find(&start) else { return "" };
        let field = &document[start..];
        &field[..field[1..].find(FIELD).map_or(field.len(), |end| end + 1)]
    }
}

impl Words {
    fn of(found: Vec<Read>, is_whole: bool) -> Words {
        let mut records: HashMap<String, Vec<Uuid>> = HashMap::new();
        for (record, words) in found {
            for word in words {
                records.entry(word).or_default().push(record);
            }
        }
        Words { records, is_whole }
    }

    /// Adds others, whose records may be the same.
    pub fn add(&mut self, others: Words) {
        for (word, records) in others.records {
            let all = self.records.entry(word).or_default();
            all.extend(records);
            all.sort_unstable();
            all.dedup();
        }
    }

    /// The words with their records, those of most records first.
    pub fn ranked(self) -> Vec<(String, Vec<Uuid>)> {
        let mut words: Vec<(String, Vec<Uuid>)> = self.records.into_iter().collect();
        words.iter_mut().for_each(|(_, records)| records.sort_unstable());
        words.sort_unstable_by(|(one, ones), (other, others)| {
            others.len().cmp(&ones.len()).then_with(|| one.cmp(other))
        });
        words
    }
}
