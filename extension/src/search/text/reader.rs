//! Reads documents and ranks their records, without a statement.

use super::comparison::Comparison;
use super::document::Whole;
use super::names::Names;
use super::table;
use super::terms::{self, PreparedTerm};
use super::{document, write};
use crate::postgres::datum;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::heap::{Heap, Row};
use crate::postgres::heap_by_index::Requested;
use crate::postgres::index::{self, Index, Which};
use crate::template::{Template, catalog, column};
use crate::value::table_name::{STATE, SideTable};
use pgrx::pg_sys::Oid;
use std::cell::Cell;
use std::collections::HashSet;
use uuid::Uuid;

/// A record that matches, with its rank.
pub type Match = (i16, Uuid);

/// The columns of references whose display terms may match a term, each with the records that do.
type Referred = Vec<(i16, HashSet<Uuid>)>;

/// The documents of a template, ready to be compared with the terms of a query.
pub struct Reader<'a> {
    heap: &'a Heap<'a>,
    index: Oid,
    template: &'a Template,
    /// The comparison with the terms.
    comparison: Comparison<'a>,
    referred: Vec<Referred>,
    /// Whether a record could not be looked up.
    has_failed: Cell<bool>,
}

impl<'a> Reader<'a> {
    /// Passes a reader to `body`, with the names and keys that rank first; an error if a statement must read the
    /// documents.
    pub fn with<R>(
        template: &'a Template,
        requested: &'a [PreparedTerm],
        complete_names: &'a [Whole],
        body: impl FnOnce(&Reader) -> Result<R, Unsupported>,
    ) -> Result<R, Unsupported> {
        let table = catalog::table_oid(STATE, &SideTable::Documents.name(template.id)).ok_or(Unsupported)?;
        let index = catalog::table_oid(STATE, &table::index_name(template.id)).ok_or(Unsupported)?;
        let referred = requested.iter().map(referred).collect::<Option<Vec<_>>>().ok_or(Unsupported)?;
        Heap::with(table, |heap| {
            let comparison = terms::comparison(template, requested).before_others(complete_names);
            let reader = Reader { heap, index, template, comparison, referred, has_failed: Cell::new(false) };
            let result = body(&reader)?;
            if reader.has_failed.get() { Err(Unsupported) } else { Ok(result) }
        })
    }

    /// The table.
    pub fn heap(&self) -> &Heap<'a> {
        self.heap
    }

    /// The comparison with the terms.
    pub fn comparison(&self) -> &Comparison<'_> {
        &self.comparison
    }

    /// The record of a row with its rank, if it matches.
    pub fn rank(&self, row: &Row, match_counts: &mut [usize]) -> Option<Match> {
        let [record, document] = *row;
        let record = datum::read_uuid(record);
        let is_named = |term: usize| self.is_named(term, record);
        let rank =
            datum::with_bytes(document, |document| self.comparison.rank(document, is_named, match_counts));
        rank.map(|rank| (rank, record))
    }

    /// The record of a row, if it matches.
    pub fn record(&self, row: &Row) -> Option<Uuid> {
        let [record, document] = *row;
        let record = datum::read_uuid(record);
        let is_named = |term: usize| self.is_named(term, record);
        datum::with_bytes(document, |document| self.comparison.is_met(document, is_named)).then_some(record)
    }

    /// The code of the display attribute, if the index has keys for its words.
    pub fn name_code(&self) -> Option<String> {
        let template = self.template;
        let covered = template.attributes.iter().filter(|it| write::is_covered(it));
        let first = covered.map(|attribute| attribute.id).min();
        let display = template.display_slug().and_then(|slug| template.position(slug));
        let display = display.map(|position| &template.attributes[position]);
        // Only the words of the first attribute have keys, even if it was dropped.
        let name = display.filter(|it| write::is_covered(it)).map(|it| it.id);
        let is_first = template.former_attributes.is_empty() && (name.is_none() || name == first);
        let has_keys = is_first && self.heap.has_keys_of(self.index, c"words_of_document");
        has_keys.then(|| document::code(name))
    }

    /// Passes the rows that the index finds to `read`; they may be false positives. Returns their
    /// number.
    pub fn look_up(&self, requested: &Requested, mut read: impl FnMut(&Row)) -> Result<usize, Unsupported> {
        let mut count = 0;
        self.heap.rows_with(self.index, requested, |row| {
            count += 1;
            read(row);
            !self.has_failed.get()
        })?;
        Ok(count)
    }

    /// Passes the rows of all documents to `read`.
    pub fn read_all(&self, mut read: impl FnMut(&Row)) -> Result<(), Unsupported> {
        self.heap.rows(|row| {
            if !self.has_failed.get() {
                read(row);
            }
        });
        if self.has_failed.get() { Err(Unsupported) } else { Ok(()) }
    }

    /// Passes the matches among these records to `read`.
    pub fn read_each(&self, records: &[Uuid], mut read: impl FnMut(Match)) -> Result<(), Unsupported> {
        let ids = records.iter().filter_map(|record| datum::uuid(*record));
        let table = self.heap.oid();
        index::find_each(table, Index::PrimaryKey, &[1], index::UUID, ids, |_, found| {
            if let (Some(record), Some(document)) = (found.get(1), found.get(2))
                && let Some(found) = self.rank(&[record, document], &mut [])
            {
                read(found);
            }
            !self.has_failed.get()
        })
    }

    /// Whether the record references a record whose display term has the term at this position.
    fn is_named(&self, term: usize, record: Uuid) -> bool {
        let columns = &self.referred[term];
        let (false, Some(id)) = (columns.is_empty(), datum::uuid(record)) else { return false };
        let refers = |found: &index::Found| {
            columns.iter().any(|(column, names)| {
                found.get(*column).is_some_and(|value| names.contains(&datum::read_uuid(value)))
            })
        };
        let table = self.template.table;
        let columns = &[column::ID];
        let outcome =
            index::find_one(table, Index::PrimaryKey, columns, index::UUID, id, Which::Only, refers);
        self.has_failed.set(self.has_failed.get() || outcome.is_err());
        outcome.ok().flatten().unwrap_or_default()
    }
}

/// `None` if too many names match to collect them.
fn referred(term: &PreparedTerm) -> Option<Referred> {
    let names = term.names.iter().map(|referring| match &referring.names {
        Names::Few(ids) => Some((referring.number, ids.iter().copied().collect())),
        Names::Many(_) => None,
    });
    names.collect()
}
