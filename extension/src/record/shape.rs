//! Record → JSON, from the columns of [`super::statement::columns`].

use crate::access::{Action, Caller};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::postgres::datum;
use crate::template::{Attribute, Template};
use crate::value::slug::STANDARD_FIELDS;
use pgrx::pg_sys::Datum;
use std::fmt::Debug;
use std::rc::Rc;

/// The number of standard columns before the attributes.
pub const STANDARD_COLUMNS: usize = 5;

/// The columns of one record, in the order of [`super::statement::columns`].
pub type Columns<'a> = dyn Fn(usize) -> Option<Datum> + 'a;

/// Additional members of a record.
pub trait Addition: Debug {
    /// Appends the members, each after a comma.
    fn write(&self, out: &mut String, template: &Template, column: &Columns, projection: &Projection);

    /// Whether `write` runs statements.
    fn runs_statements(&self) -> bool;
}

/// The parts of a record in a response.
#[derive(Debug, Default)]
pub struct Projection {
    /// Standard fields in addition to the three that are always present; `None` for all.
    standard: Option<Vec<&'static str>>,
    /// Positions of attributes; `None` for all.
    attributes: Option<Vec<usize>>,
    /// The caller for `attribute_values`, which show only referenced records that are visible to this caller.
    pub verbose_for: Option<Caller>,
    /// Whether the entity tag is needed, if it must be computed from more than the response.
    pub wants_tag: bool,
    /// Additional members.
    addition: Option<Rc<dyn Addition>>,
    /// Whether the record has its version.
    pub has_version: bool,
    /// Only the id, for a caller that may write the record but not read it.
    only_id: bool,
}

impl Projection {
    /// Parses the names in `fields`. Unknown names are rejected.
    pub fn parse(
        caller: &Caller,
        template: &Template,
        fields: Option<&[String]>,
        verbose: bool,
    ) -> Result<Projection, Error> {
        let verbose_for = verbose.then(|| caller.clone());
        let Some(fields) = fields else { return Ok(Projection { verbose_for, ..Projection::default() }) };
        let (mut standard, mut attributes) = (Vec::new(), Vec::new());
        for (index, field) in fields.iter().enumerate() {
            if let Some(name) = STANDARD_FIELDS.into_iter().find(|name| name == field) {
                standard.push(name);
            } else if let Some(position) = template.position(field) {
                attributes.push(position);
            } else {
                let message = format!("{} has no field {field:?}", template.full_name());
                return Err(Error::at(Code::UnknownField, format!("/fields/{index}"), message)
                    .hint("Use slugs of attributes, or standard fields."));
            }
        }
        Ok(Projection {
            standard: Some(standard),
            attributes: Some(attributes),
            verbose_for,
            ..Projection::default()
        })
    }

    /// The same projection, with or without the entity tag.
    pub fn with_tag(self, wants_tag: bool) -> Projection {
        Projection { wants_tag, ..self }
    }

    /// The same projection, with or without the member `version`.
    pub fn with_version(self, has_version: bool) -> Projection {
        Projection { has_version, ..self }
    }

    /// The same projection with additional members.
    pub fn with(self, addition: impl Addition + 'static) -> Projection {
        Projection { addition: Some(Rc::new(addition)), ..self }
    }

    /// The additional members.
    pub fn addition(&self) -> Option<&dyn Addition> {
        self.addition.as_deref()
    }

    /// Whether rendering a record runs statements.
    pub fn runs_statements(&self) -> bool {
        self.verbose_for.is_some() || self.addition().is_some_and(Addition::runs_statements)
    }

    /// The response to a write: the record, or only its id if the caller may not read it.
    pub fn of_written(caller: &Caller, template: &Template) -> Projection {
        Projection { only_id: caller.require(Action::Read, template).is_err(), ..Projection::default() }
    }

    /// Whether this is the default projection.
    pub fn is_whole(&self) -> bool {
        self.standard.is_none()
            && self.attributes.is_none()
            && self.verbose_for.is_none()
            && self.addition.is_none()
            && !self.has_version
            && !self.only_id
    }

    fn has_standard(&self, name: &str) -> bool {
        self.standard.as_ref().is_none_or(|names| names.contains(&name))
    }

    /// Whether the attribute at this position is included.
    pub fn has_attribute(&self, position: usize) -> bool {
        self.attributes.as_ref().is_none_or(|positions| positions.contains(&position))
    }
}

/// Appends a record without its closing brace, so that more members can follow.
pub fn write_open(out: &mut String, template: &Template, column: &Columns, projection: &Projection) {
    out.push_str("{\"id\":\"");
    write_uuid(out, column(0));
    if projection.only_id {
        out.push('"');
        return;
    }
    if projection.has_standard("template_id") {
        out.push_str("\",\"template_id\":\"");
        out.push_str(&template.id_text);
    }
    out.push_str("\",\"template_slug\":\"");
    out.push_str(&template.slug);
    out.push_str("\",\"external_key\":");
    match column(1) {
        Some(key) => datum::with_text(key, |key| write_string(out, key)),
        None => out.push_str("null"),
    }
    for (name, position) in [("created_at", 2), ("updated_at", 3), ("deleted_at", 4)] {
        if projection.has_standard(name) {
            out.push_str(",\"");
            out.push_str(name);
            out.push_str("\":");
            write_value(out, AttributeType::DateTime, column(position));
        }
    }
    out.push_str(",\"attributes\":{");
    let mut first = true;
    for (position, attribute) in template.attributes.iter().enumerate() {
        if projection.has_attribute(position) {
            write_name(out, attribute, &mut first);
            write_value(out, attribute.kind, column(STANDARD_COLUMNS + position));
        }
    }
    out.push('}');
}

/// Appends `"slug":`, after a comma except for the first.
pub fn write_name(out: &mut String, attribute: &Attribute, first: &mut bool) {
    if !std::mem::take(first) {
        out.push(',');
    }
    // Slugs need no escaping.
    out.push('"');
    out.push_str(&attribute.slug);
    out.push_str("\":");
}

/// Appends the value of a column of this type.
pub fn write_value(out: &mut String, kind: AttributeType, value: Option<Datum>) {
    let Some(value) = value else {
        out.push_str("null");
        return;
    };
    kind.write_json(out, value);
}

/// Appends an id.
pub fn write_uuid(out: &mut String, value: Option<Datum>) {
    if let Some(value) = value {
        let mut text = uuid::Uuid::encode_buffer();
        out.push_str(datum::read_uuid(value).hyphenated().encode_lower(&mut text));
    }
}
