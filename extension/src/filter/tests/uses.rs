//! What a filter tells about itself.

use super::super::Use;
use super::super::operator::Operator;
use super::*;

#[test]
fn a_filter_tells_which_fields_it_uses_and_which_decide() {
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
fn a_filter_tells_when_it_lets_all_or_none_pass() {
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
