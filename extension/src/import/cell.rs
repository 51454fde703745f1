//! CSV cell → what it does to an attribute: pure, exact, nothing coerced. The forms are those of the JSON interface,
//! with what a cell needs besides: several elements in one, and a guard against formulas.

use crate::error::{Code, Error};
use crate::template::Attribute;
use crate::value::attribute_type::AttributeType;
use crate::value::cell_format::{SEPARATOR, unguarded};
use crate::value::change::{
    self, Change, MAX_LIST_ELEMENTS, Point, Value, check_element_size, check_number_size, check_option,
    check_text_size,
};
use crate::value::{record_id, time};
use serde_json::value::RawValue;
use std::borrow::Cow;
use uuid::Uuid;

/// What a cell does to an attribute. An empty one clears it; `'` alone is the empty text.
pub fn parse<'a>(attribute: &Attribute, cell: &'a str) -> Result<Change<'a>, Error> {
    let pointer = &attribute.pointer;
    if cell.is_empty() {
        return Ok(Change::Set(Value::Null));
    }
    if cell.contains('\0') {
        return Err(Error::at(Code::InvalidValue, pointer, "must not hold the character U+0000"));
    }
    let set = |value| Ok(Change::Set(value));
    match attribute.kind {
        AttributeType::String => {
            let text = unguarded(cell);
            check_text_size(text.len(), pointer)?;
            set(Value::Text(Cow::Borrowed(text)))
        }
        AttributeType::Number => {
            require_number(cell, pointer)?;
            check_number_size(cell, pointer)?;
            set(Value::Number(Cow::Borrowed(cell)))
        }
        AttributeType::Metric => parse_metric(attribute, cell),
        AttributeType::List => parse_list(attribute, unguarded(cell)),
        AttributeType::Date => time::parse_date(cell, pointer).and_then(|days| set(Value::Date(days))),
        AttributeType::DateTime => {
            time::parse_datetime(cell, pointer).and_then(|at| set(Value::DateTime(at)))
        }
        AttributeType::Reference => parse_reference(attribute, unguarded(cell)).and_then(set),
    }
}

fn require_number(cell: &str, pointer: &str) -> Result<(), Error> {
    if is_number(cell) {
        return Ok(());
    }
    Err(Error::at(Code::InvalidValue, pointer, format!("{cell:?} is not a number")).hint(
        "write digits with a point before decimals and nothing between thousands, for example -1234.50",
    ))
}

/// Whether a text is a number in JSON's grammar.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(unsigned);
    if whole == 0 || whole > 1 && unsigned.starts_with('0') {
        return false;
    }
    let mut rest = &unsigned[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        None => rest.is_empty(),
    }
}

/// A number measured now, or points in JSON: `{"value": 4, "at": "…"}`, or an array of such.
fn parse_metric<'a>(attribute: &Attribute, cell: &str) -> Result<Change<'a>, Error> {
    let pointer = &attribute.pointer;
    if cell.starts_with(['{', '[']) {
        return match change::parse(attribute.kind, None, raw(cell, pointer)?, pointer)? {
            Change::Append(points) => Ok(Change::Append(points)),
            _ => Err(Error::at(
                Code::InvalidValue,
                pointer,
                "must be a number, {value, at}, or an array of these",
            )),
        };
    }
    require_number(cell, pointer)?;
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Change::Append(vec![Point { value, at: None }])),
        _ => Err(Error::at(Code::InvalidValue, pointer, "is too large for a metric (double precision)")),
    }
}

fn raw<'a>(cell: &'a str, pointer: &str) -> Result<&'a RawValue, Error> {
    serde_json::from_str(cell).map_err(|error| {
        Error::at(
            Code::InvalidValue,
            pointer,
            format!("begins like JSON and cannot be read as such: {error}"),
        )
    })
}

/// Elements with `;` between them, spaces around each dropped; or, where an element holds one, an array in JSON.
fn parse_list<'a>(attribute: &Attribute, cell: &'a str) -> Result<Change<'a>, Error> {
    let (pointer, options) = (&attribute.pointer, attribute.options.as_deref());
    if cell.starts_with('[') {
        return match change::parse(AttributeType::List, options, raw(cell, pointer)?, pointer)? {
            Change::Set(Value::List(list)) => {
                let list = list.into_iter().map(|element| Cow::Owned(element.into_owned())).collect();
                Ok(Change::Set(Value::List(list)))
            }
            _ => Err(Error::at(Code::InvalidValue, pointer, "must be an array of strings")),
        };
    }
    let mut list: Vec<Cow<str>> = Vec::new();
    for element in cell.split(SEPARATOR).map(|element| element.trim_matches(' ')) {
        if element.is_empty() {
            return Err(Error::at(Code::InvalidValue, pointer, "holds an empty element")
                .hint("write a;b, or an array in JSON: [\"a\",\"\"]"));
        }
        check_element_size(element.len(), pointer)?;
        check_option(options, element, pointer)?;
        list.push(Cow::Borrowed(element));
    }
    if list.len() > MAX_LIST_ELEMENTS {
        let message = format!("a list has at most {MAX_LIST_ELEMENTS} elements, not {}", list.len());
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    check_text_size(list.iter().map(|element| element.len()).sum(), pointer)?;
    Ok(Change::Set(Value::List(list)))
}

/// The external key of the target; or its id, which is told by the number of the target's template in it.
fn parse_reference<'a>(attribute: &Attribute, cell: &'a str) -> Result<Value<'a>, Error> {
    if cell.len() == 36
        && let Ok(id) = Uuid::parse_str(cell)
        && record_id::template_of(id) == attribute.target
    {
        return Ok(Value::Reference(id));
    }
    crate::value::key::normalize(cell)
        .map(|key| Value::ReferenceByKey(Cow::Borrowed(key)))
        .map_err(|error| Error::at(error.code, &attribute.pointer, error.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::cell_format::{write_list, write_text};
    use proptest::prelude::*;

    fn attribute(kind: AttributeType) -> Attribute {
        Attribute {
            id: 1,
            slug: "a".to_owned(),
            pointer: "/attributes/a".to_owned(),
            kind,
            label: None,
            required: false,
            indexed: false,
            options: None,
            target: (kind == AttributeType::Reference).then_some(7),
            default: None,
            column: 6,
        }
    }

    fn read(kind: AttributeType, cell: &str) -> Option<Change<'_>> {
        parse(&attribute(kind), cell).ok()
    }

    #[test]
    fn an_empty_cell_clears_and_a_lone_quote_is_the_empty_text() {
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
    fn a_guarded_text_loses_its_guard_and_others_keep_their_quote() {
        for (cell, text) in [
            ("'=1+1", "=1+1"),
            ("''tis", "'tis"),
            ("'tis", "'tis"),
            ("=1+1", "=1+1"),
            ("'-5", "-5"),
            ("a'", "a'"),
        ] {
            assert_eq!(
                read(AttributeType::String, cell),
                Some(Change::Set(Value::Text(text.into()))),
                "{cell}"
            );
        }
    }

    #[test]
    fn a_number_is_written_as_in_json() {
        for cell in ["0", "-0.10", "12345678901234567890.5", "1e5", "1E-7", "2.5e+3"] {
            assert_eq!(
                read(AttributeType::Number, cell),
                Some(Change::Set(Value::Number(cell.into()))),
                "{cell}"
            );
        }
        for cell in
            ["+1", "01", "1.", ".5", "1,5", "1 000", " 1", "1e", "NaN", "0x1", "-", "1e999", "'-5", "٣"]
        {
            assert_eq!(read(AttributeType::Number, cell), None, "{cell}");
        }
    }

    #[test]
    fn dates_and_times_have_the_one_form_of_the_interface() {
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
    fn a_reference_is_a_key_unless_it_is_an_id_of_the_target() {
        let own = record_id::generate(7, 1).to_string();
        assert!(matches!(read(AttributeType::Reference, &own), Some(Change::Set(Value::Reference(_)))));
        let others = record_id::generate(8, 1).to_string();
        for key in [others.as_str(), "A-1", "92d6b0a4-3b5c-4c8e-9a53-0f1d2c3b4a59"] {
            assert_eq!(
                read(AttributeType::Reference, key),
                Some(Change::Set(Value::ReferenceByKey(key.into())))
            );
        }
        assert_eq!(read(AttributeType::Reference, "   "), None);
    }

    #[test]
    fn a_metric_is_a_number_or_points() {
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
        fn a_written_text_reads_back(text in "[=+@'\\-\t\r\"a;é\n]{0,6}") {
            let mut cell = String::new();
            write_text(&mut cell, &text);
            prop_assert_eq!(unguarded(&cell), text.as_str());
            prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']));
            prop_assert_eq!(read(AttributeType::String, &cell), Some(Change::Set(Value::Text(text.as_str().into()))));
        }

        #[test]
        fn a_written_list_reads_back(list in prop::collection::vec("[=\\[' ;a\"\n]{0,4}", 0..5)) {
            let mut cell = String::new();
            write_list(&mut cell, &list);
            let list = list.into_iter().map(Cow::Owned).collect();
            prop_assert_eq!(read(AttributeType::List, &cell), Some(Change::Set(Value::List(list))), "{}", cell);
        }

        #[test]
        fn no_cell_is_a_number_that_json_does_not_know(cell in "[-+0-9.eE]{0,8}") {
            prop_assert_eq!(is_number(&cell), serde_json::from_str::<serde_json::Number>(&cell).is_ok()
                || cell.parse::<f64>().is_ok_and(f64::is_infinite) && is_number(&cell));
        }
    }
}
