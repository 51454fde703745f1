//! Maps a payload to keys and attributes with PostgreSQL's jsonpath. Numbers keep all digits.

use super::definition::{MAX_ITEMS, Mapping, Source};
use super::path::Empty;
use super::{empty, path_error, payload};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::postgres::guard::{as_owner, attempt};
use crate::postgres::parameter::{array, params};
use crate::postgres::random;
use crate::postgres::spi::{Snapshot, connected};
use crate::template::Template;
use crate::value::key;
use std::borrow::Cow;

/// The maximum number of values that all paths find in a delivery.
const MAX_VALUES: usize = 1_000_000;

/// A record to write.
#[derive(Debug, PartialEq, Eq)]
pub struct Item {
    /// Its key.
    pub key: String,
    /// Its attributes as JSON.
    pub attributes: String,
}

/// Applies a mapping to a payload, which is valid JSON.
pub fn apply(template: &Template, mapping: &Mapping, payload: &str) -> Result<Vec<Item>, Error> {
    let marker = format!("k{:016x}", random::next_u64());
    let readable = payload::readable(payload, &marker);
    let marker = matches!(readable, Cow::Owned(_)).then_some(marker.as_str());
    let payload = &*readable;
    if let Some(marker) = marker {
        payload::reject_if_path_may_depend_on_it(mapping, payload, marker)?;
    }
    let found = attempt(|| find(mapping, payload)).catch(path_error::of_path);
    let mut found = found.map_err(|message| path_error::locate(mapping, payload, &message))??;
    if found.is_empty() {
        empty::check_items(payload, &mapping.items)?;
    }
    if found.len() > MAX_ITEMS {
        let message = format!("a delivery has at most {MAX_ITEMS} items");
        return Err(Error::at(Code::PayloadTooLarge, "/items", message));
    }
    empty_lists(template, mapping, payload, &mut found);
    let mut items = Vec::with_capacity(found.len());
    let mut errors = Vec::new();
    for (number, values) in found.into_iter().enumerate() {
        pgrx::check_for_interrupts!();
        match item(template, mapping, &values, marker) {
            Ok(item) => items.push(item),
            Err(error) => errors.push(error.below(&format!("/items/{number}"))),
        }
    }
    Error::join(errors).map_or(Ok(items), Err)
}

/// The values of each path in each item as JSON, beginning with the key.
fn find(mapping: &Mapping, payload: &str) -> Result<Vec<Vec<Vec<String>>>, Error> {
    let paths: Vec<Option<&str>> = mapping.paths().skip(1).map(Some).collect();
    let count = paths.len();
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                // Limited before sorting, to limit memory.
                "select f.* from (select i.n, p.n, v.value::text, v.n \
                 from (select i.item, i.n from jsonb_path_query($1::jsonb, $2::jsonpath) with ordinality i (item, n) \
                   limit $4) i \
                 cross join unnest($3) with ordinality p (path, n) \
                 left join lateral jsonb_path_query(i.item, p.path::jsonpath) with ordinality v (value, n) on true \
                 limit $5) f (item, path, value, position) order by f.item, f.path, f.position",
                Snapshot::Active,
                &params![
                    payload,
                    &mapping.items,
                    array(paths.into_iter()),
                    MAX_ITEMS as i64 + 1,
                    MAX_VALUES as i64 + 1,
                ],
            );
            if rows.len() > MAX_VALUES {
                let message = format!("the mapping finds more than {MAX_VALUES} values in a delivery");
                return Err(Error::at(Code::PayloadTooLarge, "/items", message));
            }
            let mut found: Vec<Vec<Vec<String>>> = Vec::new();
            for row in 0..rows.len() {
                let number = |column| rows.get::<Option<i64>>(row, column).unwrap_or(1) as usize - 1;
                let (item, path) = (number(0), number(1));
                if found.len() <= item {
                    found.resize_with(item + 1, || vec![Vec::new(); count]);
                }
                if let Some(value) = rows.get::<Option<String>>(row, 2) {
                    found[item][path].push(value);
                }
            }
            Ok(found)
        })
    })
}

/// Makes a list empty if its path finds an empty array, instead of leaving it unchanged.
fn empty_lists(template: &Template, mapping: &Mapping, payload: &str, found: &mut [Vec<Vec<String>>]) {
    for (position, source) in mapping.sources.iter().enumerate() {
        let kind = template.position(&source.slug).map(|position| template.attributes[position].kind);
        if kind != Some(AttributeType::List) {
            continue;
        }
        let without: Vec<usize> =
            (0..found.len()).filter(|item| found[*item][position + 1].is_empty()).collect();
        if without.is_empty() {
            continue;
        }
        for (item, empty) in empty::in_items(payload, &mapping.items, &source.path, &without) {
            if matches!(empty, Empty::Array | Empty::Elements) {
                found[item][position + 1].push("[]".to_owned());
            }
        }
    }
}

fn item(
    template: &Template,
    mapping: &Mapping,
    values: &[Vec<String>],
    marker: Option<&str>,
) -> Result<Item, Error> {
    let mut errors = Vec::new();
    let key = payload::require_readable(
        &values[0],
        marker,
        &mapping.external_key,
        Code::InvalidExternalKey,
        "/external_key",
    )
    .and_then(|()| key_of(&values[0], &mapping.key_prefix, "/external_key"));
    let mut attributes = String::from("{");
    for (source, values) in mapping.sources.iter().zip(&values[1..]) {
        let kind = template.position(&source.slug).map(|position| template.attributes[position].kind);
        let mut value = String::new();
        let pointer = format!("/attributes/{}", source.slug);
        let readable = payload::require_readable(values, marker, &source.path, Code::InvalidValue, &pointer);
        match readable.and_then(|()| write_value(&mut value, kind, source, values)) {
            Ok(false) => {}
            Ok(true) => {
                if attributes.len() > 1 {
                    attributes.push(',');
                }
                write_string(&mut attributes, &source.slug);
                attributes.push(':');
                attributes.push_str(&value);
            }
            Err(error) => errors.push(error),
        }
    }
    attributes.push('}');
    let key = key.map_err(|error| errors.insert(0, error)).unwrap_or_default();
    Error::join(errors).map_or(Ok(Item { key, attributes }), Err)
}

/// Writes the value of an attribute. A path without result leaves the attribute unchanged; null clears it.
fn write_value(
    out: &mut String,
    kind: Option<AttributeType>,
    source: &Source,
    values: &[String],
) -> Result<bool, Error> {
    match (values, kind) {
        ([], _) => return Ok(false),
        // Other systems refer to records by key.
        ([value], Some(AttributeType::Reference)) if value.starts_with(['"', '-']) || is_digit(value) => {
            let pointer = format!("/attributes/{}", source.slug);
            out.push_str("{\"external_key\":");
            write_string(out, &key_of(values, &source.key_prefix, &pointer)?);
            out.push('}');
        }
        ([value], _) => out.push_str(value),
        (many, Some(AttributeType::List | AttributeType::Metric)) => {
            out.push('[');
            out.push_str(&many.join(","));
            out.push(']');
        }
        (many, _) => {
            let message = format!("the path {} finds {} values, not one", source.path, many.len());
            let pointer = format!("/attributes/{}", source.slug);
            return Err(Error::at(Code::InvalidValue, pointer, message)
                .hint("Use a path that finds one value. Only lists and metrics take several."));
        }
    }
    Ok(true)
}

fn is_digit(value: &str) -> bool {
    value.starts_with(|first: char| first.is_ascii_digit())
}

/// A key: a string, or an integer in its written form.
fn key_of(values: &[String], prefix: &str, pointer: &str) -> Result<String, Error> {
    let invalid = |message: String| Error::at(Code::InvalidExternalKey, pointer, message);
    let [value] = values else {
        return Err(invalid(format!("the path of the key finds {} values, not one", values.len())));
    };
    let is_whole = value.strip_prefix('-').unwrap_or(value).bytes().all(|byte| byte.is_ascii_digit());
    let text = match value.starts_with('"') {
        true => serde_json::from_str::<String>(value)
            .map_err(|error| invalid(format!("the key cannot be read: {error}")))?,
        false if is_whole => value.clone(),
        false => return Err(invalid("a key must be a string or an integer".to_owned())),
    };
    let text = format!("{prefix}{}", text.trim_matches(' '));
    match key::normalize(&text) {
        Ok(key) if key.len() > prefix.len() => Ok(key.to_owned()),
        Ok(_) => Err(invalid("the key is empty".to_owned())),
        Err(error) => Err(invalid(error.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::value;
    use proptest::prelude::*;

    fn key(values: &[&str], prefix: &str) -> Option<String> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        key_of(&values, prefix, "/external_key").ok()
    }

    #[test]
    fn key_is_one_string_or_integer() {
        assert_eq!(key(&["\" a b \""], "shop:").as_deref(), Some("shop:a b"));
        assert_eq!(key(&["12345678901234567890"], "").as_deref(), Some("12345678901234567890"));
        assert_eq!(key(&["-7"], "n").as_deref(), Some("n-7"));
        for values in
            [&[] as &[&str], &["1", "2"], &["1.5"], &["null"], &["true"], &["{}"], &["\"\""], &["\" \""]]
        {
            assert_eq!(key(values, "shop:"), None, "{values:?}");
        }
    }

    fn written(kind: AttributeType, values: &[&str]) -> Option<Option<String>> {
        let source = Source { slug: "a".to_owned(), path: "$.a".to_owned(), key_prefix: "shop:".to_owned() };
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let mut out = String::new();
        let is_there = write_value(&mut out, Some(kind), &source, &values).ok()?;
        Some(is_there.then_some(out))
    }

    #[test]
    fn values_have_the_form_of_a_request() {
        let some = |text: &str| Some(Some(text.to_owned()));
        assert_eq!(written(AttributeType::Number, &["1.50"]), some("1.50"));
        assert_eq!(written(AttributeType::Number, &[]), Some(None));
        assert_eq!(written(AttributeType::Number, &["null"]), some("null"));
        assert_eq!(written(AttributeType::Number, &["1", "2"]), None);
        assert_eq!(written(AttributeType::List, &["\"a\"", "\"b\""]), some("[\"a\",\"b\"]"));
        assert_eq!(written(AttributeType::List, &["[\"a\"]"]), some("[\"a\"]"));
        assert_eq!(written(AttributeType::Reference, &["42"]), some("{\"external_key\":\"shop:42\"}"));
        assert_eq!(written(AttributeType::Reference, &["null"]), some("null"));
        assert_eq!(written(AttributeType::Reference, &["1.5"]), None);
    }

    proptest! {
        #[test]
        fn key_is_the_prefix_and_the_value(json in prop_oneof![value(), "\"[ a1]{0,5}\"", "-?[0-9]{1,9}"]) {
            if let Some(found) = key(&[&json], "shop:") {
                let own = serde_json::from_str::<String>(&json).unwrap_or(json);
                prop_assert_eq!(found.strip_prefix("shop:"), Some(own.trim_matches(' ')));
                prop_assert_eq!(key::normalize(&found).ok(), Some(found.as_str()));
            }
        }

        #[test]
        fn any_values_become_json_or_are_rejected(
            kind in prop::sample::select(AttributeType::ALL),
            values in prop::collection::vec(value(), 0..4),
        ) {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            if let Some(Some(json)) = written(kind, &values) {
                prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&json).is_ok(), "{json}");
            }
        }
    }
}
