//! The display names of referenced records: looked up when somebody searches, so that a renamed record is found under
//! its new name at once, and no write of it fans out.

use super::needle::{Needle, field};
use super::query::Term;
use super::stem::Stemmer;
use super::table;
use crate::postgres::datum;
use crate::postgres::spi::{Access, Connection};
use crate::quote::literal;
use crate::template::{Template, catalog};
use std::fmt::Write as _;
use std::rc::Rc;
use uuid::Uuid;

/// Names are collected up to this many; a word in more names is looked for record by record.
const MOST_NAMES: usize = 10_000;

/// What a caller may see of a template's records: a condition on them, which names their table by the alias given;
/// none where nothing may be seen.
pub type Sight<'a> = dyn Fn(&Template, &str) -> Option<String> + 'a;

/// The records of one target whose names match a term.
#[derive(Clone)]
pub enum Names {
    /// All of them.
    Few(Rc<Vec<Uuid>>),
    /// So many that they are not collected: the query that finds one of them by its id `m.record_id` or `x.id`.
    Many(String),
}

/// A reference of the template, with its target as far as the caller may see it.
pub struct Reference {
    slug: String,
    target: Rc<Template>,
    sight: String,
}

/// The references of a template that a caller may follow.
pub fn references(template: &Template, sight: &Sight) -> Vec<Reference> {
    let visible = |attribute: &crate::template::Attribute| {
        let target = attribute.target.and_then(catalog::by_id).filter(|target| target.has_documents)?;
        let sight = sight(&target, "x")?;
        Some(Reference { slug: attribute.slug.clone(), target, sight })
    };
    template.attributes.iter().filter_map(visible).collect()
}

impl Reference {
    /// Its column of the record `t`.
    pub fn column(&self) -> String {
        format!("t.\"{}\"", self.slug)
    }

    /// Whether both refer to the same template.
    pub fn has_target_of(&self, other: &Reference) -> bool {
        self.target.id == other.target.id
    }

    /// The records of the target whose names match the term.
    pub fn names(&self, spi: &Connection, term: &Term) -> Names {
        let query = self.query(term);
        let rows = spi.run_once(&collecting(&query), Access::Snapshot, &[]);
        if rows.len() > MOST_NAMES {
            return Names::Many(query);
        }
        Names::Few(Rc::new(
            (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_uuid)).collect(),
        ))
    }

    /// Whether all documents of the target are read for the names that match the term, as the planner has it.
    pub fn is_scanned(&self, spi: &Connection, term: &Term) -> bool {
        // PostgreSQL explains nothing through a fixed snapshot.
        let explained = format!("explain {}", collecting(&self.query(term)));
        let rows = spi.run_once(&explained, Access::Latest, &[]);
        (0..rows.len())
            .any(|row| rows.get(row, 0).map(datum::read_text).is_some_and(|it| it.contains("Seq Scan")))
    }

    /// The ids of the records of the target whose names match the term.
    pub fn query(&self, term: &Term) -> String {
        let display = self.target.display_slug().and_then(|slug| self.target.position(slug));
        let display = display.map(|position| &self.target.attributes[position]);
        let records = self.target.table_sql();
        let seen = &self.sight;
        match display {
            Some(attribute) if !super::write::is_covered(attribute) => format!(
                "select x.id from {records} x where x.deleted_at is null and ({seen}) \
                 and strpos(lower(x.\"{}\"::text), {}) > 0",
                attribute.slug,
                literal(&term.text)
            ),
            display => {
                let needle = Needle::new(term, &Stemmer::new(&self.target).ways(&term.typed));
                let name = field("m.document", display.map(|attribute| attribute.id));
                let mut sql = format!("select m.record_id from {} m", table::table_sql(self.target.id));
                if seen != "true" {
                    let _ = write!(sql, " join {records} x on x.id = m.record_id and ({seen})");
                }
                let _ = write!(sql, " where {} and {}", needle.indexed("m.document"), needle.checked(&name));
                sql
            }
        }
    }
}

/// The query for the names that are collected, and one more.
fn collecting(query: &str) -> String {
    format!("{query} limit {}", MOST_NAMES + 1)
}

impl Names {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        matches!(self, Names::Few(ids) if ids.is_empty())
    }

    /// Whether the column refers to one of them; false, not null, where it refers to nothing.
    pub fn condition(&self, column: &str) -> String {
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
