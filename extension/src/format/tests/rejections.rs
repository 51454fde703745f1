//! Rejected formats and cells.

use super::{format, is_rejected, parse, read};
use crate::attribute_type::AttributeType;
use crate::error::Code;
use crate::format::parse::MEMBERS;
use crate::json::arbitrary::{object_of, points_into};
use crate::value::zone::Utc;
use crate::value::zone::tests::Summer;
use proptest::prelude::*;

#[test]
fn unknown_members_are_rejected_with_the_known_ones() {
    let error = parse(r#"{"dezimal": ",", "date": "DD.MM.YYYY", "tz": "UTC"}"#).expect_err("unknown");
    assert_eq!(error.code, Code::UnknownField);
    assert_eq!(
        error.violations.iter().map(|it| it.pointer.as_str()).collect::<Vec<_>>(),
        ["/format/dezimal", "/format/tz"]
    );
    assert!(error.message.contains("\"dezimal\"") && error.message.contains("\"tz\""), "{error}");
    let hint = error.hint.expect("a hint");
    assert!(MEMBERS.iter().all(|name| hint.contains(name)), "{hint}");
}

#[test]
fn invalid_or_contradictory_member_is_rejected_with_its_pointer() {
    for (text, pointer, message) in [
        (r#"{"decimal": ""}"#, "/decimal", "one character"),
        (r#"{"decimal": "5"}"#, "/decimal", "one character"),
        (r#"{"decimal": ", "}"#, "/decimal", "one character"),
        (r#"{"thousands": "-"}"#, "/thousands", "one character"),
        (r#"{"thousands": "."}"#, "/thousands", "also the decimal separator"),
        (r#"{"decimal": ",", "thousands": ","}"#, "/thousands", "also the decimal separator"),
        (r#"{"trailing_minus": "yes"}"#, "/trailing_minus", "true or false"),
        (r#"{"date": "DD.MM"}"#, "/date", "lacks a year"),
        (r#"{"date": "DD.MM.YY"}"#, "/date", "\"YY\" is not a pattern field"),
        (r#"{"date": "dd.mm.yyyy"}"#, "/date", "\"dd\" is not a pattern field"),
        (r#"{"date": "DMYYYY"}"#, "/date", "a separator must follow"),
        (r#"{"date": "DD.DD.MM.YYYY"}"#, "/date", "a day more than once"),
        (r#"{"date": "DD.MM.YYYY HH:mm"}"#, "/date", "cannot contain an hour"),
        (r#"{"datetime": "DD.MM.YYYY", "time_zone": "UTC"}"#, "/datetime", "lacks an hour"),
        (r#"{"datetime": "DD.MM.YYYY hh:mm", "time_zone": "UTC"}"#, "/datetime", "hh and A belong together"),
        (r#"{"datetime": "DD.MM.YYYY HH:mm.S", "time_zone": "UTC"}"#, "/datetime", "must follow the seconds"),
        (r#"{"datetime": "DD.MM.YYYY HH:mm"}"#, "/time_zone", "is missing"),
        (r#"{"null": 5}"#, "/null", "array of strings"),
        (r#"{"null": ["", 5]}"#, "/null/1", "must be a string"),
        (r#"{"null": ["'"]}"#, "/null/0", "must not begin with '"),
        (r#"{"true": []}"#, "/true", "at least one"),
        (r#"{"true": ["ja"], "false": ["JA"]}"#, "/true", "both true and false"),
        (r#"{"false": "true"}"#, "/false", "both true and false"),
        (r#"{"false": [""]}"#, "/false", "both false and no value"),
        (r#"{"true": "x", "null": ["x"]}"#, "/null", "both true and no value"),
        (r#"{"true": "Yes", "false": "No", "null": "no"}"#, "/null", "both false and no value"),
        (r#"{"decimal": "'", "thousands": "’"}"#, "/thousands", "also the decimal separator"),
        (r#"{"decimal": " ", "thousands": "\u00a0"}"#, "/thousands", "also the decimal separator"),
        (r#"{"list": "ab"}"#, "/list", "one character"),
        (r#"{"list": "["}"#, "/list", "one character"),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(error.code, Code::InvalidValue, "{text}");
        assert_eq!(error.violations[0].pointer, format!("/format{pointer}"), "{text}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
    // Absent members contradict nothing.
    format(r#"{"decimal": null, "true": "wahr", "false": [""], "null": ["n/a"], "list": "\n"}"#);
}

#[test]
fn number_in_another_format_is_rejected_with_an_example() {
    let german = format(r#"{"decimal": ",", "thousands": "."}"#);
    for cell in [
        "1,234.50", "1234.50", "1.23", "12.34,5", "1.2345", "1234.567", "1.234.56", "1,", ",5", "--5", "5-",
        "+5", "1 234", "1..234", "12e", "x", "1,5,5", " 5", "5%", "CHF 5",
    ] {
        let read = read(&german, AttributeType::Number, cell, &Utc);
        assert!(is_rejected(&read, &["is not a number", "1234,50", "1.234,50"]), "{cell}: {read:?}");
    }
    let plain = format(r#"{"decimal": "."}"#);
    assert!(is_rejected(&read(&plain, AttributeType::Metric, "1.234.567", &Utc), &["Write 1234.50."]));
}

#[test]
fn date_in_another_format_is_rejected_with_an_example() {
    let german = format(r#"{"date": "DD.MM.YYYY"}"#);
    for cell in ["2024-02-29", "1.2.2024", "29.02.24", "29/02/2024", "29.02.2024 ", "29.02.2024 10:00", "x"] {
        let read = read(&german, AttributeType::Date, cell, &Utc);
        assert!(
            is_rejected(&read, &["is not a date of the form DD.MM.YYYY", "29.02.2024"]),
            "{cell}: {read:?}"
        );
    }
    for cell in ["31.02.2024", "29.02.2023", "00.01.2024", "01.13.2024", "01.01.0000"] {
        let read = read(&german, AttributeType::Date, cell, &Utc);
        assert!(is_rejected(&read, &["there is no day"]), "{cell}: {read:?}");
    }
}

#[test]
fn nonexistent_or_ambiguous_local_time_is_rejected() {
    let local = format(r#"{"datetime": "DD.MM.YYYY HH:mm", "time_zone": "Europe/Zurich"}"#);
    let read = |cell: &str| read(&local, AttributeType::DateTime, cell, &Summer);
    assert_eq!(read("26.03.2000 01:59").as_deref(), Ok("2000-03-26T00:59:00Z"));
    assert!(is_rejected(&read("26.03.2000 02:30"), &["does not exist", "Europe/Zurich", "set forward"]));
    assert!(is_rejected(
        &read("29.10.2000 02:30"),
        &[
            "is ambiguous in Europe/Zurich",
            "2000-10-29T00:30:00Z for the first, 2000-10-29T01:30:00Z for the second"
        ]
    ));
    assert_eq!(read("2000-10-29T01:30:00Z").as_deref(), Ok("2000-10-29T01:30:00Z"));
    assert!(is_rejected(
        &read("29.10.2000"),
        &["not a time of the form DD.MM.YYYY HH:mm", "29.02.2024 13:45"]
    ));
    assert!(is_rejected(&read("29.10.2000 24:00"), &["there is no time"]));
    assert!(is_rejected(&read("31.02.2000 10:00"), &["there is no time"]));
}

#[test]
fn unknown_word_is_not_a_boolean() {
    let german = format(r#"{"true": ["ja", "wahr"], "false": ["nein"]}"#);
    let read = |cell: &str| read(&german, AttributeType::Boolean, cell, &Utc);
    for (cell, value) in [("ja", "true"), ("JA", "true"), ("Wahr", "true"), ("nein", "false")] {
        assert_eq!(read(cell).as_deref(), Ok(value), "{cell}");
    }
    for cell in ["true", "j", "ja ", "1"] {
        assert!(
            is_rejected(&read(cell), &["neither true nor false", "ja or wahr for true, nein for false"]),
            "{cell}"
        );
    }
}

#[test]
fn list_with_an_empty_element_is_rejected() {
    let piped = format(r#"{"list": "|"}"#);
    let read = |cell: &str| read(&piped, AttributeType::List, cell, &Utc);
    assert_eq!(read("red | blue").as_deref(), Ok(r#"["red","blue"]"#));
    for cell in ["red|blue|", "a||b", " ", "|"] {
        assert!(is_rejected(&read(cell), &["contains an empty element", "Write a|b"]), "{cell}");
    }
}

#[test]
fn empty_cell_is_a_text_if_null_has_other_texts() {
    let sparse = format(r#"{"null": ["NULL", "n/a"]}"#);
    let read = |kind, cell: &str| read(&sparse, kind, cell, &Utc);
    for kind in AttributeType::ALL {
        assert_eq!(read(*kind, "n/a").as_deref(), Ok(""), "{kind:?}");
    }
    assert_eq!(read(AttributeType::String, "").as_deref(), Ok("'"));
    assert_eq!(read(AttributeType::String, "'NULL").as_deref(), Ok("NULL"));
    assert_eq!(read(AttributeType::String, "null").as_deref(), Ok("null"));
    assert!(is_rejected(&read(AttributeType::Number, ""), &["the cell is empty", "\"NULL\" or \"n/a\""]));
}

proptest! {
    #[test]
    fn any_object_is_a_format_or_is_rejected_with_its_pointer(text in object_of(&MEMBERS)) {
        let request = format!("{{\"format\":{text}}}");
        if let Err(error) = parse(&text) {
            prop_assert!(points_into(&request, &error), "{:?}", error.violations);
        }
    }
}
