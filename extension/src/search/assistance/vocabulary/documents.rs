//! Reads the documents that words are taken from: those that the index finds, or a statement.

use super::{Read, Source, Taker};
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::heap::Heap;
use crate::postgres::heap_by_index::{Alternatives, Wanted, Which};
use crate::postgres::spi::Snapshot;
use crate::search::assistance::budget::List;
use crate::search::text::comparison::Comparison;
use crate::search::text::document::{self, FIELD};
use crate::search::text::needle::literal;
use crate::search::text::{table, terms};
use crate::template::catalog;
use crate::value::pattern::escaped;
use crate::value::table_name::{STATE, SideTable};
use memchr::memmem::Finder;
use pgrx::pg_sys::{Datum, Oid};

/// Up to about this many documents are read.
const MOST_DOCUMENTS: usize = 2000;
/// The same of a caller who sees some of the records: each of those has to be looked up.
pub(super) const MOST_IN_SIGHT: usize = 1000;
/// So many pages tell whether a text is in so many documents that looking it up takes longer than reading some of them.
pub(super) const SAMPLED: u32 = 24;

/// How documents with one of some texts are found.
pub(super) struct Lookup<'t> {
    /// What they must satisfy beside.
    pub(super) comparison: Comparison<'t>,
    /// The table of documents, and its index.
    pub(super) table: Oid,
    pub(super) index: Oid,
    /// What the index is asked for.
    pub(super) wanted: Wanted,
    /// The texts.
    pub(super) finders: Vec<Finder<'t>>,
}

impl Source<'_> {
    /// How documents with one of these texts are found; an error where a statement must find them.
    pub(super) fn lookup<'t>(&'t self, texts: &'t [String]) -> Result<Lookup<'t>, Unfit> {
        // No document holds the names of other records.
        if self.terms.iter().any(|term| !term.names.is_empty()) {
            return Err(Unfit);
        }
        let alternatives: Alternatives = texts.iter().map(|text| vec![text.clone()]).collect();
        let served = self.terms.iter().filter(|term| term.is_served());
        let looked_up = std::iter::once(alternatives).chain(served.map(|term| term.needle.looked_up()));
        let oid_of = |name: &str| catalog::table_oid(STATE, name).ok_or(Unfit);
        Ok(Lookup {
            comparison: terms::comparison(self.template, self.terms),
            table: oid_of(&SideTable::Documents.name(self.template.id))?,
            index: oid_of(&table::index_name(self.template.id))?,
            wanted: Wanted { texts: looked_up.collect(), queries: Vec::new() },
            finders: texts.iter().map(Finder::new).collect(),
        })
    }

    /// Reads documents that the index finds, and tells whether these are all.
    pub(super) fn found_by_index(&self, texts: &[String], take: &Taker) -> Result<(Vec<Read>, bool), Unfit> {
        let Lookup { comparison, table, index, wanted, finders } = self.lookup(texts)?;
        let mut found = Vec::new();
        let is_whole = Heap::with(table, |heap| {
            if let ([text], []) = (finders.as_slice(), self.terms)
                && let Some(frequent) = self.found_by_sample(heap, text, &comparison, take)
            {
                found = frequent;
                return Ok(false);
            }
            let list = self.budget.looked_at.list();
            heap.some_rows_with(index, &wanted, MOST_DOCUMENTS, Which::Spread, |[record, document]| {
                datum::with_bytes(*document, |document| {
                    let read = self.read(*record, &comparison, document, take);
                    found.extend(read.filter(|it| !it.words.is_empty()));
                    list.take(document.len())
                })
            })
        })?;
        Ok((found, is_whole))
    }

    /// What some of the documents that hold a text have, if very many hold it.
    fn found_by_sample(
        &self,
        heap: &Heap,
        text: &Finder,
        comparison: &Comparison,
        take: &Taker,
    ) -> Option<Vec<Read>> {
        let pages = heap.pages();
        if pages < 8 * SAMPLED || !heap.may_be_read_whole() {
            return None;
        }
        let (mut found, mut looked_at) = (Vec::new(), 0);
        let mut read_page = |page: u32, list: &List, found: &mut Vec<Read>| {
            heap.rows_of(page, &mut |[record, document]| {
                if list.is_spent() {
                    return;
                }
                looked_at += 1;
                datum::with_bytes(*document, |document| {
                    if text.find(document).is_some() {
                        let read = self.read(*record, comparison, document, take);
                        found.extend(read.filter(|it| !it.words.is_empty()));
                    }
                    list.take(document.len());
                });
            });
            looked_at
        };
        let list = self.budget.looked_at.list();
        let (mut seen, mut sampled) = (0, 0);
        while sampled < SAMPLED && !list.is_spent() {
            seen = read_page(sampled * (pages / SAMPLED), &list, &mut found);
            sampled += 1;
        }
        let all = found.len() as f64 / f64::from(sampled.max(1)) * f64::from(pages);
        if found.len() * 20 < seen || all < 2.0 * MOST_DOCUMENTS as f64 {
            return None;
        }
        found.clear();
        let list = self.budget.looked_at.list();
        let stretch = (all / MOST_DOCUMENTS as f64) as usize;
        for page in (0..pages).step_by(stretch.max(1)) {
            if list.is_spent() {
                break;
            }
            read_page(page, &list, &mut found);
        }
        Some(found)
    }

    /// Reads documents of records that the caller sees, and tells whether these are all.
    pub(super) fn found_by_statement(&self, texts: &[String], take: &Taker) -> (Vec<Read>, bool) {
        let (records, documents) = (self.template.table_sql(), SideTable::Documents.sql(self.template.id));
        let like = |text: &String| format!("d.document like {}", literal(&format!("%{}%", escaped(text))));
        let texts: Vec<String> = texts.iter().map(like).collect();
        let most = if self.seen.is_some() { MOST_IN_SIGHT } else { MOST_DOCUMENTS };
        let sql = format!(
            "select d.record_id, d.document from {documents} d join {records} t on t.id = d.record_id \
             where t.deleted_at is null and ({}) and {} and {}{} limit {}",
            texts.join(" or "),
            self.seen.unwrap_or("true"),
            terms::condition(self.terms),
            if self.seen.is_some() { " order by d.record_id desc" } else { "" },
            most + 1
        );
        let rows = self.spi.run_once(&sql, Snapshot::Active, &[]);
        let none = Comparison::new(std::iter::empty(), std::iter::empty());
        let none = none.without(&self.template.former_attributes);
        let list = self.budget.in_sight.list();
        let mut found = Vec::new();
        for row in 0..rows.len().min(most) {
            pgrx::check_for_interrupts!();
            let (Some(record), Some(document)) = (rows.datum(row, 0), rows.datum(row, 1)) else { continue };
            if list.is_spent() {
                break;
            }
            datum::with_bytes(document, |document| {
                found.extend(self.read(record, &none, document, take));
                list.take(document.len());
            });
        }
        (found, !list.is_spent() && rows.len() <= most)
    }

    /// The words of a document, if it satisfies all terms.
    pub(super) fn read(
        &self,
        record: Datum,
        comparison: &Comparison,
        document: &[u8],
        take: &Taker,
    ) -> Option<Read> {
        let bytes = document.len();
        let document = comparison.valid(document);
        if !comparison.each(&document).all(|is_met| is_met) {
            return None;
        }
        let document = std::str::from_utf8(&document).unwrap_or_default();
        let mut words = take(if self.names_only { self.name(document) } else { document });
        words.sort_unstable();
        words.dedup();
        Some(Read { record: datum::read_uuid(record), words, bytes })
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
