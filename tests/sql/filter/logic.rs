//! Combined conditions, conditions on null, and text with pattern characters.

use crate::gallery::{Gallery, INDEXABLE};
use serde_json::{Value, json};

/// Works `A` to `F` with prices 1 to 6. An even price is gold, and only `F` has a title.
async fn six() -> Gallery {
    let gallery = Gallery::new().await;
    for (number, key) in (1..).zip(["A", "B", "C", "D", "E", "F"]) {
        let tier: &[&str] = if number % 2 == 0 { &["gold"] } else { &[] };
        let title = if key == "F" { json!("Water") } else { Value::Null };
        gallery.add("works", key, json!({"price": number, "tier": tier, "title": title})).await;
    }
    gallery
}

fn price(operator: &str, value: i32) -> Value {
    json!({"field": "price", "operator": operator, "value": value})
}

fn gold() -> Value {
    json!({"field": "tier", "operator": "in", "value": "gold"})
}

#[tokio::test]
async fn filters_combine_with_and_groups_with_or() {
    let gallery = six().await;
    for (query, expected) in [
        (json!({}), "A B C D E F"),
        (json!({"filters": [], "filter_groups": []}), "A B C D E F"),
        (json!({"filters": null, "filter_groups": null}), "A B C D E F"),
        (json!({"filters": [price("gt", 1), price("lt", 4)]}), "B C"),
        (json!({"filter_groups": [[price("gt", 1), price("lt", 4)]]}), "B C"),
        (json!({"filter_groups": [[price("lt", 3)], [price("gt", 4)]]}), "A B E F"),
        (json!({"filter_groups": [[price("lt", 3), gold()], [price("gt", 4)]]}), "B E F"),
        (json!({"filters": [gold()], "filter_groups": [[price("lt", 3)], [price("gt", 4)]]}), "B F"),
        (json!({"filters": [price("gt", 9)], "filter_groups": [[gold()]]}), ""),
    ] {
        assert_eq!(gallery.passing(query.clone()).await, expected, "{query}");
    }
}

#[tokio::test]
async fn conditions_nest() {
    let gallery = six().await;
    let either = json!({"or": [price("eq", 1), price("eq", 2)]});
    for (condition, expected) in [
        (either.clone(), "A B"),
        (json!({"and": [either, gold()]}), "B"),
        (json!({"not": either}), "C D E F"),
        (json!({"not": {"not": either}}), "A B"),
        (json!({"not": {"and": [gold(), price("gt", 2)]}}), "A B C E"),
        (json!({"or": [{"and": [gold(), {"not": price("lt", 5)}]}, {"and": [price("eq", 3)]}]}), "C F"),
        (json!({"not": {"or": [{"not": gold()}, {"not": price("lt", 3)}]}}), "B"),
    ] {
        assert_eq!(gallery.passing(json!({"filters": [condition]})).await, expected, "{condition}");
        assert_eq!(gallery.passing(json!({"filter_groups": [[condition]]})).await, expected, "{condition}");
    }
}

#[tokio::test]
async fn negation_matches_null_and_excludes_positive_matches() {
    let gallery = six().await;
    // Only F has a title; the others have null.
    for indexed in ["false", "true"] {
        gallery.index(indexed).await;
        for (operator, value, expected) in [
            ("neq", json!("Water"), "A B C D E"),
            ("neq", json!("Wine"), "A B C D E F"),
            ("neq", json!(""), "A B C D E F"),
            ("not-in", json!(["Water", "Wine"]), "A B C D E"),
            ("not-like", json!("at"), "A B C D E"),
            ("not-like", json!(""), "A B C D E"),
            ("empty", Value::Null, "A B C D E"),
            ("not-empty", Value::Null, "F"),
        ] {
            assert_eq!(
                gallery.filtered("title", operator, value.clone()).await,
                expected,
                "{operator} {value}"
            );
        }
        // `not` negates the condition, and a null value fulfills no positive condition.
        for (operator, value) in [
            ("eq", "Water"),
            ("in", "Water"),
            ("like", "at"),
            ("ilike", "AT"),
            ("starts-with", "Wa"),
            ("ends-with", "er"),
        ] {
            let condition = json!({"field": "title", "operator": operator, "value": value});
            let query = json!({"filters": [{"not": condition}]});
            assert_eq!(gallery.passing(query).await, "A B C D E", "{operator}");
        }
        for (operator, value) in
            [("gt", json!(0)), ("lte", json!(0)), ("between", json!([-9, 9])), ("eq", json!(0))]
        {
            let condition = json!({"field": "mood", "operator": operator, "value": value});
            assert_eq!(gallery.passing(json!({"filters": [condition]})).await, "", "{operator}");
            let query = json!({"filters": [{"not": condition}]});
            assert_eq!(gallery.passing(query).await, "A B C D E F", "{operator}");
        }
    }
}

#[tokio::test]
async fn empty_is_null_for_every_type() {
    let gallery = Gallery::new().await;
    gallery.works([("A", json!({})), ("B", json!({"title": "x", "price": 0, "mood": 0, "tags": ["x"], "tier": ["gold"], "made": "2024-01-01", "sold": "2024-01-01T00:00:00Z", "framed": false}))]).await;
    for indexed in ["false", "true"] {
        gallery.index(indexed).await;
        for slug in INDEXABLE.into_iter().chain(["external_key"]) {
            let (empty, other) = if slug == "external_key" { ("", "A B") } else { ("A", "B") };
            assert_eq!(gallery.filtered(slug, "empty", Value::Null).await, empty, "{slug}");
            assert_eq!(gallery.filtered(slug, "not-empty", Value::Null).await, other, "{slug}");
        }
    }
}

#[tokio::test]
async fn pattern_characters_are_plain_text() {
    let strings = [
        ("A", "100% pure"),
        ("B", "100 pure"),
        ("C", "a_b"),
        ("D", "axb"),
        ("E", r"C:\temp"),
        ("F", r"C:temp"),
        ("G", "it's"),
        ("H", "say \"x\""),
        ("I", r"50\%"),
        ("J", "É. Ünal\n😀"),
        ("K", "'; drop table art.works; --"),
    ];
    let gallery = Gallery::new().await;
    for (key, text) in strings {
        gallery.add("works", key, json!({"title": text})).await;
    }
    for indexed in ["false", "true"] {
        gallery.index(indexed).await;
        for (operator, text, expected) in [
            ("like", "%", "A I"),
            ("like", "_", "C"),
            ("like", "\\", "E I"),
            ("like", r"\%", "I"),
            ("like", "0%", "A"),
            ("like", "a_b", "C"),
            ("like", "'", "G K"),
            ("like", "\"", "H"),
            ("like", r":\t", "E"),
            ("like", "\n", "J"),
            ("like", "😀", "J"),
            ("not-like", "_", "A B D E F G H I J K"),
            ("ilike", "%", "A I"),
            ("ilike", "A_B", "C"),
            ("ilike", r"c:\T", "E"),
            ("ilike", "é. ü", "J"),
            ("starts-with", "%", ""),
            ("starts-with", "100%", "A"),
            ("starts-with", "a_", "C"),
            ("starts-with", r"C:\", "E"),
            ("starts-with", "'", "K"),
            ("ends-with", "%", "I"),
            ("ends-with", "_b", "C"),
            ("ends-with", r"\temp", "E"),
            ("ends-with", "😀", "J"),
            ("ends-with", "É", ""),
            ("eq", r"50\%", "I"),
            ("eq", "a%", ""),
            ("eq", "_xb", ""),
            ("eq", "it's", "G"),
        ] {
            assert_eq!(gallery.filtered("title", operator, text).await, expected, "{operator} {text}");
        }
        // Each is found, alone and in a list.
        for (key, text) in strings {
            assert_eq!(gallery.filtered("title", "eq", text).await, key);
            assert_eq!(gallery.filtered("title", "in", json!([text, "none"])).await, key);
            let quoted = format!("none, \"{}\"", text.replace('"', "\"\""));
            assert_eq!(gallery.filtered("title", "in", quoted).await, key);
        }
    }
}

#[tokio::test]
async fn text_values_with_equal_index_keys_are_distinguished() {
    let gallery = Gallery::indexed().await;
    let (same, accents) = ("x".repeat(200), "é".repeat(200));
    gallery
        .works([
            ("A", json!({"title": same})),
            ("B", json!({"title": format!("{same}a")})),
            ("C", json!({"title": format!("{same}b")})),
            ("D", json!({"title": accents})),
            ("E", json!({"title": format!("{accents}é")})),
            ("F", json!({})),
        ])
        .await;
    for (operator, value, expected) in [
        ("eq", json!(same), "A"),
        ("eq", json!(format!("{same}b")), "C"),
        ("eq", json!(format!("{same}c")), ""),
        ("neq", json!(format!("{same}b")), "A B D E F"),
        ("eq", json!(accents), "D"),
        ("in", json!([format!("{same}a"), format!("{accents}é")]), "B E"),
        ("not-in", json!([format!("{same}a"), same]), "C D E F"),
        ("starts-with", json!(format!("{same}a")), "B"),
        ("starts-with", json!(same), "A B C"),
        ("ends-with", json!("xa"), "B"),
        ("like", json!("xb"), "C"),
    ] {
        assert_eq!(gallery.filtered("title", operator, value.clone()).await, expected, "{operator} {value}");
    }
}
