//! Cells of CSV files.

use crate::attribute_type::number::is_number;
use crate::attribute_type::{AttributeType, Rules};
use crate::value::change::{Change, Point, Value};
use crate::value::file_format::{SEPARATOR, unguarded, write_list, write_text};
use crate::value::record_id;
use proptest::prelude::*;
use std::borrow::Cow;

fn read(kind: AttributeType, cell: &str) -> Option<Change<'_>> {
    let target = (kind == AttributeType::Reference).then_some(7);
    kind.parse_cell(cell, &Rules { pointer: "/attributes/a", target, ..Rules::default() }).ok()
}

#[test]
fn empty_cell_clears_and_single_quote_is_the_empty_text() {
    for kind in [
        AttributeType::String,
        AttributeType::Number,
        AttributeType::List,
        AttributeType::Date,
        AttributeType::Reference,
    ] {
        assert_eq!(read(kind, ""), Some(Change::Set(Value::Null)));
    }
    assert_eq!(read(AttributeType::String, "'"), Some(Change::Set(Value::Text("".into()))));
}

#[test]
fn leading_quote_of_a_text_is_removed() {
    for (cell, text) in [
        ("'=1+1", "=1+1"),
        ("''tis", "'tis"),
        ("'tis", "'tis"),
        ("=1+1", "=1+1"),
        ("'-5", "-5"),
        ("a'", "a'"),
    ] {
        assert_eq!(read(AttributeType::String, cell), Some(Change::Set(Value::Text(text.into()))), "{cell}");
    }
}

#[test]
fn number_has_the_form_of_json() {
    for cell in ["0", "-0.10", "12345678901234567890.5", "1e5", "1E-7", "2.5e+3"] {
        assert_eq!(
            read(AttributeType::Number, cell),
            Some(Change::Set(Value::Number(cell.into()))),
            "{cell}"
        );
    }
    for cell in ["+1", "01", "1.", ".5", "1,5", "1 000", " 1", "1e", "NaN", "0x1", "-", "1e999", "'-5", "٣"]
    {
        assert_eq!(read(AttributeType::Number, cell), None, "{cell}");
    }
}

#[test]
fn date_and_time_have_the_form_of_the_api() {
    assert!(
        read(AttributeType::Date, "2024-02-29").is_some()
            && read(AttributeType::DateTime, "2024-02-29T13:45:00Z").is_some()
    );
    for cell in ["29.02.2024", "2/29/2024", "2024-02-30", "20240229", "today", "45351"] {
        assert_eq!(read(AttributeType::Date, cell), None, "{cell}");
    }
    for cell in ["2024-02-29", "2024-02-29 13:45", "2024-02-29T13:45:00"] {
        assert_eq!(read(AttributeType::DateTime, cell), None, "{cell}");
    }
}

#[test]
fn boolean_is_case_insensitive() {
    for (cell, value) in
        [("true", 1), ("TRUE", 1), ("True", 1), ("tRuE", 1), ("false", 0), ("FALSE", 0), ("False", 0)]
    {
        assert_eq!(read(AttributeType::Boolean, cell), Some(Change::Set(Value::ByValue(value))), "{cell}");
    }
    for cell in ["t", "ＴＲＵＥ", "WAHR", "FALSE ", "yes", "1", "0", " true", "'true", "\"true\"", "null"]
    {
        assert_eq!(read(AttributeType::Boolean, cell), None, "{cell}");
    }
}

#[test]
fn reference_is_a_key_or_an_id_of_the_target() {
    let own = record_id::compose(1, 7, 1).to_string();
    assert!(matches!(read(AttributeType::Reference, &own), Some(Change::Set(Value::Reference(_)))));
    let others = record_id::compose(1, 8, 1).to_string();
    for key in [others.as_str(), "A-1", "92d6b0a4-3b5c-4c8e-9a53-0f1d2c3b4a59"] {
        assert_eq!(read(AttributeType::Reference, key), Some(Change::Set(Value::ReferenceByKey(key.into()))));
    }
    assert_eq!(read(AttributeType::Reference, "   "), None);
}

#[test]
fn metric_is_a_number_or_points() {
    assert_eq!(
        read(AttributeType::Metric, "4.5"),
        Some(Change::Append(vec![Point { value: 4.5, at: None }]))
    );
    assert!(matches!(read(AttributeType::Metric, r#"[{"value":1,"at":"2024-01-01T00:00:00Z"},2]"#),
        Some(Change::Append(points)) if points.len() == 2));
    for cell in ["x", "{", "1e999", "[\"x\"]"] {
        assert_eq!(read(AttributeType::Metric, cell), None, "{cell}");
    }
}

proptest! {
    #[test]
    fn written_text_round_trips(text in "[=+@'\\-\t\r\"a;é\n]{0,6}") {
        let mut cell = String::new();
        write_text(&mut cell, &text);
        prop_assert_eq!(unguarded(&cell), text.as_str());
        prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']));
        prop_assert_eq!(read(AttributeType::String, &cell), Some(Change::Set(Value::Text(text.as_str().into()))));
    }

    #[test]
    fn written_list_round_trips(list in prop::collection::vec("[=\\[' ;a\"\n]{0,4}", 0..5)) {
        let mut cell = String::new();
        write_list(&mut cell, &list, SEPARATOR);
        let list = list.into_iter().map(Cow::Owned).collect();
        prop_assert_eq!(read(AttributeType::List, &cell), Some(Change::Set(Value::List(list))), "{}", cell);
    }

    #[test]
    fn number_in_a_cell_is_a_json_number(cell in "[-+0-9.eE]{0,8}") {
        prop_assert_eq!(is_number(&cell), serde_json::from_str::<serde_json::Number>(&cell).is_ok()
            || cell.parse::<f64>().is_ok_and(f64::is_infinite) && is_number(&cell));
    }
}
