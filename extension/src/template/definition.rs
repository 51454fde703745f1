//! The definition of an attribute: JSON → checked definition. Pure.

use super::presentation;
use crate::attribute_type::{AttributeType, Rules};
use crate::error::{Code, Error};
use crate::json;
use crate::limits;
use crate::value::change::{Change, Value};
use crate::value::list_option::{self, ListOption};
use crate::value::member::{missing, parse_label, text_at, unknown_member};
use crate::value::slug::{self, Noun};
use serde_json::value::RawValue;

/// A checked definition of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name: a column of the template's table.
    pub slug: String,
    /// Its type.
    pub kind: AttributeType,
    /// The label; `None` for the slug.
    pub label: Option<String>,
    /// Whether every record must have a value.
    pub required: bool,
    /// Whether filters and sorts on it have an index.
    pub indexed: bool,
    /// For strings: the collation, or `None` for that of the template.
    pub collation: Option<String>,
    /// The display format as JSON text.
    pub format: Option<String>,
    /// For lists: the allowed values, or `None` for any.
    pub options: Option<Vec<ListOption>>,
    /// For references: the slug of the target template.
    pub target: Option<String>,
    /// The default value of new records, as JSON text.
    pub default: Option<String>,
}

/// Parses a JSON array of attribute definitions. All errors are reported together.
pub fn parse_all(attributes: &RawValue, pointer: &str) -> Result<Vec<Definition>, Error> {
    let entries = json::array_at(attributes, pointer)?;
    let max = limits::attributes_per_template();
    if entries.len() > max {
        return Err(Error::at(
            Code::PayloadTooLarge,
            pointer,
            format!("a template may have at most {max} attributes, not {}", entries.len()),
        ));
    }
    let mut definitions: Vec<Definition> = Vec::with_capacity(entries.len());
    let mut errors = Vec::new();
    for (position, entry) in entries.into_iter().enumerate() {
        let here = format!("{pointer}/{position}");
        match parse(entry, &here) {
            Ok(definition) if definitions.iter().any(|earlier| earlier.slug == definition.slug) => {
                errors.push(Error::at(
                    Code::InvalidValue,
                    format!("{here}/slug"),
                    format!("the slug {:?} is used twice", definition.slug),
                ));
            }
            Ok(definition) => definitions.push(definition),
            Err(error) => errors.push(error),
        }
    }
    Error::join(errors).map_or(Ok(definitions), Err)
}

/// Parses one attribute definition, a JSON object.
pub fn parse(entry: &RawValue, pointer: &str) -> Result<Definition, Error> {
    let (mut slug, mut kind, mut label, mut target, mut collation) = (None, None, None, None, None);
    let (mut required, mut indexed, mut format, mut options, mut default) = (false, false, None, None, None);
    for (name, value) in &json::object_at(entry, pointer)?.0 {
        let here = format!("{pointer}/{}", json::pointer_step(name));
        match name.as_ref() {
            "slug" => slug = Some(text_at(value, &here)?),
            "type" => {
                let text = text_at(value, &here)?;
                kind = Some(AttributeType::named(&text).ok_or_else(|| unknown_type(&text, &here))?);
            }
            "label" => label = parse_label(value, &here)?,
            "template" => target = Some(text_at(value, &here)?),
            "required" => required = json::boolean_at(value, &here)?,
            "indexed" => indexed = json::boolean_at(value, &here)?,
            "collation" => collation = parse_collation(value, &here)?,
            "format" => format = Some((*value, here)),
            "options" => options = list_option::parse(value, &here)?,
            "default" => default = (!json::is_null(value)).then_some(*value),
            // Responses have the attribute's id; a client may send a definition back.
            "id" => {}
            _ => {
                return Err(unknown_member(name, &here).hint(
                    "Use the members slug, type, label, template, required, indexed, collation, format, \
                     options and default.",
                ));
            }
        }
    }
    let slug = slug.ok_or_else(|| missing("slug", pointer))?;
    slug::check(Noun::Attribute, &slug, &format!("{pointer}/slug"))?;
    let kind = kind.ok_or_else(|| missing("type", pointer))?;
    if kind == AttributeType::Reference && target.is_none() {
        return Err(missing("template", pointer).hint("Set it to the slug of the referenced template."));
    }
    for (given, member, belongs_to) in [
        (target.is_some(), "template", AttributeType::Reference),
        (options.is_some(), "options", AttributeType::List),
        (collation.is_some(), "collation", AttributeType::String),
    ] {
        if given && kind != belongs_to {
            return Err(Error::at(
                Code::InvalidValue,
                format!("{pointer}/{member}"),
                format!("only an attribute of type {} can have {member}", belongs_to.name()),
            ));
        }
    }
    if required && kind == AttributeType::Metric {
        return Err(Error::at(
            Code::InvalidValue,
            format!("{pointer}/required"),
            "a metric cannot be required",
        ));
    }
    let format = match format {
        Some((value, here)) => presentation::parse(kind, value, &here)?,
        None => None,
    };
    let mut definition = Definition {
        slug,
        kind,
        label,
        required,
        indexed,
        collation,
        format,
        options,
        target,
        default: None,
    };
    if let Some(default) = default {
        definition.default = Some(check_default(&definition, default, &format!("{pointer}/default"))?);
    }
    Ok(definition)
}

/// Parses a collation: a string, or null for the default.
pub fn parse_collation(value: &RawValue, pointer: &str) -> Result<Option<String>, Error> {
    if json::is_null(value) { Ok(None) } else { text_at(value, pointer).map(Some) }
}

/// Checks a default against the type of the attribute and returns its JSON text.
pub fn check_default(definition: &Definition, default: &RawValue, pointer: &str) -> Result<String, Error> {
    if !definition.kind.may_have_default() {
        let message = format!("an attribute of type {} cannot have a default", definition.kind.name());
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    let rules = Rules { pointer, options: definition.options.as_deref(), ..Rules::default() };
    match definition.kind.parse(default, &rules)? {
        Change::Set(Value::Null) | Change::Increment(_) | Change::Append(_) => {
            Err(Error::at(Code::InvalidValue, pointer, "a default must be a plain value"))
        }
        Change::Set(_) => Ok(default.get().to_owned()),
        Change::Keep(_, error) => Err(*error),
    }
}

fn unknown_type(name: &str, pointer: &str) -> Error {
    Error::at(Code::InvalidValue, pointer, format!("{name:?} is not an attribute type"))
        .hint(format!("Use one of the types {}.", AttributeType::names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Definition>, Error> {
        let raw: Box<RawValue> = serde_json::from_str(text).expect("JSON");
        parse_all(&raw, "/attributes")
    }

    #[test]
    fn definition_needs_only_slug_and_type() {
        let read = read(r#"[{"slug":"name","type":"dimension"}]"#).expect("a definition");
        assert_eq!(
            (read[0].slug.as_str(), read[0].kind, read[0].required),
            ("name", AttributeType::String, false)
        );
    }

    #[test]
    fn label_is_limited_to_255_characters() {
        let label = |characters: usize| {
            read(&format!(r#"[{{"slug":"a","type":"string","label":"{}"}}]"#, "é".repeat(characters)))
        };
        assert!(label(255).is_ok());
        assert_eq!(label(256).expect_err("a fault").violations[0].pointer, "/attributes/0/label");
    }

    #[test]
    fn error_has_the_pointer_of_the_invalid_member() {
        for (text, pointer) in [
            (r#"[{"type":"string"}]"#, "/attributes/0/slug"),
            (r#"[{"slug":"a"}]"#, "/attributes/0/type"),
            (r#"[{"slug":"a","type":"text"}]"#, "/attributes/0/type"),
            (r#"[{"slug":"deleted_at","type":"string"}]"#, "/attributes/0/slug"),
            (r#"[{"slug":"a","type":"reference"}]"#, "/attributes/0/template"),
            (r#"[{"slug":"a","type":"string","options":["x"]}]"#, "/attributes/0/options"),
            (r#"[{"slug":"a","type":"list","options":["x","x"]}]"#, "/attributes/0/options/1"),
            (r#"[{"slug":"a","type":"list","options":[]}]"#, "/attributes/0/options"),
            (r#"[{"slug":"a","type":"list","options":["x"],"default":["y"]}]"#, "/attributes/0/default/0"),
            (r#"[{"slug":"a","type":"number","collation":"de"}]"#, "/attributes/0/collation"),
            (r#"[{"slug":"a","type":"string","collation":7}]"#, "/attributes/0/collation"),
            (r#"[{"slug":"a","format":{"unit":"mm"},"type":"string"}]"#, "/attributes/0/format/unit"),
            (r#"[{"slug":"a","type":"number","default":"1"}]"#, "/attributes/0/default"),
            (r#"[{"slug":"a","type":"number","default":{"$inc":1}}]"#, "/attributes/0/default"),
            (r#"[{"slug":"a","type":"metric","required":true}]"#, "/attributes/0/required"),
            (r#"[{"slug":"a","type":"string","requird":true}]"#, "/attributes/0/requird"),
            (r#"[{"slug":"a","type":"string"},{"slug":"a","type":"date"}]"#, "/attributes/1/slug"),
            (r#"{"slug":"a"}"#, "/attributes"),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error.violations[0].pointer, pointer, "{text}");
        }
    }
}
