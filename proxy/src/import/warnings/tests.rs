//! Tests of warnings.

use serde_json::json;

use super::*;

/// The warnings for chunks of rows. Each number is the record of a row; 0 is a row without a record.
fn warnings(mut warnings: Warnings, chunks: &[&[u64]], more: &serde_json::Value) -> Vec<Warning> {
    let mut line = 1;
    for records in chunks {
        let mut chunk = Chunk::default();
        for _ in *records {
            line += 1;
            chunk.push(line, "x");
        }
        let records = STANDARD.encode(records.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>());
        let mut notes = json!({"keyless": 0, "odd": [], "records": records});
        notes.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        warnings.add(&chunk, serde_json::from_value(notes).expect("notes"), false);
    }
    warnings.list()
}

fn codes(warnings: &[Warning]) -> Vec<(&str, &[u64])> {
    warnings.iter().map(|it| (it.code, it.lines.as_slice())).collect()
}

#[test]
fn repeated_key_is_reported_across_chunks() {
    let list = warnings(Warnings::default(), &[&[1, 2, 1, 0], &[0, 2, 3]], &json!({}));
    assert_eq!(codes(&list), [("repeated_key", &[4, 7][..])]);
    assert!(list[0].message.starts_with("2 rows have the key or id of an earlier row"), "{list:?}");
    let many = [7; 50];
    let list = warnings(Warnings::default(), &[&many], &json!({}));
    assert_eq!(list[0].lines, (3..13).collect::<Vec<_>>());
    assert!(list[0].message.starts_with("49 rows"), "{list:?}");
}

#[test]
fn deferred_row_is_not_a_repeated_key() {
    let mut chunk = Chunk::default();
    chunk.push(2, "x");
    let notes = || {
        let records = STANDARD.encode(5_u64.to_le_bytes());
        serde_json::from_value(json!({"keyless": 0, "odd": [], "records": records})).expect("notes")
    };
    let mut warnings = Warnings::default();
    warnings.add(&chunk, notes(), false);
    warnings.add(&chunk, notes(), true);
    assert_eq!(warnings.list(), []);
}

#[test]
fn warning_names_the_limit_of_compared_records() {
    let few = || Warnings { max_records: 2, ..Warnings::default() };
    assert_eq!(warnings(few(), &[&[1, 2]], &json!({})), []);
    let list = warnings(few(), &[&[1, 2, 3, 3]], &json!({}));
    assert_eq!(codes(&list), [("repeated_key", &[][..])]);
    assert_eq!(list[0].message, "rows that repeat a record after the first 2 of the file are not detected");
    let list = warnings(few(), &[&[1, 2, 3, 3, 1]], &json!({}));
    assert_eq!(codes(&list), [("repeated_key", &[6][..])]);
    assert!(list[0].message.contains("; rows that repeat a record after the first 2"), "{list:?}");
}

#[test]
fn ungrouped_number_suppresses_the_warning() {
    let numbers = |is_plain: bool| {
        let grouped = u64::from(!is_plain);
        json!({"numbers": [{"column": "price", "is_plain": is_plain, "grouped": grouped, "example": "1.234", "rows": [0]}]})
    };
    let list = warnings(Warnings::default(), &[&[1], &[2]], &numbers(false));
    assert_eq!(codes(&list), [("grouped_number", &[2, 3][..])]);
    assert!(list[0].message.ends_with("1.234 is not 1234"), "{list:?}");
    assert_eq!(warnings(Warnings::default(), &[&[1], &[2]], &numbers(true)), []);
    for order in [[true, false], [false, true]] {
        let mut all = Warnings::default();
        for is_plain in order {
            let mut notes = numbers(is_plain);
            notes["keyless"] = json!(0);
            notes["odd"] = json!([]);
            all.add(&Chunk::default(), serde_json::from_value(notes).expect("notes"), false);
        }
        assert_eq!(all.list(), []);
    }
}
