//! Written cells read back.

use super::{format, read, rules};
use crate::attribute_type::AttributeType;
use crate::format::Format;
use crate::value::change::{Change, Value};
use crate::value::file_format::write_text;
use crate::value::time;
use crate::value::zone::Utc;
use crate::value::zone::tests::Summer;
use proptest::prelude::*;

#[test]
fn number_is_read_in_its_format() {
    for (text, cell, number) in [
        (r#"{"decimal": ",", "thousands": "."}"#, "1.234,50", "1234.50"),
        (r#"{"decimal": ",", "thousands": "."}"#, "1.234", "1234"),
        (r#"{"decimal": ",", "thousands": "."}"#, "-12.345.678", "-12345678"),
        (r#"{"decimal": ",", "thousands": "."}"#, "1234567,5", "1234567.5"),
        (r#"{"decimal": ","}"#, "1,5E+03", "1.5E+03"),
        (r#"{"thousands": "'"}"#, "1'234.5", "1234.5"),
        (r#"{"thousands": "'"}"#, "1\u{2019}234.5", "1234.5"),
        (r#"{"decimal": ",", "thousands": " "}"#, "1\u{202f}234 567,5", "1234567.5"),
        (r#"{"decimal": ",", "trailing_minus": true}"#, "12,5-", "-12.5"),
        (r#"{"decimal": ",", "trailing_minus": true}"#, "-12,5", "-12.5"),
    ] {
        assert_eq!(read(&format(text), AttributeType::Number, cell, &Utc).as_deref(), Ok(number), "{cell}");
    }
}

#[test]
fn twelve_hour_clock_has_noon_and_midnight() {
    let american = format(r#"{"datetime": "M/D/YYYY h:mm A", "time_zone": "UTC"}"#);
    for (cell, at) in [
        ("2/29/2024 12:00 AM", "2024-02-29T00:00:00Z"),
        ("2/29/2024 12:01 PM", "2024-02-29T12:01:00Z"),
        ("2/29/2024 1:45 pm", "2024-02-29T13:45:00Z"),
    ] {
        assert_eq!(read(&american, AttributeType::DateTime, cell, &Utc).as_deref(), Ok(at));
        let mut written = String::new();
        american.write_datetime(&mut written, time::parse_datetime(at, "").expect(at), &Utc);
        assert_eq!(written.to_lowercase(), cell.to_lowercase());
    }
}

#[test]
fn time_outside_the_pattern_is_written_in_rfc_3339() {
    let local = format(r#"{"datetime": "DD.MM.YYYY HH:mm", "time_zone": "Europe/Zurich"}"#);
    for (at, cell) in [
        ("2000-07-01T10:00:00Z", "01.07.2000 12:00"),
        ("2000-12-31T23:30:00Z", "01.01.2001 00:30"),
        ("2000-07-01T10:00:01Z", "2000-07-01T10:00:01Z"),
        ("2000-10-29T00:30:00Z", "2000-10-29T00:30:00Z"),
        ("9999-12-31T23:30:00Z", "9999-12-31T23:30:00Z"),
    ] {
        let mut written = String::new();
        local.write_datetime(&mut written, time::parse_datetime(at, "").expect(at), &Summer);
        assert_eq!(written, cell);
        assert_eq!(read(&local, AttributeType::DateTime, cell, &Summer).as_deref(), Ok(at));
    }
}

#[test]
fn value_that_equals_a_null_text_is_detected() {
    let zero = format(r#"{"null": ["", "0", "n/a"], "decimal": ","}"#);
    assert_eq!(zero.hidden_value(AttributeType::Number), Some("0"));
    assert_eq!(zero.hidden_value(AttributeType::Date), None);
    assert_eq!(zero.hidden_value(AttributeType::String), None);
    let dated = format(r#"{"null": "01.01.1900", "date": "DD.MM.YYYY"}"#);
    assert_eq!(dated.hidden_value(AttributeType::Date), Some("01.01.1900"));
}

/// An arbitrary format.
fn formats() -> impl Strategy<Value = Format> {
    let number = prop::sample::select(vec![
        r#""decimal": ",", "thousands": ".""#,
        r#""thousands": " ", "trailing_minus": true"#,
        r#""decimal": ",""#,
    ]);
    let date = prop::sample::select(vec!["DD.MM.YYYY", "M/D/YYYY", "YYYYMMDD"]);
    let time = prop::sample::select(vec!["HH:mm", "h:mm:ss A", "H:mm:ss.SSSSSS"]);
    let null = prop::sample::select(vec![r#""NULL", "n/a", "a""#, r#""", "-", "=a", "[]""#, r#""a|a", """#]);
    let list = prop::sample::select(vec!["|", ",", "\\n", ";"]);
    (number, date, time, null, list).prop_map(|(number, date, time, null, list)| {
        format(&format!(
            r#"{{{number}, "date": "{date}", "datetime": "{date} {time}", "time_zone": "Europe/Zurich", "null": [{null}],
            "true": ["ja"], "false": ["nein"], "list": "{list}"}}"#
        ))
    })
}

proptest! {
    #[test]
    fn value_round_trips(
        form in formats(),
        number in "-?(0|[1-9][0-9]{0,12})(\\.[0-9]{1,5})?",
        days in time::DATE_RANGE,
        at in prop_oneof![time::DATETIME_RANGE, Just(26_100_000_000_000_000_i64), 7_340_000_000_000_000..27_000_000_000_000_000_i64],
        is_true in any::<bool>(),
    ) {
        let mut cell = String::new();
        form.write_number(&mut cell, &number);
        prop_assert_eq!(read(&form, AttributeType::Number, &cell, &Utc), Ok(number));

        let mut date = String::new();
        time::write_date(&mut date, days);
        cell.clear();
        form.write_date(&mut cell, &date);
        prop_assert_eq!(read(&form, AttributeType::Date, &cell, &Utc), Ok(date));

        cell.clear();
        form.write_datetime(&mut cell, at, &Summer);
        let found = read(&form, AttributeType::DateTime, &cell, &Summer);
        let found = found.map(|text| time::parse_datetime(&text, "").expect("a time"));
        prop_assert_eq!(found, Ok(at), "{}", cell);

        cell.clear();
        form.write_boolean(&mut cell, is_true);
        prop_assert_eq!(read(&form, AttributeType::Boolean, &cell, &Utc), Ok(is_true.to_string()));
    }

    #[test]
    fn text_list_and_null_round_trip(
        form in formats(),
        text in prop_oneof!["[=+'a ,|NUL]{0,5}", Just("NULL".to_owned()), Just("n/a".to_owned())],
        list in prop::collection::vec("[=+'\\[a ,;|\\n-]{0,3}", 0..4),
    ) {
        let (mut own, mut cell) = (String::new(), String::new());
        write_text(&mut own, &text);
        form.write_text(&mut cell, &own);
        let found = read(&form, AttributeType::String, &cell, &Utc).expect("a text");
        let value = AttributeType::String.parse_cell(&found, &rules());
        prop_assert_eq!(value, Ok(Change::Set(Value::Text(text.into()))), "{}", cell);

        cell.clear();
        form.write_list(&mut cell, &list);
        let found = read(&form, AttributeType::List, &cell, &Utc).expect("a list");
        let value = AttributeType::List.parse_cell(&found, &rules());
        prop_assert_eq!(value, Ok(Change::Set(Value::List(list.into_iter().map(Into::into).collect()))), "{}", cell);

        cell.clear();
        form.write_null(&mut cell);
        for kind in AttributeType::ALL {
            prop_assert_eq!(read(&form, *kind, &cell, &Utc), Ok(String::new()));
        }
    }
}
