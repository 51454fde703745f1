use super::*;
use proptest::prelude::*;
use serde_json::json;

fn read(sets: &serde_json::Value) -> Result<Vec<SynonymSet>, Error> {
    let raw: Box<RawValue> = serde_json::from_str(&sets.to_string()).expect("JSON");
    parse(&raw, "/synonyms")
}

fn set(root: Option<&str>, synonyms: &[&str]) -> SynonymSet {
    let synonyms = synonyms.iter().map(|it| (*it).to_owned()).collect();
    SynonymSet { root: root.map(str::to_owned), synonyms }
}

#[test]
fn parser_trims_synonyms_and_keeps_their_order() {
    let sets = json!([{"synonyms": [" Car ", "automobile", "motor car"]},
                      {"root": "phone", "synonyms": ["iPhone"]}, {"root": null, "synonyms": ["C++", "Straße"]}]);
    let expected = [
        set(None, &["Car", "automobile", "motor car"]),
        set(Some("phone"), &["iPhone"]),
        set(None, &["C++", "Straße"]),
    ];
    assert_eq!(read(&sets).expect("sets"), expected);
    assert_eq!(read(&json!(null)), Ok(vec![]));
    assert_eq!(read(&json!([])), Ok(vec![]));
}

#[test]
fn root_may_also_be_a_synonym() {
    let sets = json!([{"synonyms": ["car", "auto"]}, {"root": "car", "synonyms": ["vehicle"]},
                      {"root": "truck", "synonyms": ["car", "vehicle"]}]);
    assert_eq!(read(&sets).map(|sets| sets.len()), Ok(3));
}

#[test]
fn error_has_the_pointers_of_all_invalid_terms() {
    let long = "x".repeat(101);
    for (sets, pointers) in [
        (json!({"synonyms": ["a", "b"]}), &["/synonyms"] as &[&str]),
        (json!(["car"]), &["/synonyms/0"]),
        (json!([{"synonyms": ["x -y", "x - y"]}]), &["/synonyms/0/synonyms/0"]),
        (json!([{"synonyms": ["i-pod => ipod", "ipod"]}]), &["/synonyms/0/synonyms/0"]),
        (json!([{"synonyms": ["car"]}]), &["/synonyms/0/synonyms"]),
        (json!([{"root": "car", "synonyms": []}]), &["/synonyms/0/synonyms"]),
        (json!([{"root": "car"}]), &["/synonyms/0/synonyms"]),
        (json!([{"synonyms": "car, auto"}]), &["/synonyms/0/synonyms"]),
        (json!([{"synonyms": ["car", 1]}]), &["/synonyms/0/synonyms/1"]),
        (json!([{"root": 1, "synonyms": ["car"]}]), &["/synonyms/0/root"]),
        (json!([{"synonyms": ["car", "auto"], "id": "x"}]), &["/synonyms/0/id"]),
        (json!([{"synonyms": ["car", "CÁR"]}]), &["/synonyms/0/synonyms/1"]),
        (json!([{"root": "car", "synonyms": ["auto", "Car"]}]), &["/synonyms/0/synonyms/1"]),
        (
            json!([{"synonyms": ["car", "auto"]}, {"synonyms": ["vehicle", " car"]}]),
            &["/synonyms/1/synonyms/1"],
        ),
        (
            json!([{"root": "car", "synonyms": ["a"]}, {"root": "Car", "synonyms": ["b"]}]),
            &["/synonyms/1/root"],
        ),
        (
            json!([{"synonyms": ["car", "", " ", "\u{301}", "-car", "–car", "\"car\"", "«car»", "a\tb", long, "-"]},
                   {"root": "-", "synonyms": ["a b c d e f", "a b c d e"]}]),
            &[
                "/synonyms/0/synonyms/1",
                "/synonyms/0/synonyms/2",
                "/synonyms/0/synonyms/3",
                "/synonyms/0/synonyms/4",
                "/synonyms/0/synonyms/5",
                "/synonyms/0/synonyms/6",
                "/synonyms/0/synonyms/7",
                "/synonyms/0/synonyms/8",
                "/synonyms/0/synonyms/9",
                "/synonyms/0/synonyms/10",
                "/synonyms/1/root",
                "/synonyms/1/synonyms/0",
            ],
        ),
    ] {
        let error = read(&sets).expect_err(&sets.to_string());
        let found: Vec<&str> = error.violations.iter().map(|violation| violation.pointer.as_str()).collect();
        let code = if found == ["/synonyms/0/id"] { Code::UnknownField } else { Code::InvalidValue };
        assert_eq!((found.as_slice(), error.code), (pointers, code), "{sets}");
    }
}

#[test]
fn synonyms_above_a_limit_are_rejected() {
    let words = |count: usize, length: usize| -> Vec<String> {
        (0..count).map(|number| format!("{number}{}", "é".repeat(length))).collect()
    };
    let sets = |count: usize, members: usize, length: usize| {
        let set = |set: usize| {
            let words = words(members, length).into_iter().map(|word| format!("{set}x{word}"));
            json!({"synonyms": words.collect::<Vec<_>>()})
        };
        (0..count).map(set).collect::<serde_json::Value>()
    };
    assert!(read(&sets(MAX_SETS, 2, 1)).is_ok());
    assert!(read(&sets(1, MAX_MEMBERS, 1)).is_ok());
    for (sets, pointer) in [
        (sets(MAX_SETS + 1, 2, 1), "/synonyms"),
        (sets(1, MAX_MEMBERS + 1, 1), "/synonyms/0/synonyms"),
        (sets(50, MAX_MEMBERS, 40), "/synonyms"),
    ] {
        assert_eq!(read(&sets).expect_err("too much").violations[0].pointer, pointer);
    }
}

proptest! {
    #[test]
    fn accepted_sets_are_accepted_again(sets in prop::collection::vec(
        (prop::option::of("[a-cÄß \"-]{0,4}"), prop::collection::vec("[a-zÄß -]{0,6}", 0..4)), 0..4)
    ) {
        let sets: serde_json::Value =
            sets.iter().map(|(root, synonyms)| json!({"root": root, "synonyms": synonyms})).collect();
        if let Ok(sets) = read(&sets) {
            let again: serde_json::Value = serde_json::from_str(&to_json(&sets)).expect("JSON");
            prop_assert_eq!(read(&again), Ok(sets.clone()));
            for text in sets.iter().flat_map(|set| set.root.iter().chain(&set.synonyms)) {
                prop_assert!((1..=MAX_WORDS).contains(&words(text).count()) && !fold(text).is_empty());
            }
        }
    }
}
