//! Properties of filters.

use super::super::Use;
use super::super::operator::Operator;
use super::*;

#[test]
fn filter_lists_its_fields() {
    let filters = [
        on("name", "eq", "\"a\""),
        format!(r#"{{"or":[{},{}]}}"#, on("price", "gt", "1"), on("artist.born", "today", "null")),
        on("external_key", "like", "\"a\""),
        on("note", "neq", "\"a\""),
    ];
    let filter = compile(&format!("{{\"filters\":[{}]}}", filters.join(","))).expect("a filter");
    let a_use = |template, attribute, field: &str, operator, is_decisive| Use {
        template,
        attribute,
        field: field.to_owned(),
        operator,
        is_decisive,
    };
    assert_eq!(
        filter.uses(),
        [
            a_use(7, Some(12), "name", Some(Operator::Eq), true),
            a_use(7, None, "external_key", Some(Operator::Like), true),
            a_use(7, Some(13), "price", Some(Operator::Gt), false),
            a_use(7, Some(20), "artist", None, false),
            a_use(8, Some(32), "born", Some(Operator::Today), false),
            a_use(7, Some(11), "note", Some(Operator::Neq), false),
        ]
    );
}

#[test]
fn constant_filter_is_detected() {
    let filter = |condition: String| compile(&format!("{{\"filters\":[{condition}]}}")).expect("a filter");
    let (all, none, some) = (
        filter(on("template_id", "eq", "7")),
        filter(on("note", "in", "[]")),
        filter(on("note", "empty", "null")),
    );
    assert!(all.is_always_true() && !all.is_never_true());
    assert!(none.is_never_true() && !none.is_always_true());
    assert!(!some.is_always_true() && !some.is_never_true());
    assert!(all.uses().is_empty());
}

#[test]
fn condition_on_a_column_requires_its_value() {
    let schema = works();
    let price = schema.attribute(AttributeKey::Slug, "price").expect("an attribute").into();
    let above = on("price", "gt", "1");
    for (condition, needs) in [
        (above.clone(), true),
        (on("price", "in", "\"1,2\""), true),
        (on("price", "not-empty", "null"), true),
        (format!(r#"{{"and":[{},{above}]}}"#, on("name", "eq", "\"a\"")), true),
        (on("price", "empty", "null"), false),
        (on("price", "neq", "1"), false),
        (on("price", "not-in", "\"1,2\""), false),
        (format!(r#"{{"not":{above}}}"#), false),
        (format!(r#"{{"or":[{above},{}]}}"#, on("name", "eq", "\"a\"")), false),
        (on("name", "eq", "\"a\""), false),
    ] {
        let filter = compile(&format!("{{\"filters\":[{condition}]}}")).expect("a filter");
        assert_eq!(filter.needs_value(&price), needs, "{condition}");
    }
}
