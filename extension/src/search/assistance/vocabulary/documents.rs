//! Reads the documents that words are collected from, by the index or by a statement.

use crate::postgres::datum;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::heap::Heap;
use crate::postgres::heap_by_index::{Alternatives, Requested, Which};
use crate::postgres::spi::{Connection, Snapshot};
use crate::search::assistance::budget::{Budget, List};
use crate::search::text::comparison::Comparison;
use crate::search::text::document::{self, FIELD};
use crate::search::text::needle::literal;
use crate::search::text::terms::PreparedTerm;
use crate::search::text::{table, terms};
use crate::template::{Template, catalog};
use crate::value::pattern::escaped;
use crate::value::table_name::{STATE, SideTable};
use memchr::memmem::Finder;
use pgrx::pg_sys::{Datum, Oid};
use uuid::Uuid;

/// The approximate maximum number of documents that are read.
const MAX_DOCUMENTS: usize = 2000;
/// The same for a caller with a scope: each record must be looked up.
pub(super) const MAX_VISIBLE: usize = 1000;
/// The number of pages of a sample. It shows whether so many documents contain a substring that a lookup costs more than
/// reading a sample of documents.
pub(super) const SAMPLED: u32 = 24;

/// The documents that words are collected from.
pub struct Source<'a> {
    /// The connection of its statements.
    pub spi: &'a Connection,
    /// The template whose documents are read.
    pub template: &'a Template,
    /// The condition that the record `t` is visible to the caller; none for all.
    pub visible: Option<&'a str>,
    /// Additional terms that a document must contain.
    pub terms: &'a [PreparedTerm<'a>],
    /// Whether only display terms of records count.
    pub names_only: bool,
    /// The bytes that the request may still read.
    pub budget: &'a Budget,
}

/// The words of one document.
pub(super) struct Read {
    pub(super) record: Uuid,
    pub(super) words: Vec<String>,
    pub(super) bytes: usize,
}

/// Collects words from a document.
pub type Taker<'t> = dyn Fn(&str) -> Vec<String> + 't;

/// How documents with one of these substrings are looked up.
pub(super) struct Lookup<'t> {
    /// Additional terms that they must contain.
    pub(super) comparison: Comparison<'t>,
    /// The table of documents, and its index.
    pub(super) table: Oid,
    pub(super) index: Oid,
    /// The keys that the index looks up.
    pub(super) requested: Requested,
    /// The strings.
    pub(super) finders: Vec<Finder<'t>>,
}

impl Source<'_> {
    /// How documents with one of these substrings are looked up; an error if a statement must find
    /// them.
    pub(super) fn lookup<'t>(&'t self, texts: &'t [String]) -> Result<Lookup<'t>, Unsupported> {
        // No document contains the display terms of other records.
        if self.terms.iter().any(|term| !term.names.is_empty()) {
            return Err(Unsupported);
        }
        let alternatives: Alternatives = texts.iter().map(|text| vec![text.clone()]).collect();
        let indexable = self.terms.iter().filter(|term| term.is_indexable());
        let looked_up = std::iter::once(alternatives).chain(indexable.map(|term| term.needle.looked_up()));
        let oid_of = |name: &str| catalog::table_oid(STATE, name).ok_or(Unsupported);
        Ok(Lookup {
            comparison: terms::comparison(self.template, self.terms),
            table: oid_of(&SideTable::Documents.name(self.template.id))?,
            index: oid_of(&table::index_name(self.template.id))?,
            requested: Requested { texts: looked_up.collect(), queries: Vec::new() },
            finders: texts.iter().map(Finder::new).collect(),
        })
    }

    /// The words of a document, if it has all terms.
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

    /// The document field that contains the display term of its record.
    fn name<'d>(&self, document: &'d str) -> &'d str {
        let display = self.template.display_slug().and_then(|slug| self.template.position(slug));
        let start = document::field_start(display.map(|position| self.template.attributes[position].id));
        let Some(start) = document.find(&start) else { return "" };
        let field = &document[start..];
        &field[..field[1..].find(FIELD).map_or(field.len(), |end| end + 1)]
    }
}

/// Reads the documents that the index finds. Returns whether these are all.
pub(super) fn by_index(
    source: &Source,
    texts: &[String],
    take: &Taker,
) -> Result<(Vec<Read>, bool), Unsupported> {
    let Lookup { comparison, table, index, requested, finders } = source.lookup(texts)?;
    let mut found = Vec::new();
    let is_whole = Heap::with(table, |heap| {
        if let ([text], []) = (finders.as_slice(), source.terms)
            && let Some(frequent) = by_sample(source, heap, text, &comparison, take)
        {
            found = frequent;
            return Ok(false);
        }
        let list = source.budget.read.list();
        heap.some_rows_with(index, &requested, MAX_DOCUMENTS, Which::Spread, |[record, document]| {
            datum::with_bytes(*document, |document| {
                let read = source.read(*record, &comparison, document, take);
                found.extend(read.filter(|it| !it.words.is_empty()));
                list.take(document.len())
            })
        })
    })?;
    Ok((found, is_whole))
}

/// Reads a sample of the documents with a substring, if very many contain it.
fn by_sample(
    source: &Source,
    heap: &Heap,
    text: &Finder,
    comparison: &Comparison,
    take: &Taker,
) -> Option<Vec<Read>> {
    let pages = heap.pages();
    if pages < 8 * SAMPLED || !heap.allows_page_reads() {
        return None;
    }
    let (mut found, mut documents) = (Vec::new(), 0);
    let mut read_page = |page: u32, list: &List, found: &mut Vec<Read>| {
        heap.rows_of(page, &mut |[record, document]| {
            if list.is_spent() {
                return;
            }
            documents += 1;
            datum::with_bytes(*document, |document| {
                if text.find(document).is_some() {
                    let read = source.read(*record, comparison, document, take);
                    found.extend(read.filter(|it| !it.words.is_empty()));
                }
                list.take(document.len());
            });
        });
        documents
    };
    let list = source.budget.read.list();
    let (mut seen, mut sampled) = (0, 0);
    while sampled < SAMPLED && !list.is_spent() {
        seen = read_page(sampled * (pages / SAMPLED), &list, &mut found);
        sampled += 1;
    }
    let all = found.len() as f64 / f64::from(sampled.max(1)) * f64::from(pages);
    if found.len() * 20 < seen || all < 2.0 * MAX_DOCUMENTS as f64 {
        return None;
    }
    found.clear();
    let list = source.budget.read.list();
    let stretch = (all / MAX_DOCUMENTS as f64) as usize;
    for page in (0..pages).step_by(stretch.max(1)) {
        if list.is_spent() {
            break;
        }
        read_page(page, &list, &mut found);
    }
    Some(found)
}

/// Reads documents of visible records by a statement. Returns whether these are all.
pub(super) fn by_statement(source: &Source, texts: &[String], take: &Taker) -> (Vec<Read>, bool) {
    let (records, documents) = (source.template.table_sql(), SideTable::Documents.sql(source.template.id));
    let like = |text: &String| format!("d.document like {}", literal(&format!("%{}%", escaped(text))));
    let texts: Vec<String> = texts.iter().map(like).collect();
    let limit = if source.visible.is_some() { MAX_VISIBLE } else { MAX_DOCUMENTS };
    let sql = format!(
        "select d.record_id, d.document from {documents} d join {records} t on t.id = d.record_id \
         where t.deleted_at is null and ({}) and {} and {}{} limit {}",
        texts.join(" or "),
        source.visible.unwrap_or("true"),
        terms::condition(source.terms),
        if source.visible.is_some() { " order by d.record_id desc" } else { "" },
        limit + 1
    );
    let rows = source.spi.run_once(&sql, Snapshot::Active, &[]);
    let none = Comparison::new(std::iter::empty(), std::iter::empty());
    let none = none.without(&source.template.former_attributes);
    let list = source.budget.visible.list();
    let mut found = Vec::new();
    for row in 0..rows.len().min(limit) {
        pgrx::check_for_interrupts!();
        let (Some(record), Some(document)) = (rows.datum(row, 0), rows.datum(row, 1)) else { continue };
        if list.is_spent() {
            break;
        }
        datum::with_bytes(document, |document| {
            found.extend(source.read(record, &none, document, take));
            list.take(document.len());
        });
    }
    (found, !list.is_spent() && rows.len() <= limit)
}
