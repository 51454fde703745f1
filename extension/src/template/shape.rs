//! Template → JSON (docs/reference/values.md).

use super::{Attribute, Template, catalog};
use crate::json::write_string;
use crate::value::time;

impl Template {
    /// The attribute shown for a record: the one chosen, else the first string.
    pub fn display_slug(&self) -> Option<&str> {
        self.display.as_deref().or_else(|| {
            let is_string = |attribute: &&Attribute| attribute.kind == super::AttributeType::String;
            self.attributes.iter().find(is_string).map(|attribute| attribute.slug.as_str())
        })
    }

    /// `{id, slug, label, project, display, language, embed, attributes, created_at, updated_at}`.
    pub fn to_json(&self) -> String {
        self.to_json_with(&|target| catalog::by_id(target).map(|target| target.slug.clone()))
    }

    /// The same, where the slugs of the targets of references are known.
    pub(super) fn to_json_with(&self, slug_of: &dyn Fn(i32) -> Option<String>) -> String {
        let mut out = format!("{{\"id\":\"{}\",\"slug\":\"{}\",\"label\":", self.id, self.slug);
        write_string(&mut out, self.label.as_deref().unwrap_or(&self.slug));
        out.push_str(",\"project\":");
        write_string(&mut out, &self.project_slug);
        out.push_str(",\"display\":");
        match self.display_slug() {
            Some(slug) => write_string(&mut out, slug),
            None => out.push_str("null"),
        }
        out.push_str(",\"language\":");
        write_string(&mut out, &self.language);
        out.push_str(",\"embed\":");
        write_embed(&mut out, self);
        out.push_str(",\"attributes\":[");
        for (position, attribute) in self.attributes.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            write_attribute(&mut out, attribute, slug_of);
        }
        out.push_str("],\"created_at\":\"");
        time::write_datetime(&mut out, self.created_at);
        out.push_str("\",\"updated_at\":\"");
        time::write_datetime(&mut out, self.updated_at);
        out.push_str("\"}");
        out
    }
}

fn write_embed(out: &mut String, template: &Template) {
    let slugs: Vec<String> = template.embedded().map(|attribute| format!("\"{}\"", attribute.slug)).collect();
    if slugs.is_empty() {
        out.push_str("null");
    } else {
        out.push_str(&format!("[{}]", slugs.join(",")));
    }
}

fn write_attribute(out: &mut String, attribute: &Attribute, slug_of: &dyn Fn(i32) -> Option<String>) {
    out.push_str(&format!(
        "{{\"id\":\"{}\",\"slug\":\"{}\",\"type\":\"{}\",\"label\":",
        attribute.id,
        attribute.slug,
        attribute.kind.name()
    ));
    write_string(out, attribute.label.as_deref().unwrap_or(&attribute.slug));
    out.push_str(&format!(",\"required\":{},\"indexed\":{}", attribute.required, attribute.indexed));
    if let Some(options) = &attribute.options {
        out.push_str(",\"options\":");
        out.push_str(&crate::value::list_option::to_json(options));
    }
    if let Some(target) = attribute.target {
        out.push_str(",\"template\":");
        match slug_of(target) {
            Some(slug) => write_string(out, &slug),
            None => out.push_str("null"),
        }
    }
    if let Some(default) = &attribute.default {
        out.push_str(",\"default\":");
        out.push_str(default);
    }
    out.push('}');
}
