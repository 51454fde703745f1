use super::*;
use crate::json::arbitrary::{object_of, points_into};
use crate::value::member::MAX_FIELD_NAMES;
use proptest::prelude::*;

#[test]
fn empty_body_has_no_conditions() {
    let query = SearchQuery::parse("{}").expect("a query");
    assert!(query.filters.is_none() && query.sort.is_none() && query.limit.is_none());
    assert_eq!((query.count, query.verbose), (Count::None, false));
}

#[test]
fn null_counts_as_absent() {
    let nulls = KNOWN.map(|name| format!("\"{name}\":null")).join(",");
    let body = format!("{{{nulls}}}");
    let query = SearchQuery::parse(&body).expect("a query");
    assert!(query.cursor.is_none() && query.fields.is_none() && query.facets.is_empty());
}

#[test]
fn absent_members_are_those_of_the_view() {
    let view = r#"{"sort": "a", "limit": 5, "count": "exact", "verbose": true, "time_zone": "Asia/Tokyo", "facets": ["a"]}"#;
    let within = |body| SearchQuery::parse(body).and_then(|query| query.within(Some(view))).expect("a query");
    let query = within("{}");
    assert_eq!((query.limit, query.count, query.verbose), (Some(5), Count::Exact, true));
    assert_eq!(query.time_zone.as_deref(), Some("Asia/Tokyo"));
    assert_eq!(query.source("sort").sort.map(RawValue::get), Some("\"a\""));
    let query = within(r#"{"sort": "b", "limit": 6, "count": "none", "verbose": false, "facets": []}"#);
    assert_eq!((query.limit, query.count, query.verbose), (Some(6), Count::None, false));
    assert_eq!(query.source("sort").sort.map(RawValue::get), Some("\"b\""));
    assert!(query.source("facets").facets.is_empty());
}

#[test]
fn error_names_the_values_of_fuzzy_and_highlight() {
    let highlight = "must be true, false or {\"offsets\": true}";
    for (body, expected) in [
        (r#"{"fuzzy": true}"#, "must be \"auto\" or \"off\""),
        (r#"{"fuzzy": "on"}"#, "must be \"auto\" or \"off\""),
        (r#"{"highlight": "yes"}"#, highlight),
        (r#"{"highlight": ["name"]}"#, highlight),
        (r#"{"highlight": 1}"#, highlight),
    ] {
        assert_eq!(SearchQuery::parse(body).map(|_| ()).expect_err(body).message, expected, "{body}");
    }
    let vector = vec!["1"; 768].join(",");
    for (body, hint) in [
        (r#"{"highlight": {"offset": true}}"#.to_owned(), "Use only offsets in highlight"),
        (format!(r#"{{"query_vector": [{vector}], "fuzzy": "auto"}}"#), "Omit fuzzy"),
    ] {
        let error = SearchQuery::parse(&body).map(|_| ()).expect_err(hint);
        assert!(error.hint.is_some_and(|it| it.starts_with(hint)), "{hint}");
    }
}

#[test]
fn text_to_embed_is_rejected_in_sql() {
    assert!(SearchQuery::parse(r#"{"query_text": null}"#).is_ok());
    let error = SearchQuery::parse(r#"{"query_text": "sea"}"#).expect_err("an error");
    assert_eq!(error.code, Code::UnknownField);
    assert!(error.hint.is_some_and(|hint| hint.contains("query_vector")));
}

#[test]
fn fields_are_an_array_or_a_list_with_commas() {
    for body in [r#"{"fields": ["a", "b"]}"#, r#"{"fields": " a ,b,"}"#] {
        assert_eq!(
            SearchQuery::parse(body).expect("a query").fields.as_deref(),
            Some(&["a".to_owned(), "b".to_owned()][..])
        );
    }
}

#[test]
fn invalid_members_are_rejected_with_their_pointer() {
    for (body, pointer) in [
        (r#"{"limit": 0}"#, "/limit"),
        (r#"{"limit": 1001}"#, "/limit"),
        (r#"{"limit": 1.5}"#, "/limit"),
        (r#"{"limit": -1}"#, "/limit"),
        (r#"{"limit": "10"}"#, "/limit"),
        (r#"{"count": "all"}"#, "/count"),
        (r#"{"cursor": 5}"#, "/cursor"),
        (r#"{"fields": [1]}"#, "/fields/0"),
        (r#"{"facets": "city"}"#, "/facets"),
        (r#"{"facets": ["a", 1]}"#, "/facets/1"),
        (r#"{"filter": []}"#, "/filter"),
        (r#"{"verbose": "yes"}"#, "/verbose"),
        (r#"{"attribute_key": "name"}"#, "/attribute_key"),
        (r#"{"query_vector": [1]}"#, "/query_vector"),
        (r#"{"mode": "semantic"}"#, "/query_vector"),
        (r#"{"mode": "hybrid", "global_search": "x"}"#, "/query_vector"),
        (r#"{"mode": "lexical"}"#, "/mode"),
    ] {
        let error = SearchQuery::parse(body).expect_err(body);
        assert_eq!(error.violations[0].pointer, pointer, "{body}");
    }
}

#[test]
fn too_many_fields_are_rejected() {
    let names = |count| vec!["id"; count].join(",");
    let array = |count| format!("[\"{}\"]", vec!["id"; count].join("\",\""));
    for (value, is_taken) in [
        (format!("\"{}\"", names(MAX_FIELD_NAMES)), true),
        (format!("\"{}\"", names(MAX_FIELD_NAMES + 1)), false),
        (array(MAX_FIELD_NAMES), true),
        (array(MAX_FIELD_NAMES + 1), false),
    ] {
        let body = format!("{{\"fields\":{value}}}");
        match SearchQuery::parse(&body) {
            Ok(_) => assert!(is_taken),
            Err(error) => assert_eq!((is_taken, error.violations[0].pointer.as_str()), (false, "/fields")),
        }
    }
}

fn with_vector(members: &str) -> String {
    format!("{{\"query_vector\":[{}]{members}}}", vec!["1"; 768].join(","))
}

#[test]
fn unused_options_of_a_mode_do_not_affect_the_cursor() {
    for (members, has_vector, has_words) in [
        ("", true, false),
        (r#","global_search":"x""#, true, true),
        (r#","global_search":"x","mode":"hybrid""#, true, true),
        (r#","global_search":"x","mode":"semantic""#, true, false),
        (r#","global_search":"x","mode":"keyword","sort":"name","count":"exact""#, false, true),
    ] {
        let body = with_vector(members);
        let query = SearchQuery::parse(&body).expect("a query");
        assert_eq!(
            (query.vector.is_some(), query.global_search.is_some()),
            (has_vector, has_words),
            "{members}"
        );
    }
}

#[test]
fn options_that_do_not_apply_to_a_vector_are_rejected() {
    for (members, pointer) in [
        (r#","sort":"name""#, "/sort"),
        (r#","fuzzy":"auto""#, "/fuzzy"),
        (r#","cursor":"x""#, "/cursor"),
        (r#","count":"exact""#, "/count"),
        (r#","facets":["name"]"#, "/facets"),
        (r#","include_deleted":true"#, "/include_deleted"),
        (r#","limit":201"#, "/limit"),
        (r#","mode":"hybrid""#, "/global_search"),
    ] {
        let error = SearchQuery::parse(&with_vector(members)).map(|_| ()).expect_err(members);
        assert_eq!(error.violations[0].pointer, pointer);
    }
}

proptest! {
    #[test]
    fn any_object_is_a_bounded_search_or_rejected_with_its_pointer(body in object_of(&KNOWN)) {
        match SearchQuery::parse(&body) {
            Ok(query) => {
                prop_assert!(query.limit.is_none_or(|limit| (1..=MAX_LIMIT).contains(&limit)));
                prop_assert!(query.facets.len() <= MAX_FACETS);
            }
            Err(error) => prop_assert!(points_into(&body, &error), "{:?}", error.violations),
        }
    }
}
