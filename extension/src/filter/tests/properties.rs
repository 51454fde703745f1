//! Properties for any input: no panic, and no injection of SQL.

use super::*;
use crate::filter::operator::Operator;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The keywords and names that rendered SQL may contain outside literals and quoted identifiers.
const WORDS: &[&str] = &[
    "nullif",
    "collate",
    "and",
    "any",
    "array",
    "at",
    "boolean",
    "created_at",
    "date",
    "deleted_at",
    "double",
    "exists",
    "external_key",
    "false",
    "from",
    "id",
    "ilike",
    "in",
    "interval",
    "is",
    "left",
    "like",
    "not",
    "now",
    "null",
    "numeric",
    "offset",
    "or",
    "pg_catalog",
    "precision",
    "r1",
    "r2",
    "r3",
    "select",
    "t",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "true",
    "updated_at",
    "uuid",
    "where",
    "zone",
    "0",
    "1",
    "200",
];

/// The SQL without literals and quoted identifiers, by PostgreSQL's lexical rules.
pub(crate) fn outside_of_quotes(sql: &str) -> String {
    let mut out = String::new();
    let mut characters = sql.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        if !matches!(character, '\'' | '"') {
            out.push(character);
            before = character;
            continue;
        }
        let has_escapes = character == '\'' && before == 'E';
        if has_escapes {
            out.pop();
        }
        loop {
            match characters.next() {
                Some('\\') if has_escapes => drop(characters.next()),
                Some(quote) if quote == character => match characters.peek() {
                    Some(next) if *next == character => drop(characters.next()),
                    _ => break,
                },
                Some(_) => {}
                None => panic!("a quote is never closed: {sql}"),
            }
        }
        out.push(' ');
        before = ' ';
    }
    out
}

fn check_sql(sql: &str) {
    let outside = outside_of_quotes(sql);
    let mut depth = 0_i32;
    for character in outside.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {
                let is_ours = character.is_ascii_alphanumeric() || "_ .,=<>&[]:+".contains(character);
                assert!(is_ours, "{outside}");
            }
        }
        assert!(depth >= 0, "{outside}");
    }
    assert_eq!(depth, 0, "{outside}");
    for word in
        outside.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
    {
        assert!(WORDS.contains(&word), "{word:?} in {outside}");
    }
}

/// Known injection strings, and arbitrary strings.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "'",
            "''",
            "\\",
            "\\'",
            "E'",
            "' or 1=1 --",
            "\"; drop table x; --",
            "$$",
            "/*",
            "*/",
            "--",
            "%",
            "_",
            "a,b",
            "\"a\"",
            "[",
            "[1]",
            "{}",
            "{\"external_key\":\"'\"}",
            "\u{2019}",
            "1",
            "2024-02-29",
            "2024-02-29T10:00:00Z",
            "018f0000-0000-8000-8000-000000000001",
            "oil",
            "7",
            "works",
            "1,2",
            "",
            "2024-02-29,2024-03-01",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
        "[a-z'\\\\\"%_ ]{190,210}",
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        4 => texts().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => texts().prop_map(|key| json!({"external_key": key})),
        1 => Just(Value::Null),
    ];
    prop_oneof![3 => scalar.clone(), 1 => prop::collection::vec(scalar, 0..4).prop_map(Value::from)]
}

fn operators() -> impl Strategy<Value = String> {
    let known: Vec<&str> = Operator::all().map(|(_, name)| name).collect();
    prop_oneof![20 => prop::sample::select(known).prop_map(str::to_owned), 1 => texts()]
}

fn fields() -> impl Strategy<Value = String> {
    let known = vec![
        "note",
        "name",
        "price",
        "weight",
        "humidity",
        "tags",
        "media",
        "made",
        "seen",
        "artist",
        "owner",
        "framed",
        "id",
        "external_key",
        "created_at",
        "deleted_at",
        "template_id",
        "template_slug",
        "artist.name",
        "artist.id",
        "artist.country",
        "artist.country.name",
        "artist.country.union.name",
        "owner.name",
    ];
    prop_oneof![20 => prop::sample::select(known).prop_map(str::to_owned), 1 => texts()]
}

fn conditions() -> impl Strategy<Value = Value> {
    (fields(), operators(), values())
        .prop_map(|(field, operator, value)| json!({"field": field, "operator": operator, "value": value}))
}

fn elements() -> impl Strategy<Value = Value> {
    conditions().prop_recursive(4, 24, 4, |inner| {
        let many = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            many.clone().prop_map(|parts| json!({"and": parts})),
            many.prop_map(|parts| json!({"or": parts})),
            inner.prop_map(|part| json!({"not": part})),
        ]
    })
}

/// Arbitrary JSON with keywords of filters.
fn anything() -> impl Strategy<Value = Value> {
    let names = prop_oneof![
        prop::sample::select(vec![
            "field",
            "operator",
            "value",
            "and",
            "or",
            "not",
            "filters",
            "filter_groups"
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    values().prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
            elements(),
        ]
    })
}

/// Removes rejected conditions one by one, so that most inputs compile.
fn accepted(filters: Vec<Value>) -> Vec<Value> {
    filters
        .into_iter()
        .filter(|element| compile(&json!({"filters": [element]}).to_string()).is_ok())
        .collect()
}

proptest! {
    #[test]
    fn input_appears_only_inside_quotes(
        filters in prop::collection::vec(elements(), 0..5),
        group in prop::collection::vec(conditions(), 1..8),
    ) {
        let (filters, group) = (accepted(filters), accepted(group));
        let groups = if group.is_empty() { json!([]) } else { json!([group, [group[0]]]) };
        let body = json!({"filters": filters, "filter_groups": groups}).to_string();
        let filter = compile(&body);
        prop_assert!(filter.is_ok(), "{body}: {filter:?}");
        if let Ok(filter) = filter {
            check_sql(&render(&filter, "t", Options::default()));
        }
    }

    #[test]
    fn violation_has_a_pointer_into_the_request(body in anything()) {
        let rejected = compile_scope(&body.to_string()).err();
        for violation in rejected.iter().flat_map(|error| &error.violations) {
            // The parent of a missing member exists.
            let parent = violation.pointer.rsplit_once('/').map_or("", |cut| cut.0);
            let is_cut = violation.pointer.contains('…');
            prop_assert!(is_cut || body.pointer(parent).is_some(), "{} in {body}", violation.pointer);
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), value in any::<String>()) {
        if let Ok(raw) = serde_json::from_str::<Box<RawValue>>(&text) {
            let _ = parse::scope(&raw);
        }
        let value = Value::from(value.as_str()).to_string();
        for (field, operator) in [("note", "in"), ("price", "between"), ("artist", "in"), ("seen", "eq")] {
            let _ = compile(&format!("{{\"filters\":[{}]}}", on(field, operator, &value)));
        }
    }
}
