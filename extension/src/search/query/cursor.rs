//! Page cursors: the sort values of the last record of a page, bound to a search.
//!
//! A cursor is opaque, not secret: it is validated like any other input, and a cursor of another caller discloses nothing
//! that the search itself would not.

use super::sort::SortKey;
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::value::constant::Constant;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The last record of a page, in SQL.
#[derive(Debug, PartialEq, Eq)]
pub struct Position {
    /// Its sort values, each as an expression of its type; `None` for null.
    pub values: Vec<Option<String>>,
    /// Its id, as an expression.
    pub id: String,
    /// Its id.
    pub uuid: Uuid,
    /// Its rank, in a full-text search without a sort order.
    pub rank: Option<i32>,
}

/// Identifies the search of a cursor: eight bytes of a hash of everything that decides on the order and the selection.
pub fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    URL_SAFE_NO_PAD.encode(&hash.finalize()[..8])
}

/// Makes a cursor; `values` are JSON.
pub fn encode(fingerprint: &str, values: &[String], id: &str) -> String {
    let mut json = format!("[\"{fingerprint}\",\"{id}\"");
    for value in values {
        json.push(',');
        json.push_str(value);
    }
    json.push(']');
    URL_SAFE_NO_PAD.encode(json)
}

/// The error of a cursor that is not one of this search.
pub fn rejection() -> Error {
    Error::at(Code::InvalidValue, "/cursor", "this is not a cursor of this search")
        .hint("Send the next_cursor of the previous page, with the same filters and sort.")
}

/// Reads a cursor of this search.
pub fn decode(cursor: &str, expected: &str, keys: &[CursorKey]) -> Result<Position, Error> {
    let reject = rejection;
    let json = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|json| String::from_utf8(json).ok());
    let json = json.ok_or_else(reject)?;
    let parts: Vec<&RawValue> = serde_json::from_str(&json).map_err(|_| reject())?;
    let text = |part: &RawValue| serde_json::from_str::<String>(part.get()).ok();
    let [fingerprint, id, values @ ..] = parts.as_slice() else { return Err(reject()) };
    if text(fingerprint).as_deref() != Some(expected) || values.len() != keys.len() {
        return Err(reject());
    }
    let id = text(id).and_then(|id| Uuid::parse_str(&id).ok()).ok_or_else(reject)?;
    let values = values.iter().zip(keys).map(|(value, key)| match value.get() {
        "null" => Some(None),
        _ => key.expression(value).map(Some),
    });
    let values = values.collect::<Option<Vec<_>>>().ok_or_else(reject)?;
    let rank = match (keys, parts.get(2)) {
        ([CursorKey::Rank], Some(rank)) => Some(rank.get().parse().map_err(|_| reject())?),
        _ => None,
    };
    Ok(Position { values, id: Constant::id(id).typed(""), uuid: id, rank })
}

/// The type of a value in a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorKey {
    /// A value of an attribute's type.
    Of(AttributeType),
    /// A whole number.
    Rank,
}

impl From<&SortKey> for CursorKey {
    fn from(key: &SortKey) -> CursorKey {
        CursorKey::Of(key.column.kind())
    }
}

impl CursorKey {
    fn expression(self, json: &RawValue) -> Option<String> {
        match self {
            CursorKey::Rank => json.get().parse::<i32>().ok().map(|rank| format!("({rank})")),
            CursorKey::Of(kind) => kind.cursor_sql(json),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::tests::properties::outside_of_quotes;
    use crate::json::arbitrary;
    use proptest::prelude::*;

    const ID: &str = "0192f0c1-2222-8abc-8def-0123456789ab";

    fn keys() -> impl Strategy<Value = CursorKey> {
        prop_oneof![Just(CursorKey::Rank), prop::sample::select(AttributeType::ALL).prop_map(CursorKey::Of)]
    }

    #[test]
    fn cursor_continues_after_the_last_record() {
        for (kind, value, sql) in [
            (AttributeType::String, r#""it's""#, "it''s"),
            (AttributeType::Number, "-12345678901234567890.50", "-12345678901234567890.50"),
            (AttributeType::Number, r#""NaN""#, "NaN"),
            (AttributeType::Metric, "1.5e-7", "1.5e-7"),
            (AttributeType::List, r#"["a","b"]"#, "'a', 'b'"),
            (AttributeType::Boolean, "true", "true"),
            (AttributeType::Date, r#""2024-02-29""#, "2024-02-29"),
            (AttributeType::DateTime, "9223372036854775807", "infinity"),
            (AttributeType::Reference, &format!("\"{ID}\""), ID),
        ] {
            let cursor = encode("print", &[value.to_owned(), "null".to_owned()], ID);
            let keys = [CursorKey::Of(kind); 2];
            let position = decode(&cursor, "print", &keys).expect(value);
            let expression = position.values[0].as_deref().expect(value);
            assert!(expression.contains(sql), "{expression}");
            assert_eq!((&position.values[1], position.uuid.to_string().as_str()), (&None, ID));
            assert!(
                decode(&cursor, "another", &keys).is_err() && decode(&cursor, "print", &keys[1..]).is_err()
            );
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_a_cursor_or_rejected(text in prop_oneof![any::<String>(), "[-_A-Za-z0-9]{0,60}"]) {
            let error = decode(&text, "print", &[]).expect_err("a guess of the fingerprint");
            prop_assert_eq!(error.violations[0].pointer.as_str(), "/cursor");
        }

        #[test]
        fn forged_cursor_stays_within_its_literal(
            key in keys(),
            value in prop_oneof![
                arbitrary::value(),
                "-?[0-9]{1,20}",
                "[a'\\\\\";-]{0,9}".prop_map(|text| serde_json::Value::from(text).to_string()),
                prop::collection::vec("[a'\\\\\"}]{0,5}", 0..4).prop_map(|it| serde_json::Value::from(it).to_string()),
            ],
        ) {
            if let Ok(position) = decode(&encode("print", &[value], ID), "print", &[key]) {
                let left = position.values.into_iter().flatten().map(|sql| outside_of_quotes(&sql)).collect::<String>();
                let words = left.split(|it: char| !it.is_ascii_alphanumeric() && it != '_').filter(|it| !it.is_empty());
                for word in words {
                    let known = ["numeric", "double", "precision", "array", "text", "date", "timestamptz", "uuid", "boolean"];
                    prop_assert!(known.contains(&word) || key == CursorKey::Rank && word.parse::<i64>().is_ok(), "{left}");
                }
                prop_assert!(!left.contains([';', '/', '*', '\\']) && !left.contains("--"), "{left}");
            }
        }
    }
}
