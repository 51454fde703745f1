//! Renames an attribute in a view's body: in fields of its own template and of referenced ones.

use crate::access::visibility::CallerSchema;
use crate::access::{Caller, scope};
use crate::error::Error;
use crate::json;
use crate::json::write_string;
use crate::template::Template;
use serde_json::value::RawValue;
use std::rc::Rc;

/// Rewrites a body. A body that refers to attributes by id does not change.
pub(crate) fn rename(
    template: &Rc<Template>,
    body: &str,
    attribute: i32,
    new: &str,
) -> Result<String, Error> {
    let members = json::object(body)?.0;
    let by_id = |(name, value): &(_, &RawValue)| name == "attribute_key" && value.get() == "\"id\"";
    if members.iter().any(by_id) {
        return Ok(body.to_owned());
    }
    let schema = CallerSchema::new(&Caller::administrator(), Rc::clone(template));
    let field = |name: &str| scope::renamed(&schema, name, attribute, new);
    let mut out = String::from("{");
    for (position, (name, value)) in members.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_string(&mut out, &name);
        out.push(':');
        match name.as_ref() {
            "sort" | "fields" | "facets" => names(value, &mut out, &field)?,
            _ => scope::rewrite(value, &mut out, &field)?,
        }
    }
    out.push('}');
    Ok(out)
}

/// Names separated by commas, or an array of names and of objects with a `field`.
fn names(value: &RawValue, out: &mut String, field: &dyn Fn(&str) -> String) -> Result<(), Error> {
    let one = |name: &str| match name.strip_prefix('-') {
        Some(name) => format!("-{}", field(name)),
        None => field(name),
    };
    if let Some(text) = json::string_at(value, "")? {
        let names: Vec<String> = text.split(',').map(|name| one(name.trim())).collect();
        write_string(out, &names.join(","));
        return Ok(());
    }
    if !value.get().starts_with('[') {
        return scope::rewrite(value, out, field);
    }
    out.push('[');
    for (position, element) in json::array_at(value, "")?.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        match json::string_at(element, "")? {
            Some(name) => write_string(out, &one(&name)),
            None => scope::rewrite(element, out, field)?,
        }
    }
    out.push(']');
    Ok(())
}
