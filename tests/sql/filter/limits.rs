//! Limits of a filter, which are checked before the filter is processed.

use crate::filter::errors::is_rejected;
use crate::gallery::Gallery;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn filter_accepts_its_limits_and_no_more() {
    let gallery = Gallery::new().await;
    gallery.works([("A", json!({"price": 1}))]).await;
    let one = json!({"field": "price", "operator": "eq", "value": 1});
    let nested = |depth: usize| (0..depth).fold(one.clone(), |inner, _| json!({"and": [inner]}));
    assert_eq!(gallery.passing(json!({"filters": [nested(10)]})).await, "A");
    let error = gallery.error(&json!({"filters": [nested(11)]})).await;
    is_rejected(&error, "invalid_value", &format!("/filters/0{}", "/and/0".repeat(10)));
    assert_eq!(gallery.passing(json!({"filter_groups": [[nested(10)]]})).await, "A");
    let error = gallery.error(&json!({"filter_groups": [[nested(11)]]})).await;
    is_rejected(&error, "invalid_value", &format!("/filter_groups/0/0{}", "/and/0".repeat(10)));

    let many = |count: usize| vec![one.clone(); count];
    assert_eq!(gallery.passing(json!({"filters": many(200)})).await, "A");
    assert_eq!(gallery.passing(json!({"filters": [{"not": {"or": many(200)}}]})).await, "");
    is_rejected(&gallery.error(&json!({"filters": many(201)})).await, "invalid_value", "/filters/200");
    let split = json!({"filters": many(100), "filter_groups": [many(50), many(51)]});
    is_rejected(&gallery.error(&split).await, "invalid_value", "/filter_groups/1/50");

    let values = |count: usize| (1..=count).collect::<Vec<_>>();
    let text = |count: usize| values(count).iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    for (fits, too_many) in [
        (json!(values(1000)), json!(values(1001))),
        (json!(text(1000)), json!(text(1001))),
        (json!(json!(values(1000)).to_string()), json!(json!(values(1001)).to_string())),
    ] {
        assert_eq!(gallery.filtered("price", "in", fits).await, "A");
        let condition = json!({"field": "price", "operator": "in", "value": too_many});
        let error = gallery.error(&json!({"filters": [condition]})).await;
        is_rejected(&error, "invalid_value", "/filters/0/value");
    }
}

#[tokio::test]
async fn oversized_filters_are_rejected_early() {
    let gallery = Gallery::new().await;
    let template =
        gallery.session.text("select id from keyed_state.template where slug = 'works'", &[]).await;
    let started = gallery.session.text("select pg_postmaster_start_time()", &[]).await;
    let around = |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
    let (arrays, nots) = (around("[", "]"), around(r#"{"not":"#, "}"));
    let (ands, ors) = (around(r#"{"and":["#, "]}"), around(r#"{"or":["#, "]}"));
    let mut bodies: Vec<String> = Vec::new();
    for deep in [&arrays, &nots, &ands, &ors] {
        bodies.extend(
            ["filters", "filter_groups", "sort", "facets", "fields"]
                .map(|member| format!(r#"{{"{member}": {deep}}}"#)),
        );
        bodies.push(format!(r#"{{"filters": [{deep}]}}"#));
        bodies.push(format!(r#"{{"filter_groups": [[{deep}]]}}"#));
        bodies.push(format!(r#"{{"filters": [{{"field": "title", "operator": "in", "value": {deep}}}]}}"#));
    }
    for body in &bodies {
        let before = gallery.session.processor_time().await;
        for _ in 0..3 {
            let error = gallery.session.error("select keyed_http.search($1, $2)", &[&template, body]).await;
            assert!(["22032", "22023"].contains(&error.state.as_str()), "{body:.60}: {error}");
        }
        let used = gallery.session.processor_time().await - before;
        assert!(used < Duration::from_millis(300), "{used:?} of a processor for three times {body:.60}");
        // The same through jsonb, which has its own limit.
        let error = gallery.session.error("select keyed.search('art.works', $1)", &[body]).await;
        assert!(["54001", "22023", "22032"].contains(&error.state.as_str()), "{body:.60}: {error}");
    }
    assert_eq!(gallery.session.text("select pg_postmaster_start_time()", &[]).await, started);
    gallery.database.cluster().assert_no_crash();
}
