//! Looks up many records of one template by their keys: `{records: {key: record}, missing: [key]}`.

use super::read;
use super::shape::Projection;
use crate::access::{Action, Caller, visibility};
use crate::error::{Code, Error};
use crate::json::{self, write_string};
use crate::template::Template;
use crate::value::key;
use crate::value::member::{field_names_at, missing, unknown_member};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// The maximum number of keys.
pub const MAX_KEYS: usize = 1000;

/// The maximum size of all records, in bytes. A page of a search ends at this size, too.
pub const MAX_BYTES: usize = 32 << 20;

/// The body of a lookup.
#[derive(Debug, PartialEq, Eq)]
pub struct Body {
    keys: Vec<String>,
    fields: Option<Vec<String>>,
    verbose: bool,
    versions: bool,
}

impl Body {
    /// Parses `{keys, fields?, verbose?, versions?}`. Null counts as absent.
    pub fn parse(body: &str) -> Result<Body, Error> {
        let (mut keys, mut fields, mut verbose, mut versions) = (None, None, false, false);
        for (name, value) in json::object(body)?.0 {
            let here = format!("/{}", json::pointer_step(&name));
            match name.as_ref() {
                "keys" => keys = Some(keys_at(value)?),
                "fields" if json::is_null(value) => {}
                "fields" => fields = Some(field_names_at(value, &here)?),
                "verbose" | "versions" if json::is_null(value) => {}
                "verbose" => verbose = json::boolean_at(value, &here)?,
                "versions" => versions = json::boolean_at(value, &here)?,
                _ => {
                    return Err(unknown_member(&name, &here)
                        .hint("Use the members keys, fields, verbose and versions."));
                }
            }
        }
        Ok(Body { keys: keys.ok_or_else(|| missing("keys", ""))?, fields, verbose, versions })
    }

    /// The records, as JSON.
    pub fn find(&self, caller: &Caller, template: &Template) -> Result<String, Error> {
        find(caller, template, &self.keys, self.fields.as_deref(), self.verbose, self.versions)
    }
}

fn keys_at(value: &RawValue) -> Result<Vec<String>, Error> {
    let keys = json::array_at(value, "/keys")?;
    // Before the keys are read.
    check_count(keys.len())?;
    let keys = keys.into_iter().enumerate();
    keys.map(|(index, key)| Ok(json::text_at(key, &format!("/keys/{index}"))?.into_owned())).collect()
}

fn check_count(count: usize) -> Result<(), Error> {
    match count {
        0 => Err(Error::at(Code::InvalidValue, "/keys", "must have at least one key")),
        1..=MAX_KEYS => Ok(()),
        _ => Err(Error::at(
            Code::PayloadTooLarge,
            "/keys",
            format!("a lookup has at most {MAX_KEYS} keys, not {count}"),
        )
        .hint("Send several requests.")),
    }
}

/// The keys as they are stored, each once, in order.
fn normalized(keys: &[String]) -> Result<Vec<&str>, Error> {
    let (mut seen, mut normalized, mut errors) = (HashSet::with_capacity(keys.len()), Vec::new(), Vec::new());
    for (index, key) in keys.iter().enumerate() {
        match key::normalize(key) {
            Ok(key) if seen.insert(key) => normalized.push(key),
            Ok(_) => {}
            Err(error) => errors.push(error.above("/external_key").below(&format!("/keys/{index}"))),
        }
    }
    Error::join(errors).map_or(Ok(normalized), Err)
}

/// Finds the live records with these keys that are visible to the caller. Other keys are missing.
pub fn find(
    caller: &Caller,
    template: &Template,
    keys: &[String],
    fields: Option<&[String]>,
    verbose: bool,
    versions: bool,
) -> Result<String, Error> {
    caller.require(Action::Read, template)?;
    check_count(keys.len())?;
    let keys = normalized(keys)?;
    let visible = visibility::row(caller, template);
    let projection = Projection::parse(caller, template, fields, verbose)?.with_version(versions);
    let (mut records, mut bytes) = (vec![None; keys.len()], 0);
    read::each_by_key(template, &keys, visible.as_deref(), &projection, |position, record| {
        bytes += record.len();
        records[position] = Some(record);
        bytes <= MAX_BYTES
    });
    if bytes > MAX_BYTES {
        return Err(too_large("/keys", "Send fewer keys, or list the fields that you need."));
    }
    Ok(to_json(&keys, &records))
}

/// The error for a response with too large records.
pub fn too_large(pointer: &str, hint: &str) -> Error {
    let message = format!("the records exceed {} MiB", MAX_BYTES >> 20);
    Error::at(Code::PayloadTooLarge, pointer, message).hint(hint)
}

fn to_json(keys: &[&str], records: &[Option<String>]) -> String {
    let mut out = String::from("{\"records\":{");
    let mut missing = String::new();
    for (key, record) in keys.iter().zip(records) {
        let Some(record) = record else {
            if !missing.is_empty() {
                missing.push(',');
            }
            write_string(&mut missing, key);
            continue;
        };
        if !out.ends_with('{') {
            out.push(',');
        }
        write_string(&mut out, key);
        out.push(':');
        out.push_str(record);
    }
    out.push_str("},\"missing\":[");
    out.push_str(&missing);
    out.push_str("]}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::{object_of, points_into};
    use proptest::prelude::*;

    #[test]
    fn body_has_keys_fields_verbose_and_versions() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            Body::parse(
                r#"{"keys": ["a", " b "], "fields": "name,city", "verbose": true, "versions": true}"#
            ),
            Ok(Body {
                keys: names(&["a", " b "]),
                fields: Some(names(&["name", "city"])),
                verbose: true,
                versions: true
            })
        );
        assert_eq!(
            Body::parse(r#"{"keys": ["a"], "fields": null, "verbose": null, "versions": null}"#),
            Ok(Body { keys: names(&["a"]), fields: None, verbose: false, versions: false })
        );
        let many = |count: usize| serde_json::json!({"keys": vec!["k"; count]}).to_string();
        assert!(Body::parse(&many(MAX_KEYS)).is_ok());
        for (body, code, pointer) in [
            ("{}".to_owned(), Code::InvalidValue, "/keys"),
            (r#"{"keys": []}"#.to_owned(), Code::InvalidValue, "/keys"),
            (r#"{"keys": null}"#.to_owned(), Code::InvalidValue, "/keys"),
            (r#"{"keys": ["a", 1]}"#.to_owned(), Code::InvalidValue, "/keys/1"),
            (r#"{"keys": ["a"], "limit": 1}"#.to_owned(), Code::UnknownField, "/limit"),
            (many(MAX_KEYS + 1), Code::PayloadTooLarge, "/keys"),
        ] {
            let error = Body::parse(&body).expect_err("it is rejected");
            assert_eq!((error.code, error.violations[0].pointer.as_str()), (code, pointer), "{error:?}");
        }
    }

    #[test]
    fn same_key_counts_once_and_every_invalid_key_has_a_pointer() {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        assert_eq!(normalized(&keys(&["b", " a", "b ", "a"])), Ok(vec!["b", "a"]));
        let error = normalized(&keys(&["", "a", "b\n"])).expect_err("two keys are invalid");
        let pointers: Vec<&str> =
            error.violations.iter().map(|violation| violation.pointer.as_str()).collect();
        assert_eq!(pointers, ["/keys/0", "/keys/2"]);
    }

    #[test]
    fn response_has_records_and_missing_keys() {
        let found = Some("{}".to_owned());
        for (keys, records, expected) in [
            (vec!["a\""], vec![found.clone()], r#"{"records":{"a\"":{}},"missing":[]}"#),
            (vec!["a", "b"], vec![None, None], r#"{"records":{},"missing":["a","b"]}"#),
            (
                vec!["a", "b", "c"],
                vec![found.clone(), None, found],
                r#"{"records":{"a":{},"c":{}},"missing":["b"]}"#,
            ),
        ] {
            assert_eq!(to_json(&keys, &records), expected);
        }
    }

    proptest! {
        #[test]
        fn any_object_is_valid_or_rejected_with_its_pointer(text in object_of(&["keys", "fields", "verbose"])) {
            if let Err(error) = Body::parse(&text) {
                prop_assert!(points_into(&text, &error), "{:?}", error.violations);
            }
        }
    }
}
