//! Templates: the definition of a table.

/// The session's cache of templates.
pub mod catalog;
/// The definition of an attribute.
pub mod definition;
/// Dependent objects of others that block a change.
pub mod in_use;
/// Existing indexes.
pub mod index;
/// Cached statements and conditions.
mod kept;
/// A template read from the state.
pub mod load;
/// Template → JSON.
pub mod shape;

use crate::attribute_type::{AttributeType, Rules};
use crate::postgres::condition::Condition;
use crate::postgres::datum::Argument;
use crate::postgres::direct_access;
use crate::postgres::guard::as_owner;
use crate::postgres::own_statement;
use crate::postgres::spi::{Connection, Plan, Rows, Snapshot, connected};
use crate::value::list_option::ListOption;
pub use crate::value::standard_column as column;
use crate::value::table_name::table_sql;
use kept::{Kept, Share};
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
    /// The column's number.
    pub column: i16,
}

impl Attribute {
    /// Its settings for values, beside the type.
    pub fn rules(&self) -> Rules<'_> {
        Rules { pointer: &self.pointer, options: self.options.as_deref(), target: self.target }
    }

    /// What people read in place of a list's value.
    pub fn label_of<'a>(&'a self, value: &'a str) -> &'a str {
        let option = self.options.iter().flatten().find(|option| option.value == value);
        option.map_or(value, |option| &option.label)
    }
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
    /// The languages of stems that documents may contain until a job has rewritten them all.
    pub former_languages: Vec<String>,
    /// The dropped attributes of which documents may hold texts until then.
    pub former_attributes: Vec<i32>,
    /// The numbers of the attributes whose texts are embedded.
    pub embed: Vec<i32>,
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
    /// Whether there is a table of what is searched: a state not yet migrated has none.
    pub has_documents: bool,
    /// Where the type of its vectors is, as SQL names it; none where it has no table of them.
    pub vector_schema: Option<String>,
    /// In the order in which they are shown.
    pub attributes: Vec<Attribute>,
    positions: HashMap<String, usize>,
    share: Share,
    plans: Kept<Vec<u8>, Rc<Plan>>,
    conditions: Kept<String, Option<Rc<Condition>>>,
}

impl Template {
    fn new(mut template: Template) -> Template {
        template.positions = template
            .attributes
            .iter()
            .enumerate()
            .map(|(position, it)| (it.slug.clone(), position))
            .collect();
        template.share = Share::of(template.bytes());
        template
    }

    fn touch(&self) {
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
            let texts =
                [&attribute.label, &attribute.default].into_iter().flatten().map(String::len).sum::<usize>();
            size_of::<Attribute>() + 4 * attribute.slug.len() + texts + options(attribute) + 64
        };
        size_of::<Template>() + 256 + self.attributes.iter().map(attribute).sum::<usize>()
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

    /// The cached statement with this text, prepared at its first use. PostgreSQL plans it again when the table
    /// changes; it is dropped with the template.
    pub fn plan(&self, sql: &str, parameters: impl FnOnce() -> Vec<Oid>) -> Rc<Plan> {
        self.plan_of(sql.as_bytes(), || sql.to_owned(), parameters)
    }

    /// The same for a statement that is known by less than its text, which then is written at its first use only.
    pub fn plan_of(
        &self,
        name: &[u8],
        sql: impl FnOnce() -> String,
        parameters: impl FnOnce() -> Vec<Oid>,
    ) -> Rc<Plan> {
        if let Some(plan) = self.plans.get(name) {
            return plan;
        }
        let plan = Rc::new(connected(|spi| spi.prepare(&sql(), &parameters())));
        self.plans.insert(name.to_owned(), Rc::clone(&plan));
        catalog::make_room();
        plan
    }

    /// Runs a kept statement that writes records of this template, in the name of a function that has checked its caller.
    pub fn write<'c>(&self, spi: &'c Connection, plan: &Plan, arguments: &[Argument]) -> Rows<'c> {
        own_statement::writing(self.table, || spi.run(plan, Snapshot::Latest, arguments))
    }

    /// A condition over the record `t`, prepared at its first use; none for one that looks into other tables too,
    /// and while direct access is switched off. Forgotten with the template, as the statements are.
    pub fn condition(&self, sql: &str) -> Option<Rc<Condition>> {
        direct_access::require().ok()?;
        if let Some(condition) = self.conditions.get(sql) {
            return condition;
        }
        let condition = as_owner(|| Condition::prepare(&self.table_sql(), sql)).map(Rc::new);
        self.conditions.insert(sql.to_owned(), condition.clone());
        catalog::make_room();
        condition
    }
}
