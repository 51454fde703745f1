//! Parsing of JSON without an intermediate tree. A value stays text until its attribute parses it, so numbers keep all digits,
//! and nesting is free.

use crate::error::{Code, Error};
pub use crate::json_write::write_string;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;

pub mod binary;

/// Input for property tests.
#[cfg(test)]
pub mod arbitrary;

/// The maximum number of elements of an array and of members of an object. This limit applies before memory is allocated.
/// Stricter limits follow.
const MAX: usize = 100_000;

/// The members of a JSON object in order. The last of duplicate names wins, as in jsonb.
#[derive(Debug, Default)]
pub struct Object<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::with_capacity(8);
                while let Some(Name(name)) = map.next_key()? {
                    if members.len() == MAX {
                        let message = format!("an object has more than {MAX} members");
                        return Err(serde::de::Error::custom(message));
                    }
                    members.push((name, map.next_value()?));
                }
                if members.len() > 1 {
                    keep_last_of_each_name(&mut members);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A string, borrowed from the JSON text if it has no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

fn keep_last_of_each_name(members: &mut Vec<(Cow<'_, str>, &RawValue)>) {
    // For few members, pairwise comparison is faster than hashing.
    if members.len() <= 32 {
        for position in (0..members.len()).rev() {
            if members[position + 1..].iter().any(|later| later.0 == members[position].0) {
                members.remove(position);
            }
        }
        return;
    }
    let mut later = std::collections::HashSet::with_capacity(members.len());
    let is_last: Vec<bool> = members.iter().rev().map(|member| later.insert(member.0.clone())).collect();
    let mut is_last = is_last.into_iter().rev();
    members.retain(|_| is_last.next().unwrap_or(true));
}

/// Parses a JSON text as an object. Other text is a malformed request.
pub fn object(text: &str) -> Result<Object<'_>, Error> {
    serde_json::from_str(text).map_err(|error| malformed(&error))
}

/// Parses the object at `pointer`.
pub fn object_at<'a>(value: &'a RawValue, pointer: &str) -> Result<Object<'a>, Error> {
    match value.get().as_bytes().first() {
        Some(b'{') => serde_json::from_str(value.get()).map_err(|error| malformed(&error)),
        _ => Err(Error::at(Code::InvalidValue, pointer, "must be a JSON object")),
    }
}

/// Parses the array at `pointer`.
pub fn array_at<'a>(value: &'a RawValue, pointer: &str) -> Result<Vec<&'a RawValue>, Error> {
    let elements = array_at_most(value, MAX + 1, pointer)?;
    if elements.len() > MAX {
        let message = format!("must have at most {MAX} elements");
        return Err(Error::at(Code::PayloadTooLarge, pointer, message));
    }
    Ok(elements)
}

/// Parses at most `max` elements of the array at `pointer`. Further elements are skipped without allocation. To allow `n`
/// elements, read `n + 1`.
pub fn array_at_most<'a>(value: &'a RawValue, max: usize, pointer: &str) -> Result<Vec<&'a RawValue>, Error> {
    struct First(usize);
    impl<'de> Visitor<'de> for First {
        type Value = Vec<&'de RawValue>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a JSON array")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(element) = array.next_element()? {
                if elements.len() < self.0 {
                    elements.push(element);
                }
            }
            Ok(elements)
        }
    }
    match value.get().as_bytes().first() {
        Some(b'[') => {
            let mut reader = serde_json::Deserializer::from_str(value.get());
            reader.deserialize_seq(First(max)).map_err(|error| malformed(&error))
        }
        _ => Err(Error::at(Code::InvalidValue, pointer, "must be a JSON array")),
    }
}

/// The text of a JSON string; `None` for another type.
///
/// Rejects U+0000, which PostgreSQL's `text` does not support.
pub fn string_at<'a>(value: &'a RawValue, pointer: &str) -> Result<Option<Cow<'a, str>>, Error> {
    if !value.get().starts_with('"') {
        return Ok(None);
    }
    let Name(text) = serde_json::from_str(value.get()).map_err(|error| malformed(&error))?;
    if text.contains('\0') {
        return Err(Error::at(Code::InvalidValue, pointer, "must not contain the character U+0000")
            .hint("Remove \\u0000 from the text."));
    }
    Ok(Some(text))
}

/// The text of a JSON string. Rejects another type.
pub fn text_at<'a>(value: &'a RawValue, pointer: &str) -> Result<Cow<'a, str>, Error> {
    string_at(value, pointer)?.ok_or_else(|| Error::at(Code::InvalidValue, pointer, "must be a string"))
}

/// Whether the value is JSON null.
pub fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// The boolean at `pointer`.
pub fn boolean_at(value: &RawValue, pointer: &str) -> Result<bool, Error> {
    match value.get() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::at(Code::InvalidValue, pointer, "must be true or false, without quotes")),
    }
}

fn malformed(error: &serde_json::Error) -> Error {
    Error::new(Code::MalformedRequest, format!("the body is not the expected JSON: {error}"))
}

/// Escapes a reference token of a JSON pointer (RFC 6901 §3). Long tokens are truncated.
pub fn pointer_step(name: &str) -> Cow<'_, str> {
    const MAX: usize = 100;
    let (kept, more) = match name.char_indices().nth(MAX) {
        Some((end, _)) => (&name[..end], "…"),
        None => (name, ""),
    };
    if more.is_empty() && !kept.contains(['~', '/']) {
        return kept.into();
    }
    (kept.replace('~', "~0").replace('/', "~1") + more).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn number_keeps_its_digits() {
        let read = object(r#"{"n": 12345678901234567890123.450, "deep": [[[]]]}"#).expect("an object");
        assert_eq!(read.0[0].1.get(), "12345678901234567890123.450");
        assert_eq!(read.0[1].1.get(), "[[[]]]");
    }

    #[test]
    fn last_of_duplicate_names_wins() {
        let read = object(r#"{"a":1,"b":2,"\u0061":3}"#).expect("an object");
        let members: Vec<_> = read.0.iter().map(|(name, value)| (name.as_ref(), value.get())).collect();
        assert_eq!(members, [("b", "2"), ("a", "3")]);
    }

    #[test]
    fn last_of_duplicate_names_wins_among_many_members() {
        let many: Vec<String> = (0..100).map(|n| format!("\"k{}\":{n}", n % 50)).collect();
        let text = format!("{{{}}}", many.join(","));
        let read = object(&text).expect("an object");
        assert_eq!(read.0.len(), 50);
        assert!(
            read.0
                .iter()
                .all(|(name, value)| format!("k{}", value.get().parse::<i32>().unwrap_or(0) - 50) == **name)
        );
    }

    #[test]
    fn non_object_is_a_malformed_request() {
        for text in ["", "{", "[]", "1", "{\"a\":}", "{} x", "{\"a\":NaN}", "\u{feff}{}"] {
            assert_eq!(object(text).expect_err(text).code, Code::MalformedRequest);
        }
    }

    #[test]
    fn deep_nesting_is_rejected_or_skipped_without_recursion() {
        let deep = "[".repeat(100_000);
        assert!(object(&deep).is_err());
        let closed = format!("{{\"a\":{deep}{}}}", "]".repeat(100_000));
        assert_eq!(object(&closed).expect("an object").0.len(), 1);
    }

    #[test]
    fn array_at_most_keeps_the_first_elements() {
        let text = format!("[{}1]", "[[]],".repeat(1000));
        let raw: &RawValue = serde_json::from_str(&text).expect("JSON");
        let first: Vec<_> =
            array_at_most(raw, 2, "/a").expect("an array").iter().map(|it| it.get()).collect();
        assert_eq!(first, ["[[]]", "[[]]"]);
        assert_eq!(array_at_most(raw, 2000, "/a").expect("an array").len(), 1001);
    }

    #[test]
    fn too_many_members_or_elements_are_rejected() {
        let array = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        let raw = |text: &str| RawValue::from_string(text.to_owned()).expect("JSON");
        assert_eq!(array_at(&raw(&array(MAX)), "/a").expect("an array").len(), MAX);
        let error = array_at(&raw(&array(MAX + 1)), "/a").expect_err("too many");
        assert_eq!((error.code, error.violations[0].pointer.as_str()), (Code::PayloadTooLarge, "/a"));
        let object_of = |count: usize| {
            let members: Vec<String> = (0..count).map(|number| format!("\"{number}\":1")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert_eq!(object(&object_of(MAX)).expect("an object").0.len(), MAX);
        let error = object(&object_of(MAX + 1)).expect_err("too many");
        assert_eq!(error.code, Code::MalformedRequest);
    }

    proptest! {
        #[test]
        fn pointer_finds_its_member(name in "\\PC{0,100}") {
            let object = serde_json::json!({ name.clone(): 7 });
            let pointer = format!("/{}", pointer_step(&name));
            prop_assert_eq!(object.pointer(&pointer), Some(&serde_json::json!(7)));
        }

        #[test]
        fn arbitrary_text_is_an_object_or_malformed(text in prop_oneof![any::<String>(), arbitrary::value()]) {
            match object(&text) {
                Ok(_) => prop_assert_eq!(text.trim_ascii_start().get(..1), Some("{")),
                Err(error) => prop_assert_eq!(error.code, Code::MalformedRequest),
            }
        }
    }
}
