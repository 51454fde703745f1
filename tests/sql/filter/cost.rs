//! The cost of filters: an accepted filter completes or ends with the statement timeout.

use crate::gallery::Gallery;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn pattern_match_honors_the_statement_timeout() {
    let gallery = Gallery::new().await;
    gallery.works([("A", json!({"title": "a".repeat(1 << 20)}))]).await;
    gallery.session.run("set statement_timeout = '1s'").await;
    for operator in ["like", "not-like", "ilike", "ends-with"] {
        for pattern in [format!("{}b", "a".repeat(5000)), format!("b{}", "a".repeat(5000))] {
            let condition = json!({"field": "title", "operator": operator, "value": pattern});
            let query = json!({"filters": [condition]}).to_string();
            let before = gallery.session.processor_time().await;
            let outcome = gallery.session.attempt("select keyed.search('art.works', $1)", &[&query]).await;
            if let Err(error) = outcome {
                assert!(["57014", "22023"].contains(&error.state.as_str()), "{operator}: {error}");
            }
            let used = gallery.session.processor_time().await - before;
            assert!(used < Duration::from_secs(2), "{operator} used {used:?} of a processor");
        }
    }
}

#[tokio::test]
async fn filter_accepts_the_maximum_of_reference_conditions() {
    let gallery = Gallery::new().await;
    let klee = gallery.add("artists", "klee", json!({"name": "Klee"})).await;
    gallery.works([("A", json!({"artist": klee})), ("B", json!({}))]).await;
    gallery.session.run("set statement_timeout = '60s'").await;
    for field in ["artist.name", "artist.country.continent.name", "artist.external_key"] {
        for (operator, expected) in [("in", "A"), ("neq", "A B"), ("not-empty", "A")] {
            let expected = if field.contains("country") && operator != "neq" { "" } else { expected };
            let condition = |number: usize| match operator {
                "in" => {
                    json!({"field": field, "operator": "in", "value": ["Klee", "klee", format!("x{number}")]})
                }
                "neq" => json!({"field": field, "operator": "neq", "value": format!("Arp {number}")}),
                _ => json!({"field": field, "operator": operator}),
            };
            let conditions: Vec<Value> = (0..200).map(condition).collect();
            let query = json!({"filters": conditions, "sort": "external_key"});
            let found =
                gallery.session.attempt("select keyed.search('art.works', $1)", &[&query.to_string()]).await;
            let found = found.unwrap_or_else(|error| panic!("200 times {field} {operator}: {error}"));
            let page: Value = serde_json::from_str(found[0][0].as_deref().unwrap_or_default()).expect("JSON");
            assert_eq!(crate::gallery::keys(&page), expected, "200 times {field} {operator}");
        }
    }
}
