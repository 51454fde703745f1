//! Arbitrary JSON, for property tests of parsers.

use crate::error::Error;
use proptest::prelude::*;
use serde_json::Value;

/// The text of any JSON value.
pub fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,4})?",
        any::<String>().prop_map(|text| Value::from(text).to_string()),
        prop::sample::select(vec![
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"2024-02-29\"",
            "\"2024-02-29T13:45:00Z\"",
            "\"92d6b0a4-3b5c-8c8e-9a53-0f1d2c3b4a59\"",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        let names = prop_oneof![
            prop::sample::select(vec!["$inc", "value", "at", "external_key", "field", "~/"])
                .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((names, inner), 0..4).prop_map(object),
        ]
    })
}

/// The text of an object with mostly these names.
pub fn object_of(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let name = prop_oneof![
        12 => prop::sample::select(names).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec((name, value()), 0..5).prop_map(object)
}

fn object(members: Vec<(String, String)>) -> String {
    let member = |(name, value): (String, String)| format!("{}:{value}", Value::from(name));
    format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
}

/// Whether every pointer of an error refers to a value of the request, or to a missing member of one.
pub fn points_into(request: &str, error: &Error) -> bool {
    // serde_json rejects numbers outside the range of a double, and lone surrogates.
    let Ok(request) = serde_json::from_str::<Value>(request) else { return true };
    error.violations.iter().all(|violation| {
        let above = violation.pointer.rsplit_once('/').map_or("", |(above, _)| above);
        // Names of more than a hundred characters are truncated.
        violation.pointer.contains('…')
            || request.pointer(&violation.pointer).or_else(|| request.pointer(above)).is_some()
    })
}
