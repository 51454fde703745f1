//! The output of `keyed.explain` for a search.

use super::text::words::crm;
use harness::Session;
use serde_json::{Value, json};

async fn explain(session: &Session, query: &Value) -> String {
    session.text("select keyed.explain('crm.customers', $1)", &[&query.to_string()]).await
}

/// Customers that all have a frequent word, one of which has another one, too.
async fn fill(session: &Session) {
    let fill = "insert into crm.customers (external_key, name, visits)
                select 'k' || n, case n when 7 then 'common mannschaft' else 'common' end, n
                from generate_series(1, 4000) n";
    session.run(fill).await;
    session.run("vacuum analyze crm.customers").await;
}

fn visits(operator: &str, value: i32) -> Value {
    json!([{"field": "visits", "operator": operator, "value": value}])
}

#[tokio::test]
async fn explain_shows_the_fuzzy_lookup() {
    let (_database, session) = crm().await;
    fill(&session).await;
    let nothing = "Nothing matches: with fuzzy,";
    let perhaps = "If nothing matches, terms with one typo";
    let none: Value = json!([]);
    for (words, filters, said, unsaid) in [
        ("mannschft", &none, vec!["0 records match the terms.\n", nothing], perhaps),
        ("mannschaft", &none, vec!["1 record matches the terms.\n"], "one typo"),
        ("4711", &none, vec!["0 records match the terms.\n"], "one typo"),
        (
            "mannschaft",
            &visits("lt", 0),
            vec!["1 record matches the terms (before filters).\n", nothing],
            perhaps,
        ),
        ("mannschaft", &visits("gt", 0), vec!["1 record matches the terms (before filters).\n"], "one typo"),
        ("common", &visits("lt", 0), vec![perhaps], nothing),
    ] {
        let mut query = json!({"global_search": words, "filters": filters, "fuzzy": "auto"});
        let how = explain(&session, &query).await;
        for said in said {
            assert!(how.contains(said), "{query}: {said}\n{how}");
        }
        assert!(!how.contains(unsaid), "{query}: {unsaid}\n{how}");
        query["fuzzy"] = Value::Null;
        let how = explain(&session, &query).await;
        assert!(!how.contains("one typo"), "{query}\n{how}");
    }
    let sorted = json!({"global_search": "mannschft", "sort": "visits", "fuzzy": "auto"});
    let how = explain(&session, &sorted).await;
    assert!(how.contains(perhaps), "{how}");
}

#[tokio::test]
async fn explain_shows_filters_on_frequent_terms() {
    let (_database, session) = crm().await;
    fill(&session).await;
    let query = |filters: Value| json!({"global_search": "common", "filters": filters, "limit": 5});
    let reads_all = ["fewer than one in 8 pass", "Every row of customers is read."];
    let how = explain(&session, &query(visits("lt", 0))).await;
    for said in ["At least 1", "(before filters)", "The filters are applied to the first 1"]
        .into_iter()
        .chain(reads_all)
    {
        assert!(how.contains(said), "{said}\n{how}");
    }
    let how = explain(&session, &query(visits("gt", 0))).await;
    assert!(how.contains("The filters are applied to the first 1") && !how.contains(reads_all[0]), "{how}");
    // Some of the first records match, but too few for the page.
    let how = explain(&session, &query(visits("lt", 3993))).await;
    assert!(how.contains("The filters are applied to the next ") && !how.contains(reads_all[0]), "{how}");
    let how = explain(&session, &query(json!([]))).await;
    assert!(!how.contains("filters") && !how.contains("select "), "{how}");
}

#[tokio::test]
async fn explain_suggests_removing_full_scans() {
    let (_database, session) = crm().await;
    fill(&session).await;
    for (member, value, other) in [("count", json!("exact"), "facets"), ("facets", json!(["mood"]), "count")]
    {
        for words in [None, Some("common")] {
            let mut query = json!({"filters": visits("gt", 0), "global_search": words, "limit": 1});
            query[member] = value.clone();
            let how = explain(&session, &query).await;
            assert!(how.contains(&format!("or omit {member}.")), "{query}\n{how}");
            assert!(!how.contains(&format!("or leave {other} out.")), "{query}\n{how}");
        }
    }
}

#[tokio::test]
async fn terms_are_looked_up_if_that_costs_less() {
    let (_database, session) = crm().await;
    fill(&session).await;
    let query = json!({"global_search": "common", "filters": visits("lt", 0), "limit": 5});
    let [next, reads_all] = ["The filters are applied to the next ", "fewer than one in 8 pass"];
    let one_by_one = explain(&session, &query).await;
    assert!(one_by_one.contains(reads_all) && one_by_one.contains(next), "{one_by_one}");
    // An index finds them.
    session.run(r#"select keyed.alter_attribute('crm.customers', 'visits', '{"indexed": true}')"#).await;
    let by_index = explain(&session, &query).await;
    assert!(by_index.contains(reads_all) && !by_index.contains(next), "{by_index}");
}
