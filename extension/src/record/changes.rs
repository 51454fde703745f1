//! The attributes of a request → checked changes, in the order of the template's attributes.

use crate::access::principal::Principal;
use crate::attribute_type::Rules;
use crate::error::{Code, Error, MAX_VIOLATIONS};
use crate::json;
use crate::template::Template;
use crate::value::change::{Change, Changes, Value};
use serde_json::value::RawValue;

/// Parses the `attributes` of a request. All errors are reported together. [`super::kept`] checks values that are valid
/// only if the record already has them.
pub fn parse<'a>(template: &Template, attributes: &'a RawValue) -> Result<Changes<'a>, Error> {
    parse_by(template, attributes, |position, raw, rules| {
        template.attributes[position].kind.parse(raw, rules)
    })
}

/// The same for a new record, which has no values yet.
pub fn parse_new<'a>(template: &Template, attributes: &'a RawValue) -> Result<Changes<'a>, Error> {
    parse_by(template, attributes, |position, raw, rules| {
        match template.attributes[position].kind.parse(raw, rules)? {
            Change::Keep(_, error) => Err(*error),
            change => Ok(change),
        }
    })
}

/// The same with a function that parses the value of the attribute at a position.
pub fn parse_by<'a>(
    template: &Template,
    attributes: &'a RawValue,
    read: impl Fn(usize, &'a RawValue, &Rules) -> Result<Change<'a>, Error>,
) -> Result<Changes<'a>, Error> {
    let members = json::object_at(attributes, "/attributes")?.0;
    let Rules { numbers_as_strings, .. } = rules_of_request("/attributes");
    let mut changes = Vec::with_capacity(members.len());
    let mut errors = Vec::new();
    for (name, raw) in members {
        if errors.len() >= MAX_VIOLATIONS {
            break;
        }
        let Some(position) = template.position(&name) else {
            errors.push(unknown(template, &name));
            continue;
        };
        let attribute = &template.attributes[position];
        match read(position, raw, &Rules { numbers_as_strings, ..attribute.rules() }) {
            Ok(Change::Set(Value::Null)) if attribute.required => errors.push(required(&attribute.pointer)),
            Ok(change) => changes.push((position, change)),
            Err(error) if error.code == Code::MalformedRequest => return Err(error),
            Err(error) => errors.push(error),
        }
    }
    changes.sort_by_key(|change| change.0);
    Error::join(errors).map_or(Ok(changes), Err)
}

/// The rules of this transaction's request for the values at a pointer.
pub fn rules_of_request(pointer: &str) -> Rules<'_> {
    let numbers_as_strings = Principal::current().is_some_and(|principal| principal.numbers_as_strings);
    Rules { pointer, numbers_as_strings, ..Rules::default() }
}

/// Rejects the creation of a record without a required attribute that has no default.
pub fn check_complete(template: &Template, changes: &Changes) -> Result<(), Error> {
    Error::join(missing(template, changes, true)).map_or(Ok(()), Err)
}

/// Whether these changes have all required attributes of a new record.
pub fn is_complete(template: &Template, changes: &Changes) -> bool {
    check_complete(template, changes).is_ok()
}

/// Completes the changes of a PUT: every attribute that is not listed becomes null. Increments are rejected.
pub fn complete_for_replacement<'a>(
    template: &Template,
    mut changes: Changes<'a>,
) -> Result<Changes<'a>, Error> {
    let mut errors = missing(template, &changes, false);
    for (position, change) in &changes {
        if matches!(change, Change::Increment(_)) {
            let pointer = &template.attributes[*position].pointer;
            errors.push(
                Error::at(Code::InvalidValue, pointer, "PUT cannot increment values")
                    .hint("Use PATCH or an upsert."),
            );
        }
    }
    if let Some(error) = Error::join(errors) {
        return Err(error);
    }
    let listed: Vec<usize> = changes.iter().map(|change| change.0).collect();
    let unlisted = (0..template.attributes.len()).filter(|position| !listed.contains(position));
    changes.extend(unlisted.map(|position| (position, Change::Set(Value::Null))).collect::<Vec<_>>());
    changes.sort_by_key(|change| change.0);
    Ok(changes)
}

fn missing(template: &Template, changes: &Changes, defaults_count: bool) -> Vec<Error> {
    let lacks = |position: usize| !changes.iter().any(|change| change.0 == position);
    let attributes = template.attributes.iter().enumerate();
    attributes
        .filter(|(_, attribute)| attribute.required && !(defaults_count && attribute.default.is_some()))
        .filter(|(position, _)| lacks(*position))
        .map(|(_, attribute)| required(&attribute.pointer))
        .collect()
}

/// The error for a required attribute without a value.
pub fn required(pointer: &str) -> Error {
    Error::at(Code::RequiredAttribute, pointer, "a value is required for this attribute")
}

fn unknown(template: &Template, name: &str) -> Error {
    let slugs: Vec<&str> =
        template.attributes.iter().take(30).map(|attribute| attribute.slug.as_str()).collect();
    let more = if template.attributes.len() > slugs.len() { ", …" } else { "" };
    let pointer = format!("/attributes/{}", json::pointer_step(name));
    Error::at(Code::UnknownAttribute, pointer, format!("{} has no attribute {name:?}", template.full_name()))
        .hint(format!("Use one of its attributes: {}{more}.", slugs.join(", ")))
}
