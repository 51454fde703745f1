use proptest::prelude::*;

use super::super::*;
use super::{judged, rows};

/// The rows of JSON text, or the reason why it has none.
#[test]
fn json_array_and_ndjson_have_the_same_rows() {
    use Unreadable::{AfterArray, OpenArray, Spread};
    let rows = |texts: &[(u64, &str)]| {
        Ok(texts.iter().map(|(line, text)| (*line, (*text).to_owned(), None)).collect::<Vec<_>>())
    };
    for (text, expected) in [
        ("{\"a\":1}\n{\"b\":2}\n", rows(&[(1, "{\"a\":1}"), (2, "{\"b\":2}")])),
        ("[{\"a\":1},{\"b\":2}]", rows(&[(1, "{\"a\":1}"), (1, "{\"b\":2}")])),
        (
            "\n [\r\n  {\n    \"a\": 1\n  } ,\n  {\"b\": [1, {\"c\": \"],[{\"}]}\n]\n\n",
            rows(&[(3, "{     \"a\": 1   }"), (6, "{\"b\": [1, {\"c\": \"],[{\"}]}")]),
        ),
        ("[{\"a\":\"\\\"],\\\\\"},1]", rows(&[(1, "{\"a\":\"\\\"],\\\\\"}"), (1, "1")])),
        ("[]", rows(&[])),
        (" [ \n ] ", rows(&[])),
        ("", rows(&[])),
        (" \n", rows(&[])),
        // A value that is not an object is rejected by the database and does not affect the other rows.
        ("[1,{} {},{\"a\"],null]", rows(&[(1, "1"), (1, "{} {}"), (1, "{\"a\"]"), (1, "null")])),
        ("[{}", Err(OpenArray(1))),
        ("[\n{\"a\":\"]\n", Err(OpenArray(3))),
        ("[", Err(OpenArray(1))),
        ("[{}]\n[{}]", Err(AfterArray(2))),
        ("[{}],", Err(AfterArray(1))),
        ("{\n\"external_key\":\"a\"\n}\n", Err(Spread(1))),
        ("\n{\"a\":[\n{}\n]}\n", Err(Spread(2))),
    ] {
        assert_eq!(judged(Form::Json, text), expected, "{text:?}");
    }
}

#[test]
fn invalid_element_is_a_rejected_row() {
    let defects = |text| {
        let rows = judged(Form::Json, text).expect("rows");
        rows.into_iter().map(|(line, _, defect)| (line, defect)).collect::<Vec<_>>()
    };
    assert_eq!(defects("[{},\n]"), [(1, None), (2, Some(Defect::Missing))]);
    assert_eq!(defects("[,{}]"), [(1, Some(Defect::Missing)), (1, None)]);
    assert_eq!(defects("[{\"a\":\"x\ny\"},{}]"), [(1, Some(Defect::LineBreak)), (2, None)]);
}

/// Any JSON value, with the significant characters.
fn element() -> impl Strategy<Value = serde_json::Value> {
    let text = "[\\[\\]{},\"\\\\\n a]{0,6}";
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<i64>().prop_map(Into::into),
        text.prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((text, inner), 0..4)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn written_array_round_trips(
        elements in prop::collection::vec(element(), 0..6), is_pretty in any::<bool>(), size in 1..9_usize,
    ) {
        let array = serde_json::Value::Array(elements.clone());
        let text = if is_pretty { serde_json::to_string_pretty(&array) } else { serde_json::to_string(&array) };
        let found = rows(Form::Json, &text.expect("JSON"), size).expect("rows");
        let found: Vec<serde_json::Value> =
            found.iter().map(|(_, row)| serde_json::from_str(row).expect("an element in one line")).collect();
        prop_assert_eq!(found, elements);
    }
}
