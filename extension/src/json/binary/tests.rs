use super::*;
use crate::json::arbitrary;
use proptest::prelude::*;

/// The content in words of 32 bits, without the header of the variable-length value.
fn words(json: &str) -> Vec<u32> {
    let stored = to_jsonb(json).expect("a converted text");
    assert_eq!(stored[..VARLENA_HEADER], varlena_header(stored.len()));
    let padded = stored.len().next_multiple_of(SIZE);
    let padded: Vec<u8> = stored.into_iter().chain([0; SIZE]).take(padded).collect();
    padded[VARLENA_HEADER..]
        .chunks(SIZE)
        .map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes")))
        .collect()
}

fn word(bytes: &[u8; 4]) -> u32 {
    u32::from_ne_bytes(*bytes)
}

#[test]
fn scalar_is_an_array_of_one_element() {
    let header = IS_ARRAY | IS_SCALAR | 1;
    assert_eq!(words("null"), [header, IS_END | NULL]);
    assert_eq!(words(" true "), [header, IS_END | TRUE]);
    assert_eq!(words("\"abcd\""), [header, IS_END | 4, word(b"abcd")]);
}

#[test]
fn members_are_sorted_by_length_and_then_by_bytes() {
    let entries = [IS_END | 1, 1, 2, FALSE, TRUE, NULL];
    let names = [word(b"bzaa")];
    let expected: Vec<u32> = [IS_OBJECT | 3].into_iter().chain(entries).chain(names).collect();
    assert_eq!(words("{\"aa\": null, \"z\": true, \"b\": false}"), expected);
}

#[test]
fn every_32nd_entry_has_an_end() {
    let text = format!("[{}]", vec!["\"ab\""; 40].join(","));
    let entries = &words(&text)[1..41];
    for (index, entry) in entries.iter().enumerate() {
        let expected = if index % 32 == 0 { IS_END | (2 * (index as u32 + 1)) } else { 2 };
        assert_eq!(*entry, expected, "{index}");
    }
}

#[test]
fn padding_belongs_to_the_value_after_it() {
    // "a" takes one byte; three of padding and eight of the number follow.
    let number = NUMERIC | (3 + 4 + 2 + 2);
    assert_eq!(words("[\"a\", 7]")[..3], [IS_ARRAY | 2, IS_END | 1, number]);
    assert_eq!(words("[\"a\", []]"), [IS_ARRAY | 2, IS_END | 1, CONTAINER | 7, word(b"a\0\0\0"), IS_ARRAY]);
}

#[test]
fn rare_forms_are_left_to_the_input_function() {
    let deep = "[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1);
    let long = "9".repeat(260);
    let decimals = format!("0.{}", "1".repeat(64));
    for text in ["\"\\u0041\"", "1e3", "{\"a\": 1, \"a\": 2}", &deep, &long, &decimals] {
        assert!(to_jsonb(text).is_none(), "{text}");
    }
}

#[test]
fn invalid_json_is_left_to_the_input_function() {
    for text in [
        "",
        "nul",
        "+1",
        "01",
        "-",
        "1.",
        ".5",
        "1 2",
        "[1,]",
        "[1",
        "{\"a\"}",
        "{\"a\":1,}",
        "{a:1}",
        "\"a",
        "\"\n\"",
        "\"\\x\"",
        "[1}",
        "tru",
        "{,}",
        "[,]",
    ] {
        assert!(to_jsonb(text).is_none(), "{text}");
    }
}

#[test]
fn longest_json_is_converted() {
    let text = |length: usize| format!("\"{}\"", "x".repeat(length));
    assert!(to_jsonb(&text(MAX_TEXT - 2)).is_some());
    assert!(to_jsonb(&text(MAX_TEXT - 1)).is_none());
}

proptest! {
    #[test]
    fn arbitrary_json_is_converted_or_left_unchanged(text in any::<String>()) {
        let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert!(is_json || to_jsonb(&text).is_none());
    }

    #[test]
    fn names_of_any_converted_object_are_found(json in arbitrary::value()) {
        if let (Some(stored), Ok(serde_json::Value::Object(members))) = (to_jsonb(&json), serde_json::from_str(&json)) {
            let mut expected: Vec<&str> = members.keys().map(String::as_str).collect();
            expected.sort_by_key(|name| (name.len(), *name));
            prop_assert_eq!(names(&stored[VARLENA_HEADER..]), expected);
        }
    }
}
