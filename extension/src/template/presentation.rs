//! The display format of an attribute's values: the member `format` of a definition. Pure.
//!
//! A format affects neither values nor filters. It is stored as JSON for applications.

use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json;
use crate::value::date_pattern;
use crate::value::member::{text_at, unknown_member};
use serde_json::value::RawValue;

/// The maximum number of decimals.
const MAX_DECIMALS: u8 = 20;
/// The maximum number of characters in a unit.
const LONGEST_UNIT: usize = 20;
/// The values of `kind`.
const KINDS: [&str; 4] = ["multiline", "link", "email", "image"];

/// Parses a format: an object whose members depend on the type, or null for none. Returns its JSON.
pub fn parse(kind: AttributeType, value: &RawValue, pointer: &str) -> Result<Option<String>, Error> {
    if json::is_null(value) {
        return Ok(None);
    }
    let known = members(kind);
    if known.is_empty() {
        let message = format!("an attribute of type {} cannot have a format", kind.name());
        let hint = "Set formats of attributes of type string, number, metric, date and datetime only.";
        return Err(Error::at(Code::InvalidValue, pointer, message).hint(hint));
    }
    let members = json::object_at(value, pointer)?.0;
    let mut errors = Vec::new();
    for (name, member) in &members {
        let here = format!("{pointer}/{}", json::pointer_step(name));
        let checked = match known.contains(&name.as_ref()) {
            true => check(kind, name, member, &here),
            false => Err(unknown_member(name, &here).hint(format!(
                "The format of an attribute of type {} has {}.",
                kind.name(),
                listed(known)
            ))),
        };
        errors.extend(checked.err());
    }
    if members.is_empty() {
        let hint = format!("Set some of {}, or use null for no format.", listed(known));
        errors.push(Error::at(Code::InvalidValue, pointer, "the format is empty").hint(hint));
    }
    let units: Vec<&str> = members.iter().filter_map(|(name, value)| unit(name, value)).collect();
    if let [first, second, ..] = units[..] {
        let message = format!("a format cannot have both {first} and {second}");
        errors.push(Error::at(Code::InvalidValue, format!("{pointer}/{second}"), message));
    }
    Error::join(errors).map_or_else(|| Ok(Some(value.get().to_owned())), Err)
}

/// The members that a format of this type may have.
fn members(kind: AttributeType) -> &'static [&'static str] {
    match kind {
        AttributeType::Number | AttributeType::Metric => {
            &["grouping", "decimals", "unit", "currency", "percent"]
        }
        AttributeType::Date | AttributeType::DateTime => &["pattern"],
        AttributeType::String => &["kind"],
        AttributeType::List | AttributeType::Reference | AttributeType::Boolean => &[],
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.join(""),
    }
}

/// The name of a member that sets the unit of a number.
fn unit<'a>(name: &'a str, value: &RawValue) -> Option<&'a str> {
    match name {
        "unit" | "currency" => Some(name),
        "percent" if value.get() == "true" => Some(name),
        _ => None,
    }
}

fn check(kind: AttributeType, name: &str, value: &RawValue, pointer: &str) -> Result<(), Error> {
    let violation = |message: String| Error::at(Code::InvalidValue, pointer, message);
    match name {
        "decimals" => match serde_json::from_str::<u8>(value.get()) {
            Ok(decimals) if decimals <= MAX_DECIMALS => Ok(()),
            _ => Err(violation(format!("decimals must be a whole number from 0 to {MAX_DECIMALS}"))),
        },
        "unit" => {
            let unit = text_at(value, pointer)?;
            let fits = (1..=LONGEST_UNIT).contains(&unit.chars().count());
            if !fits || unit.trim() != unit || unit.chars().any(char::is_control) {
                let message = format!(
                    "a unit must have 1 to {LONGEST_UNIT} characters, without control characters and without spaces around it"
                );
                return Err(violation(message));
            }
            Ok(())
        }
        "currency" => {
            let code = text_at(value, pointer)?;
            if code.len() != 3 || !code.bytes().all(|letter| letter.is_ascii_uppercase()) {
                return Err(violation(format!("{code:?} is not a currency code"))
                    .hint("Use a code of three capital letters from ISO 4217, such as CHF, EUR or USD."));
            }
            Ok(())
        }
        "pattern" => {
            let has_time = kind == AttributeType::DateTime;
            date_pattern::check(&text_at(value, pointer)?, has_time)
                .map_err(|reason| violation(reason).hint(date_pattern::hint(has_time)))
        }
        "kind" => {
            let text = text_at(value, pointer)?;
            match KINDS.contains(&text.as_str()) {
                true => Ok(()),
                false => {
                    let hint = format!("Use one of the kinds {}.", listed(&KINDS));
                    Err(violation(format!("{text:?} is not a kind of text")).hint(hint))
                }
            }
        }
        _ => json::boolean_at(value, pointer).map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &str, format: &str) -> Result<Option<String>, Error> {
        let raw: Box<RawValue> = serde_json::from_str(format).expect("JSON");
        parse(AttributeType::named(kind).expect("a type"), &raw, "/format")
    }

    #[test]
    fn valid_formats_are_accepted() {
        for (kind, format) in [
            ("number", r#"{"grouping":false}"#),
            ("number", r#"{"grouping":true,"decimals":2,"unit":"mm"}"#),
            ("metric", r#"{"decimals":20,"currency":"CHF"}"#),
            ("number", r#"{"percent":true}"#),
            ("number", r#"{"percent":false,"unit":"km/h"}"#),
            ("date", r#"{"pattern":"dd.MM.yyyy"}"#),
            ("datetime", r#"{"pattern":"d MMMM yyyy, HH:mm"}"#),
            ("string", r#"{"kind":"multiline"}"#),
            ("dimension", r#"{"kind":"image"}"#),
        ] {
            assert_eq!(read(kind, format).expect(format).as_deref(), Some(format));
        }
        assert_eq!(read("list", "null").expect("no format"), None);
    }

    #[test]
    fn invalid_format_has_a_pointer_and_a_hint() {
        for (kind, format, pointer, expected) in [
            ("string", r#"{"unit":"mm"}"#, "/format/unit", "kind"),
            ("number", r#"{"pattern":"yyyy"}"#, "/format/pattern", "currency and percent"),
            ("date", r#"{"pattren":"yyyy"}"#, "/format/pattren", "has pattern"),
            ("list", r#"{"kind":"link"}"#, "/format", "string, number"),
            ("number", r#"{"decimals":21}"#, "/format/decimals", "0 to 20"),
            ("number", r#"{"decimals":-1}"#, "/format/decimals", "0 to 20"),
            ("number", r#"{"decimals":1.5}"#, "/format/decimals", "0 to 20"),
            ("number", r#"{"decimals":"2"}"#, "/format/decimals", "0 to 20"),
            ("number", r#"{"grouping":"no"}"#, "/format/grouping", ""),
            ("number", r#"{"unit":""}"#, "/format/unit", "1 to 20"),
            ("number", r#"{"unit":" mm"}"#, "/format/unit", "spaces"),
            ("number", r#"{"currency":"chf"}"#, "/format/currency", "three capital letters"),
            ("number", r#"{"currency":"Fr."}"#, "/format/currency", "ISO 4217"),
            ("number", r#"{"unit":"mm","currency":"CHF"}"#, "/format/currency", "unit and currency"),
            ("number", r#"{"unit":"mm","percent":true}"#, "/format/percent", "unit and percent"),
            ("date", r#"{"pattern":"HH:mm"}"#, "/format/pattern", "no time"),
            ("date", r#"{"pattern":"DD.MM.YYYY"}"#, "/format/pattern", "dd.MM.yyyy"),
            ("string", r#"{"kind":"url"}"#, "/format/kind", "multiline, link"),
            ("string", r#""link""#, "/format", ""),
            ("string", "{}", "/format", "null"),
        ] {
            let error = read(kind, format).expect_err(format);
            assert_eq!(error.violations[0].pointer, pointer, "{format}");
            assert!(format!("{error:?}").contains(expected), "{format}: {error:?}");
        }
    }

    #[test]
    fn all_violations_of_a_format_are_reported_together() {
        let error = read("number", r#"{"decimals":99,"currency":"x","unti":"mm"}"#).expect_err("faults");
        assert_eq!(error.violations.len(), 3);
    }
}
