//! Display terms: names and keys of referenced records. They are looked up at query time, so a rename takes effect
//! immediately and updates no other record.

use super::comparison::Comparison;
use super::needle::{Needle, field};
use super::query::Term;
use super::stem::Stemmer;
use super::table;
use crate::postgres::datum;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::heap::Heap;
use crate::postgres::heap_by_index::Requested;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::{Template, catalog};
use crate::value::quote::literal;
use crate::value::table_name::{STATE, SideTable};
use std::fmt::Write as _;
use std::rc::Rc;
use uuid::Uuid;

/// The maximum number of names that are collected. A term with more matching names is compared record
/// by record.
const MAX_NAMES: usize = 10_000;
/// Up to this number of pages, all documents of a target are read.
const FEW_PAGES: u32 = 16;

/// The condition that a record of a template, under the given alias, is visible to the caller; `None` if no record
/// is.
pub type VisibleRows<'a> = dyn Fn(&Template, &str) -> Option<String> + 'a;

/// The records of one target whose names match a term.
#[derive(Clone)]
pub enum Names {
    /// All of them.
    Few(Rc<Vec<Uuid>>),
    /// Too many to collect: the query that finds one of them by its id `m.record_id` or `x.id`.
    Many(String),
}

/// A reference of the template, with the visible records of its target.
pub struct Reference {
    slug: String,
    number: i16,
    target: Rc<Template>,
    visible_rows: String,
}

/// A column of the record `t` that references records whose names match a term.
pub struct Referring {
    /// The column, as SQL names it.
    pub column: String,
    /// Its number in the table.
    pub number: i16,
    /// The records that it may reference.
    pub names: Names,
}

/// The references of a template that a caller may follow.
pub fn references(template: &Template, visible_rows: &VisibleRows) -> Vec<Reference> {
    let visible = |attribute: &crate::template::Attribute| {
        let target = attribute.target.and_then(catalog::by_id).filter(|target| target.has_documents)?;
        let visible_rows = visible_rows(&target, "x")?;
        let (slug, number) = (attribute.slug.clone(), attribute.column);
        Some(Reference { slug, number, target, visible_rows })
    };
    template.attributes.iter().filter_map(visible).collect()
}

impl Reference {
    /// Its column of the record `t`.
    pub fn column(&self) -> String {
        format!("t.\"{}\"", self.slug)
    }

    /// The column with the matching names that it may reference.
    pub fn to(&self, names: Names) -> Referring {
        Referring { column: self.column(), number: self.number, names }
    }

    /// Its attribute.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// The template that it references.
    pub fn target(&self) -> &Template {
        &self.target
    }

    /// The statement that reads the name of the record `$1` of the target, if it is visible.
    pub fn name_sql(&self) -> String {
        let name = self.display().map_or("external_key", |attribute| &attribute.slug);
        format!(
            "select x.\"{name}\"::text from {} x where x.id = $1 and x.deleted_at is null and ({})",
            self.target.table_sql(),
            self.visible_rows
        )
    }

    /// Whether both reference the same template.
    pub fn has_target_of(&self, other: &Reference) -> bool {
        self.target.id == other.target.id
    }

    /// The records of the target whose names match the term.
    pub fn names(&self, spi: &Connection, term: &Term) -> Names {
        if !self.may_match(term) {
            return Names::Few(Rc::default());
        }
        let query = self.query(term);
        let rows = spi.run_once(&collecting(&query), Snapshot::Active, &[]);
        if rows.len() > MAX_NAMES {
            return Names::Many(query);
        }
        Names::Few(Rc::new(rows.column::<Uuid>().collect()))
    }

    /// Whether any name of the target may match, regardless of the caller. Usually none does, and this check needs
    /// no statement.
    pub fn may_match(&self, term: &Term) -> bool {
        let is_in_documents = self.display().is_none_or(super::write::is_covered);
        let table = catalog::table_oid(STATE, &SideTable::Documents.name(self.target.id));
        let index = catalog::table_oid(STATE, &table::index_name(self.target.id));
        let (true, Some(table), Some(index)) = (is_in_documents, table, index) else { return true };
        let needle = self.needle(term);
        let comparison = Comparison::of_needle(&needle);
        let mut is_met = false;
        let mut compare = |document| {
            is_met = is_met || datum::with_bytes(document, |document| comparison.each(document).all(|it| it));
            !is_met
        };
        let outcome = Heap::with(table, |heap| {
            let pages = heap.pages();
            if pages <= FEW_PAGES && heap.toast_pages() <= FEW_PAGES && heap.allows_page_reads() {
                for page in 0..pages {
                    heap.rows_of(page, &mut |[_, document]| {
                        compare(*document);
                    });
                }
                return Ok(());
            }
            if !needle.is_indexable() {
                return Err(Unsupported);
            }
            let requested = Requested { texts: vec![needle.looked_up()], ..Requested::default() };
            heap.rows_with(index, &requested, |[_, document]| compare(*document))
        });
        outcome.is_err() || is_met
    }

    fn needle(&self, term: &Term) -> Needle {
        Stemmer::new(&self.target).needle(term)
    }

    /// The display attribute of the target; `None` if the key is displayed.
    fn display(&self) -> Option<&crate::template::Attribute> {
        let position = self.target.display_slug().and_then(|slug| self.target.position(slug));
        position.map(|position| &self.target.attributes[position])
    }

    /// Whether the planner reads all documents of the target for the names that match the term.
    pub fn is_scanned(&self, spi: &Connection, term: &Term) -> bool {
        // The plan is not available under a fixed snapshot.
        let explained = format!("explain {}", collecting(&self.query(term)));
        let rows = spi.run_once(&explained, Snapshot::Latest, &[]);
        (0..rows.len())
            .any(|row| rows.get::<Option<String>>(row, 0).is_some_and(|it| it.contains("Seq Scan")))
    }

    /// The ids of the records of the target whose names match the term.
    pub fn query(&self, term: &Term) -> String {
        let records = self.target.table_sql();
        let seen = &self.visible_rows;
        match self.display() {
            Some(attribute) if !super::write::is_covered(attribute) => {
                let holds = |text: &str| {
                    format!("strpos(lower(x.\"{}\"::text), {}) > 0", attribute.slug, literal(text))
                };
                let others = term.others().map(|other| format!(" or {}", holds(&other.text)));
                format!(
                    "select x.id from {records} x where x.deleted_at is null and ({seen}) and ({}{})",
                    holds(&term.text),
                    others.collect::<String>()
                )
            }
            display => {
                let needle = self.needle(term);
                let name = field("m.document", display.map(|attribute| attribute.id));
                let mut sql =
                    format!("select m.record_id from {} m", SideTable::Documents.sql(self.target.id));
                if seen != "true" {
                    let _ = write!(sql, " join {records} x on x.id = m.record_id and ({seen})");
                }
                let _ = write!(sql, " where {} and {}", needle.indexed("m.document"), needle.checked(&name));
                sql
            }
        }
    }
}

/// The query for the names to collect, plus one to detect that there are more.
fn collecting(query: &str) -> String {
    format!("{query} limit {}", MAX_NAMES + 1)
}

impl Referring {
    /// The condition that the record references one of the names; false, not null, without a
    /// reference.
    pub fn condition(&self) -> String {
        self.names.condition(&self.column)
    }
}

impl Names {
    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        matches!(self, Names::Few(ids) if ids.is_empty())
    }

    /// The condition that the column references one of them; false, not null, without a reference.
    fn condition(&self, column: &str) -> String {
        match self {
            Names::Few(ids) => format!("({column} is not null and {column} = any ({}))", id_array(ids)),
            Names::Many(query) => {
                let id = if query.starts_with("select x.id") { "x.id" } else { "m.record_id" };
                format!("exists ({query} and {id} = {column})")
            }
        }
    }
}

/// Ids as an array in SQL.
pub fn id_array(ids: &[Uuid]) -> String {
    let mut sql = String::with_capacity(ids.len() * 37 + 12);
    sql.push_str("'{");
    for (position, id) in ids.iter().enumerate() {
        if position > 0 {
            sql.push(',');
        }
        let _ = write!(sql, "{id}");
    }
    sql.push_str("}'::uuid[]");
    sql
}
