//! In-memory templates for tests: works → artists → countries → unions.

use super::super::schema::{Attribute, Schema};
use crate::attribute_type::AttributeType;
use crate::value::collation::{Collations, name_in_sql};
use crate::value::list_option::ListOption;
use std::rc::Rc;

/// An in-memory template.
pub(super) struct Memory {
    id: i32,
    slug: &'static str,
    columns: Vec<Column>,
    visible: Option<&'static str>,
}

struct Column {
    id: i32,
    slug: &'static str,
    kind: AttributeType,
    indexed: bool,
    options: Option<Vec<ListOption>>,
    collations: Collations,
    target: Option<Rc<dyn Schema>>,
}

impl Schema for Memory {
    fn id(&self) -> i32 {
        self.id
    }

    fn slug(&self) -> &str {
        self.slug
    }

    fn full_name(&self) -> String {
        format!("crm.{}", self.slug)
    }

    fn table(&self) -> String {
        format!("\"crm\".\"{}\"", self.slug)
    }

    fn attributes(&self) -> Box<dyn Iterator<Item = Attribute<'_>> + '_> {
        Box::new(self.columns.iter().map(|column| Attribute {
            id: column.id,
            slug: column.slug,
            kind: column.kind,
            indexed: column.indexed,
            options: column.options.as_deref(),
            collations: &column.collations,
        }))
    }

    fn target(&self, attribute: i32) -> Option<Rc<dyn Schema>> {
        self.columns.iter().find(|column| column.id == attribute)?.target.clone()
    }

    fn visible(&self, alias: &str) -> Option<String> {
        self.visible.map(|condition| condition.replace("$", alias))
    }
}

fn column(id: i32, slug: &'static str, kind: AttributeType) -> Column {
    Column { id, slug, kind, indexed: false, options: None, collations: Collations::default(), target: None }
}

/// Collations of a text whose index was not rebuilt yet.
fn stale_index() -> Collations {
    Collations { order: name_in_sql("und"), index: name_in_sql("sv") }
}

fn reference(id: i32, slug: &'static str, target: Option<Rc<dyn Schema>>) -> Column {
    Column { indexed: true, target, ..column(id, slug, AttributeType::Reference) }
}

/// Works, with every type of attribute. The target of `owner` is invisible to the caller.
pub(crate) fn works() -> Rc<dyn Schema> {
    let option = |value: &str| ListOption { value: value.to_owned(), label: value.to_uppercase() };
    Rc::new(Memory {
        id: 7,
        slug: "works",
        columns: vec![
            column(11, "note", AttributeType::String),
            Column { indexed: true, ..column(12, "name", AttributeType::String) },
            column(13, "price", AttributeType::Number),
            column(14, "weight", AttributeType::Metric),
            column(15, "humidity", AttributeType::Metric),
            column(16, "tags", AttributeType::List),
            Column {
                options: Some(vec![option("oil"), option("ink")]),
                ..column(17, "media", AttributeType::List)
            },
            Column { indexed: true, ..column(18, "made", AttributeType::Date) },
            column(19, "seen", AttributeType::DateTime),
            reference(20, "artist", Some(artists())),
            reference(21, "owner", None),
            Column { indexed: true, ..column(22, "framed", AttributeType::Boolean) },
        ],
        visible: Some("$.name <> 'a secret'"),
    })
}

fn artists() -> Rc<dyn Schema> {
    Rc::new(Memory {
        id: 8,
        slug: "artists",
        columns: vec![
            Column { indexed: true, collations: stale_index(), ..column(31, "name", AttributeType::String) },
            column(32, "born", AttributeType::Date),
            reference(33, "country", Some(countries())),
        ],
        visible: None,
    })
}

fn countries() -> Rc<dyn Schema> {
    let unions = Memory {
        id: 10,
        slug: "unions",
        columns: vec![column(51, "name", AttributeType::String), reference(52, "seat", None)],
        visible: None,
    };
    Rc::new(Memory {
        id: 9,
        slug: "countries",
        columns: vec![
            column(41, "name", AttributeType::String),
            reference(42, "union", Some(Rc::new(unions))),
        ],
        visible: Some("$.external_key <> 'x' or $.external_key is null"),
    })
}
