//! A template and its attributes.

use super::lru::{Cache, Share};
use super::synonyms::Synonyms;
use crate::attribute_type::{AttributeType, Rules};
use crate::postgres::condition::Condition;
use crate::postgres::spi::Plan;
use crate::value::collation::Collations;
use crate::value::list_option::ListOption;
use crate::value::table_name::table_sql;
use pgrx::pg_sys::Oid;
use std::collections::HashMap;
use std::rc::Rc;

/// An attribute, which is a column.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its number, stable under renames.
    pub id: i32,
    /// The column's name.
    pub slug: String,
    /// Its JSON pointer in a request body.
    pub pointer: String,
    /// Its type.
    pub kind: AttributeType,
    /// The label, if it differs from the slug.
    pub label: Option<String>,
    /// Whether the column is NOT NULL.
    pub required: bool,
    /// Whether filters and sorts on it have an index.
    pub indexed: bool,
    /// The allowed values of a list.
    pub options: Option<Vec<ListOption>>,
    /// A reference's target template.
    pub target: Option<i32>,
    /// The default as JSON text.
    pub default: Option<String>,
    /// The display format as JSON text.
    pub format: Option<String>,
    /// The collation of a string attribute attribute; `None` for that of the template.
    pub collation: Option<String>,
    /// The column's number.
    pub column: i16,
    /// The collations of its order and of its index.
    pub collations: Collations,
    /// The OID of the collation of its order; 0 for that of the column.
    pub order: Oid,
}

impl Attribute {
    /// The rules for its values, in addition to the type.
    pub fn rules(&self) -> Rules<'_> {
        let (options, target) = (self.options.as_deref(), self.target);
        Rules { pointer: &self.pointer, options, target, numbers_as_strings: false }
    }

    /// The label of a list's value.
    pub fn label_of<'a>(&'a self, value: &'a str) -> &'a str {
        let option = self.options.iter().flatten().find(|option| option.value == value);
        option.map_or(value, |option| &option.label)
    }
}

/// The table of the series of a template.
#[derive(Clone, Copy, Debug)]
pub struct SeriesTable {
    /// The table.
    pub table: Oid,
    /// The sequence that numbers its rows.
    pub sequence: Oid,
}

impl SeriesTable {
    /// The number of the identity column.
    pub(super) const ID: i16 = 4;
}

/// A template, which is a table.
#[derive(Default)]
pub struct Template {
    /// Its number, part of every record's id.
    pub id: i32,
    /// The number as text, for the responses of its records.
    pub id_text: String,
    /// The id of its project.
    pub project_id: i32,
    /// The schema.
    pub project_slug: String,
    /// The table's name.
    pub slug: String,
    /// The label, if it differs from the slug.
    pub label: Option<String>,
    /// The attribute shown for a record.
    pub display: Option<String>,
    /// The text-search configuration.
    pub language: String,
    /// The collation of its strings; `None` in a database that is not migrated.
    pub collation: Option<String>,
    /// The former languages whose stems documents may contain until a job has rewritten them.
    pub former_languages: Vec<String>,
    /// The dropped attributes whose values documents may contain until then.
    pub former_attributes: Vec<i32>,
    /// The ids of the attributes whose values are embedded.
    pub embed: Vec<i32>,
    /// The synonyms for full-text search.
    pub synonyms: Synonyms,
    /// Microseconds since 2000-01-01T00:00:00Z.
    pub created_at: i64,
    /// Microseconds since 2000-01-01T00:00:00Z.
    pub updated_at: i64,
    /// The table.
    pub table: Oid,
    /// The unique index on the keys of live records.
    pub key_index: Option<Oid>,
    /// The column for the key of a deleted record; `None` in a database that is not migrated.
    pub released_key: Option<i16>,
    /// The table of its history.
    pub history: Option<Oid>,
    /// The column of positions in its history; `None` in a database that is not migrated.
    pub history_position: Option<i16>,
    /// The index of its history on keys that records no longer have, if it has the original condition.
    pub ended_key_index: Option<Oid>,
    /// The table of series; `None` without a metric.
    pub series: Option<SeriesTable>,
    /// Whether it has a table of search documents. In a database that is not migrated it has none.
    pub has_documents: bool,
    /// The schema of pgvector as an SQL identifier; `None` without a table of vectors.
    pub vector_schema: Option<String>,
    /// The attributes in display order.
    pub attributes: Vec<Attribute>,
    pub(super) positions: HashMap<String, usize>,
    pub(super) share: Share,
    pub(super) plans: Cache<Vec<u8>, Rc<Plan>>,
    pub(super) conditions: Cache<String, Option<Rc<Condition>>>,
}

impl Template {
    pub(super) fn new(mut template: Template) -> Template {
        template.positions = template
            .attributes
            .iter()
            .enumerate()
            .map(|(position, it)| (it.slug.clone(), position))
            .collect();
        template.share = Share::of(template.bytes());
        template
    }

    pub(super) fn touch(&self) {
        self.share.touch();
    }

    /// The approximate size of the definition in memory.
    fn bytes(&self) -> usize {
        let options = |attribute: &Attribute| {
            let options = attribute.options.iter().flatten();
            options
                .map(|option| option.value.len() + option.label.len() + size_of::<ListOption>())
                .sum::<usize>()
        };
        // The slug is stored three times; the pointer is longer.
        let attribute = |attribute: &Attribute| {
            let texts = [&attribute.label, &attribute.default, &attribute.collation, &attribute.format]
                .into_iter()
                .flatten()
                .map(String::len)
                .sum::<usize>();
            size_of::<Attribute>()
                + 4 * attribute.slug.len()
                + attribute.collations.order.len()
                + attribute.collations.index.len()
                + texts
                + options(attribute)
                + 64
        };
        let attributes = self.attributes.iter().map(attribute).sum::<usize>();
        size_of::<Template>() + 256 + attributes + self.synonyms.bytes()
    }

    /// `project.template`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.project_slug, self.slug)
    }

    /// The qualified SQL name of the table. Slugs contain no quotes.
    pub fn table_sql(&self) -> String {
        table_sql(&self.project_slug, &self.slug)
    }

    /// The position of an attribute in the template.
    pub fn position(&self, slug: &str) -> Option<usize> {
        self.positions.get(slug).copied()
    }

    /// The attributes whose values are embedded, in their order.
    pub fn embedded(&self) -> impl Iterator<Item = &Attribute> {
        self.embed.iter().filter_map(|id| self.attributes.iter().find(|attribute| attribute.id == *id))
    }

    /// The attribute shown for a record: `display`, or else the first string.
    pub fn display_slug(&self) -> Option<&str> {
        self.display.as_deref().or_else(|| {
            let is_string = |attribute: &&Attribute| attribute.kind == AttributeType::String;
            self.attributes.iter().find(is_string).map(|attribute| attribute.slug.as_str())
        })
    }

    /// The id of that attribute.
    pub fn name_attribute(&self) -> Option<i32> {
        let position = self.display_slug().and_then(|slug| self.position(slug))?;
        Some(self.attributes[position].id)
    }
}
