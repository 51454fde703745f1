//! Rejected filters: syntax, fields, operators and limits.

use super::*;

fn rejected(filters: &str) -> Vec<(String, Code, String)> {
    violations(compile(&format!("{{\"filters\":{filters}}}")))
}

#[test]
fn syntax_error_is_reported_with_its_pointer() {
    const OK: &str = r#"{"field":"note","operator":"empty"}"#;
    for (filters, pointer, code, message) in [
        ("{}".to_owned(), "/filters", Code::InvalidValue, "must be a JSON array"),
        ("[5]".to_owned(), "/filters/0", Code::InvalidValue, "must be {field, operator, value}"),
        (format!("[{OK},null]"), "/filters/1", Code::InvalidValue, "must be {field, operator, value}"),
        (r#"[{"operator":"empty"}]"#.to_owned(), "/filters/0/field", Code::InvalidValue, "field is missing"),
        (
            r#"[{"field":"note"}]"#.to_owned(),
            "/filters/0/operator",
            Code::InvalidValue,
            "operator is missing",
        ),
        (
            r#"[{"field":"note","operator":"eq"}]"#.to_owned(),
            "/filters/0/value",
            Code::InvalidValue,
            "value is missing",
        ),
        (
            r#"[{"field":5,"operator":"eq"}]"#.to_owned(),
            "/filters/0/field",
            Code::InvalidValue,
            "must be a string",
        ),
        (
            r#"[{"field":"note","operator":null}]"#.to_owned(),
            "/filters/0/operator",
            Code::InvalidValue,
            "must be a string",
        ),
        (
            r#"[{"field":"note","operator":"empty","op/":1}]"#.to_owned(),
            "/filters/0/op~1",
            Code::UnknownField,
            "unknown member",
        ),
        (r#"[{"and":[]}]"#.to_owned(), "/filters/0/and", Code::InvalidValue, "at least one condition"),
        (r#"[{"or":[]}]"#.to_owned(), "/filters/0/or", Code::InvalidValue, "at least one condition"),
        (format!(r#"[{{"and":{OK}}}]"#), "/filters/0/and", Code::InvalidValue, "must be a JSON array"),
        (
            format!(r#"[{{"not":[{OK}]}}]"#),
            "/filters/0/not",
            Code::InvalidValue,
            "must be {field, operator, value}",
        ),
        (
            format!(r#"[{{"or":[{OK}],"field":"note"}}]"#),
            "/filters/0/field",
            Code::UnknownField,
            "or cannot be combined with \"field\"",
        ),
        (
            r#"[{"or":[{"not":{"field":"note","operator":"eq","value":7}}]}]"#.to_owned(),
            "/filters/0/or/0/not/value",
            Code::InvalidValue,
            "must be a string",
        ),
    ] {
        let violations = rejected(&filters);
        assert_eq!(violations.len(), 1, "{filters}: {violations:?}");
        assert_eq!((violations[0].0.as_str(), violations[0].1), (pointer, code), "{filters}");
        assert!(violations[0].2.contains(message), "{filters}: {}", violations[0].2);
    }
}

#[test]
fn group_is_an_array_of_conditions() {
    for (groups, pointer, message) in [
        ("5", "/filter_groups", "must be a JSON array"),
        ("[[]]", "/filter_groups/0", "at least one condition"),
        (r#"[{"and":[]}]"#, "/filter_groups/0", "must be a JSON array"),
        (
            r#"[[{"field":"id","operator":"empty"}],[{"field":"price","operator":"eq","value":"x"}]]"#,
            "/filter_groups/1/0/value",
            "must be a number",
        ),
    ] {
        let violations = violations(compile(&format!("{{\"filter_groups\":{groups}}}")));
        assert_eq!((violations[0].0.as_str(), violations[0].1), (pointer, Code::InvalidValue), "{groups}");
        assert!(violations[0].2.contains(message), "{groups}: {}", violations[0].2);
    }
}

#[test]
fn inapplicable_operator_is_rejected_with_the_applicable_ones() {
    for (field, operator, takes) in [
        (
            "external_key",
            "gt",
            "\"gt\" cannot be used with \"external_key\" (the record's key), which takes \
             eq, neq, in, not-in, like, not-like, empty, not-empty",
        ),
        ("external_key", "lt", "eq, neq, in, not-in, like, not-like, empty, not-empty"),
        ("external_key", "between", "eq, neq, in, not-in, like, not-like, empty, not-empty"),
        ("external_key", "ilike", "eq, neq, in, not-in, like, not-like, empty, not-empty"),
        ("external_key", "ends-with", "eq, neq, in, not-in, like, not-like, empty, not-empty"),
        ("external_key", "starts-with", "eq, neq, in, not-in, like, not-like, empty, not-empty"),
        (
            "price",
            "like",
            "\"like\" cannot be used with \"price\" (number), which takes \
             eq, neq, in, not-in, gt, gte, lt, lte, between, empty, not-empty",
        ),
        (
            "note",
            "gt",
            "eq, neq, in, not-in, like, not-like, ilike, starts-with, ends-with, empty, not-empty",
        ),
        ("tags", "eq", "\"tags\" (list), which takes in, not-in, empty, not-empty"),
        ("made", "like", "eq, neq, in, not-in, gt, gte, lt, lte, between, today, empty, not-empty"),
        ("artist", "like", "eq, neq, in, not-in, empty, not-empty"),
        ("framed", "gt", "\"framed\" (boolean), which takes eq, neq, in, not-in, empty, not-empty"),
        ("artist.born", "like", "\"artist.born\" (date)"),
        ("id", "gt", "eq, neq, in, not-in, empty, not-empty"),
        ("template_id", "empty", "which takes eq, neq, in, not-in"),
        ("note", "EQ", "\"EQ\" cannot be used with \"note\" (string)"),
        ("note", "not_in", "\"not_in\" cannot be used with"),
        ("note", "=", "which takes eq"),
    ] {
        let violations = rejected(&format!("[{}]", on(field, operator, "\"x\"")));
        assert_eq!(
            (violations[0].0.as_str(), violations[0].1),
            ("/filters/0/operator", Code::OperatorNotAllowed)
        );
        assert!(violations[0].2.contains(takes), "{field} {operator}: {}", violations[0].2);
    }
}

#[test]
fn unknown_field_is_rejected_with_its_name() {
    for (field, code, message) in [
        ("nam", Code::UnknownField, "crm.works has no field \"nam\""),
        ("Name", Code::UnknownField, "no field \"Name\""),
        ("", Code::UnknownField, "no field \"\""),
        ("11", Code::UnknownField, "no field \"11\""),
        (".name", Code::UnknownField, "no field \".name\""),
        ("artist.", Code::UnknownField, "no field \"artist.\""),
        ("external_key.x", Code::UnknownField, "no field \"external_key.x\""),
        ("note.x", Code::UnknownField, "note is of type string, but only references have fields"),
        ("artist.country.union.seat.name", Code::InvalidValue, "at most 3 references"),
        ("a.b.c.d.e.f.g.h", Code::InvalidValue, "at most 3 references"),
    ] {
        let violations = rejected(&format!("[{}]", on(field, "eq", "\"x\"")));
        assert_eq!((violations[0].0.as_str(), violations[0].1), ("/filters/0/field", code), "{field}");
        assert!(violations[0].2.contains(message), "{field}: {}", violations[0].2);
    }
    let long = rejected(&format!("[{}]", on(&"é".repeat(10_000), "eq", "\"x\"")));
    assert!(long[0].2.len() < 400, "{}", long[0].2);
}

#[test]
fn all_violations_are_reported_together() {
    let filters =
        [on("nam", "eq", "1"), on("note", "gt", "1"), on("price", "in", r#"["a",1,"b"]"#)].join(",");
    let places: Vec<String> =
        rejected(&format!("[{filters}]")).into_iter().map(|violation| violation.0).collect();
    assert_eq!(
        places,
        ["/filters/0/field", "/filters/1/operator", "/filters/2/value/0", "/filters/2/value/2"]
    );
    let many = vec!["\"x\""; 1000].join(",");
    assert_eq!(
        rejected(&format!("[{}]", on("price", "in", &format!("[{many}]")))).len(),
        crate::error::MAX_VIOLATIONS
    );
}

#[test]
fn invalid_unicode_is_malformed() {
    for condition in [on("note", "eq", r#""\ud800""#), on("\\ud800", "eq", "1"), r#"{"\ud800":1}"#.to_owned()]
    {
        let error = compile(&format!("{{\"filters\":[{},{condition}]}}", on("nam", "eq", "1")));
        assert_eq!(error.expect_err("half a character").code, Code::MalformedRequest, "{condition}");
    }
}

#[test]
fn conditions_are_counted_at_every_level() {
    let conditions = |count: usize| vec![r#"{"field":"note","operator":"empty"}"#; count].join(",");
    let body = |first, second| {
        let (filters, groups) = (conditions(first), conditions(second));
        compile(&format!(r#"{{"filters":[{filters}],"filter_groups":[[{{"or":[{groups}]}}]]}}"#))
    };
    assert!(body(100, 100).is_ok());
    let violations = violations(body(100, 101));
    assert_eq!(
        (violations[0].0.as_str(), violations[0].1),
        ("/filter_groups/0/0/or/100", Code::InvalidValue)
    );
    assert!(violations[0].2.contains("at most 200 conditions"));
    let million = format!("[{}1]", "1,".repeat(1_000_000));
    assert_eq!(rejected(&million)[0].0, "/filters/200");
    assert_eq!(
        super::violations(compile(&format!("{{\"filter_groups\":[{}]}}", vec!["[]"; 300].join(","))))[0].0,
        "/filter_groups/200"
    );
}

#[test]
fn depth_is_limited_before_parsing() {
    let nested = |word: &str, depth: usize| {
        let (open, close) = if word == "not" { ("", "") } else { ("[", "]") };
        let before = format!("{{\"{word}\":{open}").repeat(depth);
        let after = format!("{close}}}").repeat(depth);
        format!("[{before}{}{after}]", on("note", "eq", "\"a\""))
    };
    for word in ["and", "or", "not"] {
        assert!(compile(&format!("{{\"filters\":{}}}", nested(word, 10))).is_ok());
        for depth in [11, 10_000] {
            let violations = rejected(&nested(word, depth));
            assert!(violations[0].0.starts_with("/filters/0/") && violations[0].1 == Code::InvalidValue);
            assert!(violations[0].2.contains("a depth of at most 10"), "{}", violations[0].2);
        }
    }
    let value = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(rejected(&format!("[{}]", on("note", "in", &value)))[0].0, "/filters/0/value/0");
}

#[test]
fn condition_has_at_most_a_thousand_values() {
    let values = |count: usize| vec!["1"; count].join(",");
    for form in [
        |values: String| format!("[{values}]"),
        |values| format!("\"{values}\""),
        |values| format!("\"[{values}]\""),
    ] {
        let body = |count| compile(&format!("{{\"filters\":[{}]}}", on("price", "in", &form(values(count)))));
        assert!(body(1000).is_ok());
        let violations = violations(body(1001));
        assert_eq!((violations[0].0.as_str(), violations[0].1), ("/filters/0/value", Code::InvalidValue));
        assert!(violations[0].2.contains("at most 1000 values"), "{}", violations[0].2);
    }
}

#[test]
fn scope_rejects_unknown_members() {
    let scope = |text: &str| violations(compile_scope(text));
    assert_eq!(scope(r#"{"filters":[],"limit":5}"#)[0].0, "/limit");
    assert_eq!(scope(r#"[{"field":"nam","operator":"empty"}]"#)[0].0, "/0/field");
    assert_eq!(scope(r#"{"field":"nam","operator":"empty"}"#)[0].0, "/field");
    assert_eq!(scope("5")[0].0, "");
    assert_eq!(scope("null")[0].0, "");
}

#[test]
fn attribute_key_is_slug_or_id() {
    let read = |text: &str| AttributeKey::parse(&raw(text), "/attribute_key");
    assert_eq!(
        (read("\"slug\""), read("\"id\""), read("null")),
        (Ok(AttributeKey::Slug), Ok(AttributeKey::Id), Ok(AttributeKey::Slug))
    );
    for text in ["\"Slug\"", "5", "{}"] {
        assert_eq!(read(text).expect_err(text).violations[0].pointer, "/attribute_key");
    }
}
