//! Accepted and rejected JSON values, and written ones.

use crate::attribute_type::AttributeType;
use crate::attribute_type::list::MAX_ELEMENT_BYTES;
use crate::attribute_type::{Rules, list, number};
use crate::error::{Code, Error};
use crate::json::arbitrary::{points_into, value};
use crate::value::change::{Change, Point, Value};
use crate::value::list_option::ListOption;
use crate::value::time::{
    DATE_RANGE, DATETIME_RANGE, date_sql, datetime_sql, parse_date, parse_datetime, write_date,
    write_datetime,
};
use proptest::prelude::*;
use serde_json::value::RawValue;

const AT_A: Rules = Rules { pointer: "/a", options: None, target: None, numbers_as_strings: false };

fn raw(text: &str) -> Box<RawValue> {
    serde_json::from_str(text).expect("JSON")
}

fn rejected(kind: AttributeType, text: &str) -> Error {
    match kind.parse(&raw(text), &AT_A) {
        Ok(taken) => panic!("{text} was taken as {taken:?}"),
        Err(error) => error,
    }
}

#[test]
fn values_are_not_coerced() {
    for (kind, texts) in [
        (AttributeType::String, vec!["1", "true", "[]", "{}", r#"["a"]"#]),
        (
            AttributeType::Number,
            vec![r#""1""#, "true", "[1]", r#"{"inc":1}"#, r#"{"$inc":"1"}"#, r#"{"$inc":1,"b":2}"#],
        ),
        (
            AttributeType::Metric,
            vec![r#""1""#, "true", r#"{"at":"2024-01-01T00:00:00Z"}"#, r#"{"value":1,"x":2}"#],
        ),
        (AttributeType::List, vec!["1", "{}", "[1]", "[null]", r#"[["a"]]"#]),
        (AttributeType::Date, vec!["20240101", "{}"]),
        (AttributeType::DateTime, vec!["1704067200"]),
        (AttributeType::Boolean, vec!["1", "0", r#""true""#, r#""""#, "[]", "[true]", "{}"]),
        (AttributeType::Reference, vec!["1", "[]", r#""x""#, r#"{"id":"x"}"#, r#"{"external_key":1}"#]),
    ] {
        for text in texts {
            assert!(rejected(kind, text).violations[0].pointer.starts_with("/a"), "{text}");
        }
    }
}

#[test]
fn number_keeps_its_digits_within_limits() {
    for digits in ["9007199254740993", "12345678901234567890123.45", "1.10", "0.1", "-0", "1e100"] {
        let raw = raw(digits);
        let taken = AttributeType::Number.parse(&raw, &AT_A);
        assert_eq!(taken, Ok(Change::Set(Value::Number(digits.into()))));
    }
    let long = "1".repeat(1001);
    for digits in ["1e131071", "1e400", "1e1000000", "1e-101", "1e99999999999", &long] {
        assert_eq!(rejected(AttributeType::Number, digits).code, Code::InvalidValue);
    }
    assert_eq!(rejected(AttributeType::Metric, "1e400").code, Code::InvalidValue);
}

#[test]
fn boolean_is_true_or_false() {
    for (text, value) in [("true", 1), ("false", 0)] {
        assert_eq!(AttributeType::Boolean.parse(&raw(text), &AT_A), Ok(Change::Set(Value::ByValue(value))));
    }
    let error = rejected(AttributeType::Boolean, r#""true""#);
    assert_eq!(error.message, "must be true or false, without quotes");
}

#[test]
fn metric_is_a_number_a_point_or_an_array() {
    let at = parse_datetime("2024-01-01T00:00:00Z", "/").ok();
    let text = r#"[1, {"value": 2.5, "at": "2024-01-01T00:00:00Z"}]"#;
    let points = vec![Point { value: 1.0, at: None }, Point { value: 2.5, at }];
    assert_eq!(AttributeType::Metric.parse(&raw(text), &AT_A), Ok(Change::Append(points)));
}

#[test]
fn list_is_a_string_or_an_array() {
    assert_eq!(
        AttributeType::List.parse(&raw(r#""red""#), &AT_A),
        AttributeType::List.parse(&raw(r#"["red"]"#), &AT_A)
    );
}

#[test]
fn element_that_is_not_an_option_can_only_be_kept() {
    let options = [ListOption { value: "red".into(), label: "Red".into() }];
    let rules = Rules { options: Some(&options), ..AT_A };
    for (text, pointer) in [
        (r#""red""#, None),
        (r#"["red","red"]"#, None),
        (r#""blue""#, Some("/a")),
        (r#"["red","blue","grey"]"#, Some("/a/1")),
    ] {
        let sent = raw(text);
        let place = match AttributeType::List.parse(&sent, &rules) {
            Ok(Change::Keep(_, error)) => Some(error.violations[0].pointer.clone()),
            other => other.map(|_| None).expect("a list"),
        };
        assert_eq!(place.as_deref(), pointer, "{text}");
    }
    let held = ["blue".to_owned()];
    let check = |list: &[&str]| {
        list::check_new(list, &held, &rules, |place| place.to_string()).map_err(|it| it.violations)
    };
    assert_eq!(check(&["red", "blue", "blue"]), Ok(()));
    assert_eq!(check(&["red", "blue", "grey"]).expect_err("no option")[0].pointer, "2");
}

#[test]
fn text_rejects_u_0000() {
    assert_eq!(rejected(AttributeType::String, r#""a\u0000b""#).code, Code::InvalidValue);
    assert_eq!(rejected(AttributeType::String, r#""\ud800""#).code, Code::MalformedRequest);
}

#[test]
fn nonexistent_date_is_rejected() {
    for text in
        ["today", "now", "infinity", "2024-02-30", "20240105", "2024-1-5", "0000-01-01", "2024-01-05 10:00"]
    {
        assert!(parse_date(text, "/a").is_err(), "{text}");
    }
    assert_eq!(parse_date("2000-01-01", "/a"), Ok(0));
    assert_eq!(parse_date("0001-01-01", "/a"), Ok(*DATE_RANGE.start()));
    assert_eq!(parse_date("9999-12-31", "/a"), Ok(*DATE_RANGE.end()));
}

#[test]
fn time_requires_an_offset_and_is_stored_as_an_instant() {
    for text in [
        "now",
        "2024-01-01",
        "2024-01-01T00:00:00",
        "2024-01-01T24:00:00Z",
        "2024-02-30T00:00:00Z",
        "20240101T000000Z",
    ] {
        assert!(parse_datetime(text, "/a").is_err(), "{text}");
    }
    for (text, canonical) in [
        ("2024-03-10T12:00:00+02:00", "2024-03-10T10:00:00Z"),
        ("2024-03-10T12:00:00.123456789Z", "2024-03-10T12:00:00.123457Z"),
        ("2024-12-31T23:59:60Z", "2024-12-31T23:59:59Z"),
        ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
    ] {
        let mut out = String::new();
        write_datetime(&mut out, parse_datetime(text, "/a").expect(text));
        assert_eq!(out, canonical);
    }
}

#[test]
fn time_out_of_range_is_clamped() {
    let mut out = String::new();
    for at in [i64::MIN, -211_813_488_000_000_000, i64::MAX, 9_223_371_331_199_999_999] {
        write_datetime(&mut out, at);
    }
    let (first, last) = ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z");
    assert_eq!(out, [first, first, last, last].concat());
    out.clear();
    write_date(&mut out, i32::MIN);
    write_date(&mut out, i32::MAX);
    assert_eq!(out, "0001-01-019999-12-31");
}

#[test]
fn time_out_of_range_has_an_sql_expression() {
    for (at, expression) in [
        (0, "'2000-01-01 00:00:00.000000+00'::timestamptz"),
        (-1, "'1999-12-31 23:59:59.999999+00'::timestamptz"),
        (i64::MAX, "'infinity'::timestamptz"),
        (i64::MIN, "'-infinity'::timestamptz"),
        (9_223_371_331_199_999_999, "'294276-12-31 23:59:59.999999+00'::timestamptz"),
        (-211_813_488_000_000_000, "'4714-11-24 00:00:00.000000+00 BC'::timestamptz"),
    ] {
        assert_eq!(datetime_sql(at).as_deref(), Some(expression));
    }
    for (days, expression) in [
        (i32::MAX, "'infinity'::date"),
        (i32::MIN, "'-infinity'::date"),
        (2_145_031_948, "'5874897-12-31'::date"),
        (-2_451_545, "'4714-11-24 BC'::date"),
        (-730_120, "'0001-12-31 BC'::date"),
    ] {
        assert_eq!(date_sql(days).as_deref(), Some(expression));
    }
    for at in [-211_813_488_000_000_001, 9_223_371_331_200_000_000] {
        assert_eq!(datetime_sql(at), None);
    }
    assert_eq!((date_sql(-2_451_546), date_sql(2_145_031_949)), (None, None));
}

proptest! {
    #[test]
    fn date_round_trips(days in DATE_RANGE) {
        let mut out = String::new();
        write_date(&mut out, days);
        prop_assert_eq!(parse_date(&out, "/a"), Ok(days));
    }

    #[test]
    fn instant_round_trips(at in DATETIME_RANGE) {
        let mut out = String::new();
        write_datetime(&mut out, at);
        prop_assert_eq!(parse_datetime(&out, "/a"), Ok(at));
    }

    #[test]
    fn date_has_one_form(text in "[-+ 0-9TWZz:./\\[\\]]{10}|[0-9]{4}[-0-9W]{6}|20[0-9]{2}-[01][0-9]-[0-3][0-9].?") {
        if let Ok(days) = parse_date(&text, "/a") {
            let mut out = String::new();
            write_date(&mut out, days);
            prop_assert_eq!(out, text);
        }
    }

    #[test]
    fn accepted_time_has_the_form_of_rfc_3339(
        text in "20[0-9]{2}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9]([.,][0-9]{0,10})?([Zz]|[-+][0-2][0-9]:?[0-6][0-9]|)|[-+0-9TZ:.é]{19,30}",
    ) {
        if let Ok(at) = parse_datetime(&text, "/a") {
            prop_assert!(text.is_ascii() && text.len() <= 35 && text[..4].bytes().all(|it| it.is_ascii_digit()));
            prop_assert!(text.ends_with(['Z', 'z']) || text[text.len() - 6..].starts_with(['+', '-']));
            let mut out = String::new();
            write_datetime(&mut out, at);
            prop_assert_eq!(parse_datetime(&out, "/a"), Ok(at));
        }
    }

    #[test]
    fn any_json_is_valid_or_rejected_with_its_pointer(
        kind in prop::sample::select(AttributeType::ALL),
        json in value(),
    ) {
        let sent = raw(&json);
        match kind.parse(&sent, &AT_A) {
            Ok(Change::Set(Value::Number(digits)) | Change::Increment(digits)) => {
                prop_assert!(number::check_size(&digits, "").is_ok() && digits.len() <= number::MAX_DIGITS + 6);
                prop_assert!(json.contains(&*digits), "the digits are the caller's");
            }
            Ok(Change::Set(Value::Text(text))) => {
                prop_assert!(text.len() <= 1 << 20 && !text.contains('\0'));
                prop_assert_eq!(serde_json::from_str::<String>(&json).ok(), Some(text.into_owned()));
            }
            Ok(Change::Set(Value::List(list))) => {
                prop_assert!(list.iter().all(|it| it.len() <= MAX_ELEMENT_BYTES && !it.contains('\0')));
            }
            Ok(Change::Set(Value::ByValue(days))) if kind == AttributeType::Date => {
                prop_assert!(i32::try_from(days).is_ok_and(|days| DATE_RANGE.contains(&days)));
            }
            Ok(Change::Set(Value::ByValue(value))) if kind == AttributeType::Boolean => {
                prop_assert_eq!(json, (value != 0).to_string());
            }
            Ok(Change::Set(Value::ByValue(at))) => prop_assert!(DATETIME_RANGE.contains(&at)),
            Ok(Change::Set(Value::ReferenceByKey(key))) => {
                prop_assert_eq!(crate::value::key::normalize(&key).ok(), Some(&*key));
            }
            Ok(Change::Append(points)) => prop_assert!(points.iter().all(|point| point.value.is_finite())),
            Ok(Change::Set(Value::Null)) => prop_assert_eq!(json, "null"),
            Ok(Change::Set(Value::Reference(_))) => prop_assert_eq!(kind, AttributeType::Reference),
            Ok(Change::Keep(..)) => prop_assert!(false, "no options are given"),
            Ok(Change::Set(Value::ReferenceByText(..))) => prop_assert!(false, "only an import has such"),
            Err(error) => prop_assert!(points_into(&format!("{{\"a\":{json}}}"), &error), "{:?}", error.violations),
        }
    }
}
