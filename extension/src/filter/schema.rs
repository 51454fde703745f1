//! The schema of a template, as filters see it: the interface between this pure part and the catalog.

use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json;
use crate::value::collation::Collations;
use crate::value::list_option::ListOption;
use serde_json::value::RawValue;
use std::rc::Rc;

/// How a condition names an attribute. Standard fields go by their names either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttributeKey {
    /// By its slug.
    #[default]
    Slug,
    /// By its number, written as a string; it survives a rename.
    Id,
}

impl AttributeKey {
    /// Reads the member `attribute_key` of a request; null means the default.
    pub fn parse(value: &RawValue, pointer: &str) -> Result<AttributeKey, Error> {
        if json::is_null(value) {
            return Ok(AttributeKey::default());
        }
        match json::string_at(value, pointer)?.as_deref() {
            Some("slug") => Ok(AttributeKey::Slug),
            Some("id") => Ok(AttributeKey::Id),
            _ => Err(Error::at(Code::InvalidValue, pointer, "must be \"slug\" or \"id\"")),
        }
    }
}

/// An attribute, as far as a filter is concerned with it.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'s> {
    /// Its number.
    pub id: i32,
    /// The column's name.
    pub slug: &'s str,
    /// Its type.
    pub kind: AttributeType,
    /// Whether its column has the indexes of [`crate::define::ddl::indexes`].
    pub indexed: bool,
    /// A list's only values.
    pub options: Option<&'s [ListOption]>,
    /// What orders its texts, and what its index.
    pub collations: &'s Collations,
}

/// A template as one caller sees it.
pub trait Schema {
    /// Its number.
    fn id(&self) -> i32;

    /// Its slug.
    fn slug(&self) -> &str;

    /// `project.template`, for people.
    fn full_name(&self) -> String;

    /// The table, as SQL names it, with its schema.
    fn table(&self) -> String;

    /// Its attributes.
    fn attributes(&self) -> Box<dyn Iterator<Item = Attribute<'_>> + '_>;

    /// The template that the reference attribute of this number points to, or `None` when the caller may not read it:
    /// nothing of it can be named then, as if it did not exist.
    fn target(&self, attribute: i32) -> Option<Rc<dyn Schema>>;

    /// The condition under which the caller sees a row, in SQL over the table under this alias; `None` when every row.
    /// It is put into statements as it is. The caller of the renderer adds that of the filtered template itself.
    fn visible(&self, alias: &str) -> Option<String>;

    /// How many conditions behind references that condition has.
    fn visible_behind(&self) -> usize {
        0
    }

    /// The attribute that people see in place of a record: by default the first text.
    fn display(&self) -> Option<Attribute<'_>> {
        self.attributes().find(|attribute| attribute.kind == AttributeType::String)
    }

    /// The attribute of this name.
    fn attribute(&self, key: AttributeKey, name: &str) -> Option<Attribute<'_>> {
        match key {
            AttributeKey::Slug => self.attributes().find(|attribute| attribute.slug == name),
            AttributeKey::Id => {
                // Only the canonical form: 012 and +12 are not numbers.
                let id = name.parse::<i32>().ok().filter(|id| id.to_string() == name)?;
                self.attributes().find(|attribute| attribute.id == id)
            }
        }
    }
}

impl std::fmt::Debug for dyn Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full_name())
    }
}
