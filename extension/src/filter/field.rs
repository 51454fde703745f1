//! Resolves the field of a condition to a column and the references before it.

use super::schema::{Attribute, AttributeKey, Schema};
use crate::attribute_type::{AttributeType, Family};
use crate::error::{Code, Error};
use crate::value::collation::{Collations, clause};
use crate::value::operand::quoted;
use crate::value::quote::identifier;
use std::rc::Rc;

/// The maximum number of references in a field. `work.artist.country.name` has three.
pub const MAX_REFERENCES: usize = 3;

/// A reference in a field.
#[derive(Clone, Debug)]
pub struct Step {
    /// The id of the reference attribute.
    pub attribute: i32,
    /// Its slug.
    pub slug: String,
    /// The target template.
    pub target: Rc<dyn Schema>,
}

/// The field of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// The id of the template, which is a constant.
    TemplateId,
    /// The slug of the template, also a constant.
    TemplateSlug,
    /// A column.
    Column(Column),
}

/// A column that holds a standard field or an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// `id`, the primary key.
    Id,
    /// `external_key`, which is never empty.
    ExternalKey,
    /// `created_at`.
    CreatedAt,
    /// `updated_at`.
    UpdatedAt,
    /// `deleted_at`.
    DeletedAt,
    /// An attribute.
    Attribute {
        /// The id of the attribute.
        id: i32,
        /// Its slug, the column's name.
        slug: String,
        /// Its type.
        kind: AttributeType,
        /// Whether it is indexed.
        indexed: bool,
        /// The collations of its sorts and of its index.
        collations: Collations,
    },
}

impl From<Attribute<'_>> for Column {
    fn from(attribute: Attribute<'_>) -> Column {
        let Attribute { id, slug, kind, indexed, collations, .. } = attribute;
        Column::Attribute { id, slug: slug.to_owned(), kind, indexed, collations: collations.clone() }
    }
}

impl Column {
    /// Its name among the fields of a template.
    pub fn name(&self) -> &str {
        match self {
            Column::Id => "id",
            Column::ExternalKey => "external_key",
            Column::CreatedAt => "created_at",
            Column::UpdatedAt => "updated_at",
            Column::DeletedAt => "deleted_at",
            Column::Attribute { slug, .. } => slug,
        }
    }

    /// The id of the attribute, if it is one.
    pub fn attribute(&self) -> Option<i32> {
        match self {
            Column::Attribute { id, .. } => Some(*id),
            _ => None,
        }
    }

    /// The SQL name in the table with this alias.
    pub fn sql(&self, alias: &str) -> String {
        match self {
            Column::Attribute { slug, .. } => format!("{alias}.{}", identifier(slug)),
            standard => format!("{alias}.{}", standard.name()),
        }
    }

    /// The COLLATE clause of a sort; empty for types without collation and for keys, which are sorted by bytes.
    pub fn order(&self) -> String {
        match self {
            Column::Attribute { collations, .. } => clause(&collations.order),
            _ => String::new(),
        }
    }

    /// The attribute type, or the corresponding type of a standard field.
    pub fn kind(&self) -> AttributeType {
        match self {
            Column::Id => AttributeType::Reference,
            Column::ExternalKey => AttributeType::String,
            Column::CreatedAt | Column::UpdatedAt | Column::DeletedAt => AttributeType::DateTime,
            Column::Attribute { kind, .. } => *kind,
        }
    }

    /// The SQL type of its values; for a list, of its elements.
    pub fn value_type(&self) -> &'static str {
        match self {
            Column::Attribute { kind: AttributeType::List, .. } => AttributeType::String.column_type(),
            column => column.kind().column_type(),
        }
    }
}

impl Field {
    /// The family, which determines the operators.
    pub fn family(&self) -> Family {
        match self {
            Field::TemplateId | Field::TemplateSlug => Family::Template,
            Field::Column(Column::Id) => Family::Id,
            Field::Column(Column::ExternalKey) => Family::Key,
            Field::Column(column) => column.kind().family(),
        }
    }

    /// The type name for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Field::Column(column @ Column::Attribute { .. }) => column.kind().name(),
            Field::Column(Column::CreatedAt | Column::UpdatedAt | Column::DeletedAt) => {
                AttributeType::DateTime.name()
            }
            Field::Column(Column::Id) => "the record's id",
            Field::Column(Column::ExternalKey) => "the record's key",
            Field::TemplateId | Field::TemplateSlug => "the record's template",
        }
    }
}

/// Finds a field in a template, or through references in another: `artist.country.name`.
pub fn find(
    root: &dyn Schema,
    key: AttributeKey,
    name: &str,
    pointer: &str,
) -> Result<(Vec<Step>, Field), Error> {
    let mut names: Vec<&str> = name.splitn(MAX_REFERENCES + 2, '.').collect();
    if names.len() > MAX_REFERENCES + 1 {
        let message = format!("a field may follow at most {MAX_REFERENCES} references");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    let last = names.pop().unwrap_or_default();
    let mut path: Vec<Step> = Vec::with_capacity(names.len());
    for step in names {
        let step = resolve_reference(owner(root, &path), key, step, pointer)?
            .ok_or_else(|| unknown(root, owner(root, &path), key, name, pointer))?;
        path.push(step);
    }
    let owner = owner(root, &path);
    let field = standard(last)
        .or_else(|| owner.attribute(key, last).map(|attribute| Field::Column(attribute.into())))
        .ok_or_else(|| unknown(root, owner, key, name, pointer))?;
    Ok((path, field))
}

/// The template at the end of a path.
pub fn owner<'s>(root: &'s dyn Schema, path: &'s [Step]) -> &'s dyn Schema {
    path.last().map_or(root, |step| &*step.target)
}

fn standard(name: &str) -> Option<Field> {
    Some(match name {
        "template_id" => Field::TemplateId,
        "template_slug" => Field::TemplateSlug,
        "id" => Field::Column(Column::Id),
        "external_key" => Field::Column(Column::ExternalKey),
        "created_at" => Field::Column(Column::CreatedAt),
        "updated_at" => Field::Column(Column::UpdatedAt),
        "deleted_at" => Field::Column(Column::DeletedAt),
        _ => return None,
    })
}

/// The reference with this name; `None` if the caller cannot see its target.
fn resolve_reference(
    owner: &dyn Schema,
    key: AttributeKey,
    name: &str,
    pointer: &str,
) -> Result<Option<Step>, Error> {
    let Some(attribute) = owner.attribute(key, name) else { return Ok(None) };
    if attribute.kind != AttributeType::Reference {
        let message = format!(
            "{} is of type {}, but only references have fields",
            attribute.slug,
            attribute.kind.name()
        );
        return Err(Error::at(Code::UnknownField, pointer, message));
    }
    let (attribute, slug) = (attribute.id, attribute.slug.to_owned());
    Ok(owner.target(attribute).map(|target| Step { attribute, slug, target }))
}

/// The error for a field that does not exist or that the caller cannot see.
fn unknown(root: &dyn Schema, owner: &dyn Schema, key: AttributeKey, name: &str, pointer: &str) -> Error {
    const MAX: usize = 30;
    let message = format!("{} has no field {}", root.full_name(), quoted(name));
    let mut names: Vec<String> = owner
        .attributes()
        .take(MAX + 1)
        .map(|attribute| match key {
            AttributeKey::Slug => attribute.slug.to_owned(),
            AttributeKey::Id => attribute.id.to_string(),
        })
        .collect();
    if names.len() > MAX {
        names[MAX] = "…".to_owned();
    }
    let what = if key == AttributeKey::Id { "attribute ids" } else { "attributes" };
    Error::at(Code::UnknownField, pointer, message).hint(format!(
        "Valid {what} of {}: {}. Refer to standard fields by name.",
        owner.full_name(),
        names.join(", ")
    ))
}
