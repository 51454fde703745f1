//! The interface between filters and templates.

use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json;
use crate::value::collation::Collations;
use crate::value::list_option::ListOption;
use serde_json::value::RawValue;
use std::rc::Rc;

/// How conditions identify attributes. Standard fields always have their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttributeKey {
    /// By its slug.
    #[default]
    Slug,
    /// By its number, as a string, which a rename does not change.
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

/// The properties of an attribute that filters use.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'s> {
    /// Its id.
    pub id: i32,
    /// The column's name.
    pub slug: &'s str,
    /// Its type.
    pub kind: AttributeType,
    /// Whether its column has the indexes of [`crate::define::ddl::indexes`].
    pub indexed: bool,
    /// The options of a list.
    pub options: Option<&'s [ListOption]>,
    /// The collations of its sorts and of its index.
    pub collations: &'s Collations,
}

/// A template from the caller's view.
pub trait Schema {
    /// Its id.
    fn id(&self) -> i32;

    /// Its slug.
    fn slug(&self) -> &str;

    /// `project.template`, for messages.
    fn full_name(&self) -> String;

    /// The quoted name of the table with its schema.
    fn table(&self) -> String;

    /// Its attributes.
    fn attributes(&self) -> Box<dyn Iterator<Item = Attribute<'_>> + '_>;

    /// The target template of a reference; `None` if the caller cannot see it.
    fn target(&self, attribute: i32) -> Option<Rc<dyn Schema>>;

    /// The SQL condition for rows that are visible to the caller, for a table with this alias; `None` if all rows are. The
    /// renderer adds it through references. For the filtered template, its caller must add it.
    fn visible(&self, alias: &str) -> Option<String>;

    /// The number of conditions through references in that condition.
    fn visible_through(&self) -> usize {
        0
    }

    /// The display attribute of records: by default the first text.
    fn display(&self) -> Option<Attribute<'_>> {
        self.attributes().find(|attribute| attribute.kind == AttributeType::String)
    }

    /// The attribute of this name.
    fn attribute(&self, key: AttributeKey, name: &str) -> Option<Attribute<'_>> {
        match key {
            AttributeKey::Slug => self.attributes().find(|attribute| attribute.slug == name),
            AttributeKey::Id => {
                // Only the canonical form: 012 and +12 are rejected.
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
