//! A template and its attributes.

use super::kept::{Kept, Share};
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

/// An attribute: a column.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its number, stable under renames.
    pub id: i32,
    /// The column's name.
    pub slug: String,
    /// Its place in a request body.
    pub pointer: String,
    /// Its type.
    pub kind: AttributeType,
    /// What people read, when it differs from the slug.
    pub label: Option<String>,
    /// Whether the column is NOT NULL.
    pub required: bool,
    /// Whether filters and sorts find an index.
    pub indexed: bool,
    /// A list's only values.
    pub options: Option<Vec<ListOption>>,
    /// A reference's target template.
    pub target: Option<i32>,
    /// The default as JSON text.
    pub default: Option<String>,
    /// How its values are shown, as JSON text.
    pub format: Option<String>,
    /// The order of its texts; none for that of the template.
    pub collation: Option<String>,
    /// The column's number.
    pub column: i16,
    /// What orders its texts, and what its index.
    pub collations: Collations,
    /// The number of the first; 0 for that of the column.
    pub order: Oid,
}

impl Attribute {
    /// Its settings for values, beside the type.
    pub fn rules(&self) -> Rules<'_> {
        let (options, target) = (self.options.as_deref(), self.target);
        Rules { pointer: &self.pointer, options, target, numbers_as_strings: false }
    }

    /// What people read in place of a list's value.
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
    /// The number of the column that is numbered.
    pub(super) const ID: i16 = 4;
}

/// A template: a table.
#[derive(Default)]
pub struct Template {
    /// Its number, part of every record's id.
    pub id: i32,
    /// The same number as text, which every record carries.
    pub id_text: String,
    /// The number of its project.
    pub project_id: i32,
    /// The schema.
    pub project_slug: String,
    /// The table's name.
    pub slug: String,
    /// What people read, when it differs from the slug.
    pub label: Option<String>,
    /// The attribute shown for a record.
    pub display: Option<String>,
    /// The text-search configuration.
    pub language: String,
    /// The order of its texts; none in a state that is not yet migrated.
    pub collation: Option<String>,
    /// The languages of stems that documents may contain until a job has rewritten them all.
    pub former_languages: Vec<String>,
    /// The dropped attributes of which documents may hold texts until then.
    pub former_attributes: Vec<i32>,
    /// The numbers of the attributes whose texts are embedded.
    pub embed: Vec<i32>,
    /// The words that stand for others in searches.
    pub synonyms: Synonyms,
    /// Microseconds since 2000-01-01T00:00:00Z.
    pub created_at: i64,
    /// Microseconds since 2000-01-01T00:00:00Z.
    pub updated_at: i64,
    /// The table.
    pub table: Oid,
    /// The unique index on the keys of live records.
    pub key_index: Option<Oid>,
    /// The column of the key that a deleted record had; none where the state is not yet migrated.
    pub released_key: Option<i16>,
    /// The table of its history.
    pub history: Option<Oid>,
    /// The column of the positions of its history in the feed of changes; none where the state is not yet migrated.
    pub history_position: Option<i16>,
    /// The table of the series of its metrics; none where it has no metric.
    pub series: Option<SeriesTable>,
    /// Whether there is a table of what is searched: a state not yet migrated has none.
    pub has_documents: bool,
    /// Where the type of its vectors is, as SQL names it; none where it has no table of them.
    pub vector_schema: Option<String>,
    /// In the order in which they are shown.
    pub attributes: Vec<Attribute>,
    pub(super) positions: HashMap<String, usize>,
    pub(super) share: Share,
    pub(super) plans: Kept<Vec<u8>, Rc<Plan>>,
    pub(super) conditions: Kept<String, Option<Rc<Condition>>>,
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

    /// About what the definition takes of memory.
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

    /// `project.template`, for people.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.project_slug, self.slug)
    }

    /// The table, as SQL names it. Slugs hold no quote, so quoting is enough.
    pub fn table_sql(&self) -> String {
        table_sql(&self.project_slug, &self.slug)
    }

    /// The position of an attribute in the template.
    pub fn position(&self, slug: &str) -> Option<usize> {
        self.positions.get(slug).copied()
    }

    /// The attributes whose texts are embedded, in their order.
    pub fn embedded(&self) -> impl Iterator<Item = &Attribute> {
        self.embed.iter().filter_map(|id| self.attributes.iter().find(|attribute| attribute.id == *id))
    }

    /// The attribute shown for a record: the one chosen, else the first string.
    pub fn display_slug(&self) -> Option<&str> {
        self.display.as_deref().or_else(|| {
            let is_string = |attribute: &&Attribute| attribute.kind == AttributeType::String;
            self.attributes.iter().find(is_string).map(|attribute| attribute.slug.as_str())
        })
    }

    /// The number of the attribute that stands for a record.
    pub fn name_attribute(&self) -> Option<i32> {
        let position = self.display_slug().and_then(|slug| self.position(slug))?;
        Some(self.attributes[position].id)
    }
}
