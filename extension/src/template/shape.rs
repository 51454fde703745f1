//! Template → JSON (docs/reference/values.md).

use super::{Attribute, Template, catalog};
use crate::json_write::{raw, to_json};
use crate::value::list_option::ListOption;
use crate::value::synonym_set::SynonymSet;
use crate::value::time;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct ShownTemplate<'a> {
    id: String,
    slug: &'a str,
    label: &'a str,
    project: &'a str,
    display: Option<&'a str>,
    language: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    collation: Option<&'a str>,
    embed: Option<Vec<&'a str>>,
    synonyms: &'a [SynonymSet],
    attributes: Vec<ShownAttribute<'a>>,
    created_at: String,
    updated_at: String,
}

#[derive(Serialize)]
struct ShownAttribute<'a> {
    id: String,
    slug: &'a str,
    r#type: &'static str,
    label: &'a str,
    required: bool,
    indexed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    collation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a [ListOption]>,
    /// The target of a reference; null if it does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'a RawValue>,
}

impl Template {
    /// `{id, slug, label, project, display, language, collation, embed, synonyms, attributes, created_at, updated_at}`.
    pub fn to_json(&self) -> String {
        self.to_json_with(&|target| catalog::by_id(target).map(|target| target.slug.clone()))
    }

    /// The same, with a function that returns the slug of a reference's target.
    pub(super) fn to_json_with(&self, slug_of: &dyn Fn(i32) -> Option<String>) -> String {
        let embedded: Vec<&str> = self.embedded().map(|attribute| attribute.slug.as_str()).collect();
        to_json(&ShownTemplate {
            id: self.id.to_string(),
            slug: &self.slug,
            label: self.label.as_deref().unwrap_or(&self.slug),
            project: &self.project_slug,
            display: self.display_slug(),
            language: &self.language,
            collation: self.collation.as_deref(),
            embed: (!embedded.is_empty()).then_some(embedded),
            synonyms: self.synonyms.sets(),
            attributes: self.attributes.iter().map(|attribute| shown(attribute, slug_of)).collect(),
            created_at: time::datetime(self.created_at),
            updated_at: time::datetime(self.updated_at),
        })
    }
}

fn shown<'a>(attribute: &'a Attribute, slug_of: &dyn Fn(i32) -> Option<String>) -> ShownAttribute<'a> {
    ShownAttribute {
        id: attribute.id.to_string(),
        slug: &attribute.slug,
        r#type: attribute.kind.name(),
        label: attribute.label.as_deref().unwrap_or(&attribute.slug),
        required: attribute.required,
        indexed: attribute.indexed,
        collation: attribute.collation.as_deref(),
        format: attribute.format.as_deref().and_then(raw),
        options: attribute.options.as_deref(),
        template: attribute.target.map(slug_of),
        default: attribute.default.as_deref().and_then(raw),
    }
}
