//! Rejected filters: the error has a pointer and lists what is accepted, and the filter is rejected early.

use crate::gallery::Gallery;
use harness::SqlError;
use serde_json::{Value, json};

const EVERY: [&str; 17] = [
    "eq",
    "neq",
    "in",
    "not-in",
    "like",
    "not-like",
    "ilike",
    "starts-with",
    "ends-with",
    "gt",
    "gte",
    "lt",
    "lte",
    "between",
    "today",
    "empty",
    "not-empty",
];

/// Fields of each type, and the operators that they support.
const ACCEPTED: [(&[&str], &str); 7] = [
    (
        &["title", "artist.name"],
        "eq, neq, in, not-in, like, not-like, ilike, starts-with, ends-with, empty, not-empty",
    ),
    (&["price", "mood"], "eq, neq, in, not-in, gt, gte, lt, lte, between, empty, not-empty"),
    (&["tags", "tier"], "in, not-in, empty, not-empty"),
    (
        &["made", "sold", "created_at", "updated_at"],
        "eq, neq, in, not-in, gt, gte, lt, lte, between, today, empty, not-empty",
    ),
    (&["framed"], "eq, neq, in, not-in, empty, not-empty"),
    (&["artist", "artist.country"], "eq, neq, in, not-in, empty, not-empty"),
    (&["external_key", "artist.external_key"], "eq, neq, in, not-in, like, not-like, empty, not-empty"),
];

/// Asserts that the filter is rejected with one error at one pointer.
#[track_caller]
pub(crate) fn is_rejected(error: &SqlError, code: &str, pointer: &str) {
    assert_eq!((error.codes(), error.pointers()), (("22023", code), vec![pointer]), "{error}");
}

async fn rejected(gallery: &Gallery, condition: Value) -> SqlError {
    gallery.error(&json!({"filters": [condition]})).await
}

#[tokio::test]
async fn unsupported_operator_is_rejected_with_supported_ones() {
    let gallery = Gallery::new().await;
    for (fields, accepted) in ACCEPTED {
        for field in fields {
            for operator in EVERY.into_iter().chain(["EQ", "=", "contains", "not_in", ""]) {
                if accepted.split(", ").any(|name| name == operator) {
                    continue;
                }
                let error =
                    rejected(&gallery, json!({"field": field, "operator": operator, "value": "1,2"})).await;
                is_rejected(&error, "operator_not_allowed", "/filters/0/operator");
                assert!(error.message.ends_with(&format!("takes {accepted}")), "{field} {operator}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn supported_operator_is_accepted() {
    let gallery = Gallery::new().await;
    for (fields, accepted) in ACCEPTED {
        for field in fields {
            for operator in accepted.split(", ") {
                let one = match *field {
                    "price" | "mood" => "1",
                    "tier" => "gold",
                    "framed" => "true",
                    "made" | "sold" | "created_at" | "updated_at" => "2024-01-01",
                    "artist" | "artist.country" => "00000000-0000-8000-8000-000000000000",
                    _ => "x",
                };
                let value = match operator {
                    "empty" | "not-empty" | "today" => Value::Null,
                    "between" => json!([one, one]),
                    _ => json!(one),
                };
                gallery
                    .passing(json!({"filters": [{"field": field, "operator": operator, "value": value}]}))
                    .await;
            }
        }
    }
}

#[tokio::test]
async fn errors_have_pointers() {
    let gallery = Gallery::new().await;
    let query = json!({
        "filters": [
            {"field": "price", "operator": "like", "value": "1"},
            {"field": "nothing", "operator": "eq", "value": "1"},
            {"and": [{"field": "price", "operator": "in", "value": [1, "x", 2, true]}]},
        ],
        "filter_groups": [[
            {"field": "title", "operator": "eq", "value": "fine"},
            {"not": {"or": [{"field": "made", "operator": "eq", "value": "today"}]}}
        ]]
    });
    let error = gallery.error(&query).await;
    let problems: Vec<(&str, &str)> = error.detail["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|problem| {
            (problem["pointer"].as_str().unwrap_or_default(), problem["code"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        problems,
        [
            ("/filters/0/operator", "operator_not_allowed"),
            ("/filters/1/field", "unknown_field"),
            ("/filters/2/and/0/value/1", "invalid_value"),
            ("/filters/2/and/0/value/3", "invalid_value"),
            ("/filter_groups/0/1/not/or/0/value", "invalid_value"),
        ]
    );
}

#[tokio::test]
async fn value_of_another_type_is_rejected() {
    let gallery = Gallery::new().await;
    for (field, operator, values) in [
        ("title", "eq", &[json!(1), json!(true), json!({}), json!(["x"]), Value::Null][..]),
        ("title", "like", &[json!(1), json!(["x"]), Value::Null]),
        (
            "title",
            "in",
            &[
                json!([1]),
                json!([null]),
                json!([["x"]]),
                json!(""),
                json!("a,,b"),
                json!("\"a"),
                json!("[a]"),
                json!(1),
            ],
        ),
        (
            "price",
            "eq",
            &[
                json!("x"),
                json!(""),
                json!("1,5"),
                json!("+1"),
                json!("0x1"),
                json!("NaN"),
                json!("Infinity"),
                json!("1e999"),
                json!(true),
                json!({"$inc": 1}),
            ],
        ),
        ("mood", "eq", &[json!("x"), json!("NaN"), json!("1e999"), json!("-Infinity")]),
        (
            "price",
            "between",
            &[
                json!(1),
                json!("1"),
                json!([1]),
                json!([1, 2, 3]),
                json!("1,2,3"),
                json!([1, null]),
                json!([]),
            ],
        ),
        (
            "made",
            "eq",
            &[json!("today"), json!("2024-02-30"), json!("2024-01-01T00:00:00Z"), json!(20240101), json!("")],
        ),
        (
            "sold",
            "gt",
            &[json!("now"), json!("2024-01-01T00:00:00"), json!("2024-02-30"), json!("infinity"), json!(0)],
        ),
        ("sold", "today", &[json!("2024-01-01"), json!(true), json!(0)]),
        ("title", "empty", &[json!("false"), json!(false), json!([])]),
        ("tags", "in", &[json!([1]), json!({}), json!([null])]),
        ("tier", "in", &[json!("bronze"), json!(["gold", "Gold card"]), json!([""])]),
        (
            "artist",
            "eq",
            &[
                json!("klee"),
                json!(1),
                json!({}),
                json!({"external_key": 1}),
                json!({"key": "x"}),
                json!("{\"external_key\"}"),
                json!(""),
            ],
        ),
        ("id", "eq", &[json!("x"), json!({"external_key": "x"}), json!(1)]),
        ("template_id", "eq", &[json!("works"), json!(-1), json!("")]),
    ] {
        for value in values {
            let error =
                rejected(&gallery, json!({"field": field, "operator": operator, "value": value})).await;
            assert_eq!(error.codes(), ("22023", "invalid_value"), "{field} {operator} {value}: {error}");
            for pointer in error.pointers() {
                assert!(pointer.starts_with("/filters/0/value"), "{field} {operator} {value}: {error}");
            }
        }
    }
    for key in ["", "  ", "a\nb", &"x".repeat(256)] {
        let error =
            rejected(&gallery, json!({"field": "external_key", "operator": "eq", "value": key})).await;
        is_rejected(&error, "invalid_external_key", "/filters/0/value");
    }
}

#[tokio::test]
async fn unknown_field_is_rejected_with_known_ones() {
    let gallery = Gallery::new().await;
    for field in [
        "nothing",
        "",
        "Title",
        "title ",
        "works.title",
        "t.title",
        "artist.nothing",
        "artist.",
        ".title",
        "artist..name",
        "title.name",
        "ctid",
        "title\"; --",
    ] {
        let error = rejected(&gallery, json!({"field": field, "operator": "not-empty"})).await;
        is_rejected(&error, "unknown_field", "/filters/0/field");
    }
    let error = rejected(&gallery, json!({"field": "artist.nothing", "operator": "not-empty"})).await;
    assert!(error.hint.contains("name, born, country"), "{}", error.hint);
    let deep =
        rejected(&gallery, json!({"field": "artist.country.continent.name.x", "operator": "eq"})).await;
    is_rejected(&deep, "invalid_value", "/filters/0/field");
}

#[tokio::test]
async fn invalid_filter_is_rejected() {
    let gallery = Gallery::new().await;
    let fine = json!({"field": "title", "operator": "not-empty"});
    for (query, code, pointer) in [
        (json!({"filters": {}}), "invalid_value", "/filters"),
        (json!({"filters": "x"}), "invalid_value", "/filters"),
        (json!({"filters": [1]}), "invalid_value", "/filters/0"),
        (json!({"filters": [[fine]]}), "invalid_value", "/filters/0"),
        (json!({"filters": [{"not": [fine]}]}), "invalid_value", "/filters/0/not"),
        (json!({"filters": [{"and": []}]}), "invalid_value", "/filters/0/and"),
        (json!({"filters": [{"or": fine}]}), "invalid_value", "/filters/0/or"),
        (json!({"filters": [{"or": [fine], "and": [fine]}]}), "unknown_field", "/filters/0/and"),
        (json!({"filters": [{"not": fine, "field": "title"}]}), "unknown_field", "/filters/0/field"),
        (
            json!({"filters": [{"field": "title", "operator": "not-empty", "valu/e": 1}]}),
            "unknown_field",
            "/filters/0/valu~1e",
        ),
        (json!({"filters": [{"field": 1, "operator": "eq"}]}), "invalid_value", "/filters/0/field"),
        (json!({"filters": [{"field": "title", "operator": null}]}), "invalid_value", "/filters/0/operator"),
        (json!({"filter_groups": [fine]}), "invalid_value", "/filter_groups/0"),
        (json!({"filter_groups": [[]]}), "invalid_value", "/filter_groups/0"),
        (json!({"filter_groups": [[fine], []]}), "invalid_value", "/filter_groups/1"),
        (json!({"attribute_key": "label"}), "invalid_value", "/attribute_key"),
    ] {
        let error = gallery.error(&query).await;
        is_rejected(&error, code, pointer);
    }
    for condition in [
        json!({}),
        json!({"field": "title"}),
        json!({"operator": "eq"}),
        json!({"field": "title", "operator": "eq"}),
    ] {
        let error = rejected(&gallery, condition.clone()).await;
        assert_eq!(error.state, "22023", "{condition}");
        assert!(error.pointers().iter().all(|pointer| pointer.starts_with("/filters/0")), "{error}");
    }
}
