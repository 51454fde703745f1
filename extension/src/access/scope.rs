//! The scope of a grant: JSON → compiled filter. It does not depend on the caller: a condition through a reference applies
//! to every live target.

use crate::error::{Code, Error};
use crate::filter::check::{self, Settings};
use crate::filter::schema::Schema;
use crate::filter::{Filter, field, parse};
use crate::json::{self, pointer_step};
use crate::template::schema::Unrestricted;
use crate::template::{Template, catalog};
use serde_json::value::RawValue;
use std::rc::Rc;

/// Compiles a scope to a filter. Days are in UTC.
pub fn compile(template: &Template, scope: &str) -> Result<Filter, Error> {
    let raw: &RawValue = serde_json::from_str(scope)
        .map_err(|error| Error::new(Code::MalformedRequest, format!("scope cannot be read: {error}")))?;
    let template = catalog::by_id(template.id).ok_or_else(Error::not_found)?;
    let conditions = parse::scope(raw)?;
    if conditions.is_always() {
        return Err(Error::at(Code::InvalidValue, "", "a scope needs at least one condition")
            .hint("Omit the scope to grant the privileges on all records."));
    }
    check::check(&conditions, &Unrestricted(template), Settings::default())
}

/// Rejects a scope of a project that uses attributes, because future templates may not have them.
pub fn require_standard_fields(filter: &Filter) -> Result<(), Error> {
    match filter.uses().into_iter().find(|used| used.attribute.is_some()) {
        None => Ok(()),
        Some(used) => {
            let message = format!(
                "the scope of a project may use standard fields only, but {:?} is an attribute",
                used.field
            );
            Err(Error::at(Code::UnknownField, "/scope", message)
                .hint("Grant on each template: keyed.grant_access(role, 'project.template', …)."))
        }
    }
}

/// Renames an attribute in a scope: in fields of its own template and of referenced ones.
pub fn rename(template: &Rc<Template>, scope: &str, attribute: i32, new: &str) -> Result<String, Error> {
    let raw: &RawValue = serde_json::from_str(scope)
        .map_err(|error| Error::new(Code::MalformedRequest, format!("scope cannot be read: {error}")))?;
    let mut out = String::with_capacity(scope.len() + 16);
    let schema = Unrestricted(Rc::clone(template));
    rewrite(raw, &mut out, &|name| renamed(&schema, name, attribute, new))?;
    Ok(out)
}

/// Copies JSON and maps every member `field`.
pub fn rewrite(raw: &RawValue, out: &mut String, field: &dyn Fn(&str) -> String) -> Result<(), Error> {
    pgrx::check_for_interrupts!();
    match raw.get().as_bytes().first() {
        Some(b'[') => {
            out.push('[');
            for (position, element) in json::array_at(raw, "")?.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                rewrite(element, out, field)?;
            }
            out.push(']');
        }
        Some(b'{') => {
            out.push('{');
            for (position, (name, value)) in json::object_at(raw, "")?.0.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                json::write_string(out, &name);
                out.push(':');
                match name.as_ref() {
                    "field" => {
                        let text = json::text_at(value, &format!("/{}", pointer_step(&name)))?;
                        json::write_string(out, &field(&text));
                    }
                    // A value is never a field name.
                    "value" => out.push_str(value.get()),
                    _ => rewrite(value, out, field)?,
                }
            }
            out.push('}');
        }
        _ => out.push_str(raw.get()),
    }
    Ok(())
}

/// The path of a field after an attribute in it is renamed.
pub fn renamed(schema: &dyn Schema, name: &str, attribute: i32, new: &str) -> String {
    let Ok((path, last)) = field::find(schema, Default::default(), name, "") else { return name.to_owned() };
    let mut names: Vec<&str> =
        path.iter().map(|step| if step.attribute == attribute { new } else { &step.slug }).collect();
    let kept = name.rsplit('.').next().unwrap_or(name);
    names.push(match &last {
        field::Field::Column(column) if column.attribute() == Some(attribute) => new,
        _ => kept,
    });
    names.join(".")
}
