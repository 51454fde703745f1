//! The JSON and the entity tag of a record in a response.

use super::shape::{self, Columns, Projection};
use super::version;
use crate::template::Template;

/// A record in a response.
#[derive(Debug)]
pub struct Rendered {
    /// The JSON.
    pub json: String,
    tag: TagSource,
}

/// The source of the entity tag.
#[derive(Debug)]
enum TagSource {
    /// The JSON, which shows the complete record.
    Json,
    /// A computed tag.
    Computed(String),
    /// No tag: it was not requested, or only the id is visible to the caller.
    None,
}

impl Rendered {
    /// A record from its columns.
    pub fn of(template: &Template, columns: &Columns, projection: &Projection) -> Rendered {
        let json = render(template, columns, projection);
        let tag = match projection {
            _ if projection.is_whole() => TagSource::Json,
            _ if !projection.wants_tag => TagSource::None,
            Projection { verbose_for, .. } => {
                let version = version_of(template, columns);
                TagSource::Computed(match verbose_for {
                    Some(_) => version::with_response(&version, &json),
                    None => version,
                })
            }
        };
        Rendered { json, tag }
    }

    /// The entity tag of the response.
    pub fn tag(&self) -> Option<String> {
        match &self.tag {
            TagSource::Json => Some(version::of(&self.json)),
            TagSource::Computed(tag) => Some(tag.clone()),
            TagSource::None => None,
        }
    }
}

/// A record as JSON.
pub fn render(template: &Template, columns: &Columns, projection: &Projection) -> String {
    let mut out = String::with_capacity(256 + 32 * template.attributes.len());
    shape::write_open(&mut out, template, columns, projection);
    if let Some(caller) = &projection.verbose_for {
        super::verbose::write(&mut out, caller, template, columns, projection);
    }
    if let Some(addition) = projection.addition() {
        addition.write(&mut out, template, columns, projection);
    }
    if projection.has_version {
        out.push_str(",\"version\":\"");
        out.push_str(&version_of(template, columns));
        out.push('"');
    }
    out.push('}');
    out
}

/// The version of a record.
pub fn version_of(template: &Template, columns: &Columns) -> String {
    version::of(&render(template, columns, &Projection::default()))
}
