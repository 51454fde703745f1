//! Conditions that can use an index, and constants as arguments.

use super::super::arguments::{Argument, Arguments};
use super::super::render::render_with;
use super::*;

fn filter(condition: &str) -> Filter {
    compile(&format!("{{\"filters\":[{condition}]}}")).expect("a filter")
}

#[test]
fn index_serves_selective_conditions_on_indexed_columns() {
    let name = |operator: &str, value: &str| on("name", operator, value);
    for (condition, is_indexable) in [
        (name("ilike", "\"abc\""), true),
        (name("ends-with", "\"ab\""), true),
        (name("like", "\"ab\""), false),
        (name("not-like", "\"abc\""), false),
        (name("eq", "\"a\""), true),
        (name("not-empty", "null"), false),
        (on("note", "like", "\"abc\""), false),
        (on("external_key", "eq", "\"abc\""), true),
        (on("created_at", "today", "null"), false),
        (on("artist.name", "eq", "\"abc\""), false),
        (format!("{{\"or\":[{},{}]}}", name("eq", "\"a\""), on("external_key", "eq", "\"b\"")), true),
        (format!("{{\"or\":[{},{}]}}", name("eq", "\"a\""), on("note", "eq", "\"b\"")), false),
        (format!("{{\"not\":{}}}", name("eq", "\"a\"")), false),
    ] {
        assert_eq!(filter(&condition).is_indexable(), is_indexable, "{condition}");
    }
}

#[test]
fn substring_condition_is_split_into_one_like_per_word() {
    let found = filter(&on("name", "like", "\"of a day\"")).found();
    let sql = render(&found, "t", Options::default());
    assert_eq!(sql, "(t.\"name\" like '%of %' and t.\"name\" like '% a %' and t.\"name\" like '% day%')");
}

#[test]
fn constants_become_arguments_of_one_condition() {
    let with = |text: &str, number: &str| {
        let conditions = [
            on("name", "ilike", &format!("\"{text}\"")),
            on("name", "in", &format!("[\"{text}\",\"x\"]")),
            on("price", "gt", number),
        ];
        let arguments = Arguments::default();
        let sql = render_with(&filter(&conditions.join(",")), "t", Options::default(), Some(&arguments));
        (sql, arguments.into_list())
    };
    let (sql, arguments) = with("it's", "1.50");
    assert_eq!(sql, with("$1", "7").0);
    assert!(!sql.contains('\''), "{sql}");
    let one = |text: &str, sql_type| Argument::One(text.to_owned(), sql_type);
    assert_eq!(
        arguments,
        [
            one("%it's%", "text"),
            Argument::Many(vec!["it's".to_owned(), "x".to_owned()], "text"),
            one("1.50", "numeric")
        ]
    );
}
