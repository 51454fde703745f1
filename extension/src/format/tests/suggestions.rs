//! Suggested formats of a column.

use super::rules;
use crate::attribute_type::AttributeType;
use crate::format::suggest::forms;
use serde_json::{Value, json};

/// The formats that fit cells, grouped by readings.
fn fitting(kind: AttributeType, cells: &[&str]) -> Value {
    let found = forms("column", kind, &rules(), Some("Europe/Zurich"), 0, cells.iter().copied());
    let found = json!(found.expect("formats"));
    let mut choices: Vec<(Value, Vec<Value>)> = Vec::new();
    for fit in found["fits"].as_array().expect("an array") {
        match choices.iter_mut().find(|(hash, _)| *hash == fit[1]) {
            Some((_, formats)) => formats.push(fit[0].clone()),
            None => choices.push((fit[1].clone(), vec![fit[0].clone()])),
        }
    }
    choices.into_iter().map(|(_, formats)| formats[0].clone()).collect()
}

#[test]
fn format_of_a_column_is_detected() {
    for (kind, cells, formats) in [
        (AttributeType::Number, &["1.234,50", "12"][..], json!([{"decimal": ",", "thousands": "."}])),
        (AttributeType::Number, &["1234,5", "12,25"], json!([{"decimal": ","}])),
        (AttributeType::Number, &["1\u{2019}234.50"], json!([{"decimal": ".", "thousands": "'"}])),
        (AttributeType::Number, &["1,234"], json!([{"decimal": ","}, {"decimal": ".", "thousands": ","}])),
        (AttributeType::Number, &["12", "12.5"], json!([{}])),
        (AttributeType::Number, &["1.234,50", "12.5"], json!([])),
        (AttributeType::Date, &["29.02.2024", "01.02.2024"], json!([{"date": "DD.MM.YYYY"}])),
        (AttributeType::Date, &["9.2.2024", "21.2.2024"], json!([{"date": "D.M.YYYY"}])),
        (AttributeType::Date, &["2/29/2024"], json!([{"date": "M/D/YYYY"}])),
        (AttributeType::Date, &["01/02/2024"], json!([{"date": "DD/MM/YYYY"}, {"date": "MM/DD/YYYY"}])),
        // Both formats read the same day.
        (AttributeType::Date, &["03/03/2024"], json!([{"date": "DD/MM/YYYY"}])),
        (AttributeType::Date, &["29.02.2024", "2024-03-01"], json!([])),
        (AttributeType::Date, &["2024-03-01"], json!([{}])),
        (
            AttributeType::DateTime,
            &["29.02.2024 13:45"],
            json!([{"datetime": "DD.MM.YYYY HH:mm", "time_zone": "Europe/Zurich"}]),
        ),
        (
            AttributeType::DateTime,
            &["2/29/2024 1:45 PM"],
            json!([{"datetime": "M/D/YYYY h:mm A", "time_zone": "Europe/Zurich"}]),
        ),
        (AttributeType::Boolean, &["Ja", "nein"], json!([{"true": ["ja"], "false": ["nein"]}])),
        (AttributeType::Boolean, &["ja", "no"], json!([])),
        // The default separator, with an empty element.
        (AttributeType::List, &["red;blue", "red;"], json!([])),
    ] {
        assert_eq!(fitting(kind, cells), formats, "{cells:?}");
    }
}

#[test]
fn null_text_is_detected() {
    let found = forms("c", AttributeType::Number, &rules(), None, 0, ["12", "n/a", "NULL", ""].into_iter());
    let found = json!(found.expect("formats"));
    assert_eq!((&found["nulls"], &found["kind"]), (&json!(["NULL", "n/a"]), &json!("number")));
    assert_eq!(found["fits"][0][0], json!({}));
}

#[test]
fn text_attribute_has_no_formats() {
    for kind in [AttributeType::String, AttributeType::Reference] {
        assert!(forms("c", kind, &rules(), None, 0, ["n/a"].into_iter()).is_none());
    }
}

#[test]
fn examples_show_the_readings_of_each_format() {
    let cells = ["01/02/2024", "", "n/a", "01/02/2024", "03/04/2024", "05/06/2024"];
    let found = forms("c", AttributeType::Date, &rules(), None, 2, cells.into_iter()).expect("formats");
    let found = serde_json::to_value(&found).expect("JSON");
    assert_eq!(found["examples"], json!(["01/02/2024", "03/04/2024"]));
    let fits: Vec<&str> =
        found["fits"].as_array().expect("formats").iter().filter_map(|fit| fit[0]["date"].as_str()).collect();
    assert_eq!(fits, ["DD/MM/YYYY", "D/M/YYYY", "MM/DD/YYYY", "M/D/YYYY"]);
    let (day_first, month_first) = (json!(["2024-02-01", "2024-04-03"]), json!(["2024-01-02", "2024-03-04"]));
    assert_eq!(found["readings"], json!([day_first, day_first, month_first, month_first]));
}
