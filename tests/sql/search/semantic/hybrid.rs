//! Searches that combine terms and vectors.

use harness::{Database, Session, array, similar, vector};
use serde_json::{Value, json};

/// Customers with names and vectors; the number is the similarity to the query. The last one has no vector.
async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for (key, name, similarity) in [
        ("both", "blue sky", Some(0.9)),
        ("close", "red sea", Some(0.95)),
        ("far", "blue sea", Some(0.1)),
        ("words", "blue", None),
    ] {
        let create =
            "select keyed.create_record('crm.customers', jsonb_build_object('name', $1), $2) ->> 'id'";
        let id = session.text(create, &[name, key]).await;
        if let Some(similarity) = similarity {
            session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(similarity))]).await;
        }
    }
    (database, session)
}

fn body(members: Value) -> String {
    let mut body = json!({"query_vector": vector(&[(0, 1.0)])});
    for (name, value) in members.as_object().expect("members") {
        body[name] = value.clone();
    }
    body.to_string()
}

async fn search(session: &Session, members: Value) -> Value {
    session.json("select keyed.search('crm.customers', $1)", &[&body(members)]).await
}

/// The found keys with their ranks by terms and by vector, in order.
async fn found(session: &Session, members: Value) -> String {
    let result = search(session, members).await;
    let entry = |it: &Value| {
        let (key, ranks) = (it["external_key"].as_str().unwrap_or("-"), &it["ranks"]);
        format!("{key} {}/{}", ranks["keyword"], ranks["semantic"])
    };
    result["records"].as_array().expect("records").iter().map(entry).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn records_ranked_high_by_both_come_first() {
    let (_database, session) = crm().await;
    let expected =
        session.json("select keyed.search('crm.customers', '{\"global_search\": \"blue\"}')", &[]).await;
    let keys: Vec<_> = expected["records"]
        .as_array()
        .expect("records")
        .iter()
        .map(|it| it["external_key"].as_str())
        .collect();
    let position = |key: &str| 1 + keys.iter().position(|it| *it == Some(key)).expect("found by its words");
    for members in [json!({"global_search": "blue"}), json!({"global_search": "blue", "mode": "hybrid"})] {
        let result = search(&session, members).await;
        let records = result["records"].as_array().expect("records");
        assert_eq!(records.len(), 4, "everything in either list");
        for record in records {
            let key = record["external_key"].as_str().expect("a key");
            let keyword = (key != "close").then(|| position(key));
            let semantic = match key {
                "close" => Some(1),
                "both" => Some(2),
                "far" => Some(3),
                _ => None,
            };
            assert_eq!(record["ranks"], json!({"keyword": keyword, "semantic": semantic}), "{key}");
            let sum: f64 =
                [keyword, semantic].into_iter().flatten().map(|rank| 1.0 / (60.0 + rank as f64)).sum();
            assert!((record["score"].as_f64().expect("a score") - sum).abs() < 1e-12, "{record}");
        }
        let scores: Vec<_> = records.iter().map(|it| it["score"].as_f64()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        assert_eq!(
            (&result["next_cursor"], &result["has_more"], &result["total"]),
            (&Value::Null, &json!(false), &Value::Null)
        );
    }
}

#[tokio::test]
async fn mode_chooses_the_ranking() {
    let (_database, session) = crm().await;
    assert_eq!(found(&session, json!({})).await, "close null/1, both null/2, far null/3");
    let semantic = json!({"mode": "semantic", "global_search": "blue"});
    assert_eq!(found(&session, semantic).await, "close null/1, both null/2, far null/3");
    let result = search(&session, json!({"mode": "keyword", "global_search": "red", "count": "exact"})).await;
    assert_eq!((result["records"][0]["external_key"].as_str(), &result["total"]), (Some("close"), &json!(1)));
    assert!(result["records"][0].get("ranks").is_none());
    let scores = search(&session, json!({"limit": 2})).await;
    let scores: Vec<_> =
        scores["records"].as_array().expect("records").iter().map(|it| it["score"].as_f64()).collect();
    assert_eq!(scores, [Some(0.95), Some(0.9)]);
}

#[tokio::test]
async fn filters_and_fields_apply_to_both() {
    let (_database, session) = crm().await;
    let filters = json!([{"field": "name", "operator": "like", "value": "sea"}]);
    let result =
        search(&session, json!({"global_search": "blue", "filters": filters, "fields": ["name"]})).await;
    let mut keys: Vec<_> =
        result["records"].as_array().expect("records").iter().map(|it| it["external_key"].as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, [Some("close"), Some("far")]);
    assert_eq!(result["records"][0]["attributes"].as_object().map(serde_json::Map::len), Some(1));
    let none = json!([{"field": "name", "operator": "in", "value": []}]);
    assert_eq!(found(&session, json!({"global_search": "blue", "filters": none})).await, "");
    assert_eq!(found(&session, json!({"global_search": "nowhere", "limit": 1})).await, "close null/1");
}

#[tokio::test]
async fn view_without_terms_limits_the_results() {
    let (_database, session) = crm().await;
    let save = "select keyed.save_view('crm.customers', $1, $2)";
    let seas = json!({"filters": [{"field": "name", "operator": "like", "value": "sea"}], "sort": "name", "limit": 500});
    session.rows(save, &["seas", &seas.to_string()]).await;
    session.rows(save, &["worded", "{\"global_search\": \"sea\"}"]).await;
    assert_eq!(found(&session, json!({"view": "seas"})).await, "close null/1, far null/2");
    let error =
        session.error("select keyed.search('crm.customers', $1)", &[&body(json!({"view": "worded"}))]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/view"]));
    let error = session.error(save, &["vectors", &body(json!({}))]).await;
    assert_eq!(error.pointers(), ["/query/query_vector"]);
}

#[tokio::test]
async fn contradictory_options_are_rejected() {
    let (_database, session) = crm().await;
    for (members, pointer) in [
        (json!({"sort": "name"}), "/sort"),
        (json!({"count": "exact"}), "/count"),
        (json!({"facets": ["tier"]}), "/facets"),
        (json!({"limit": 201}), "/limit"),
        (json!({"cursor": "x"}), "/cursor"),
        (json!({"mode": "hybrid"}), "/global_search"),
        (json!({"mode": "semantic", "query_vector": null}), "/query_vector"),
        (json!({"mode": "other"}), "/mode"),
        (json!({"query_vector": [1]}), "/query_vector"),
    ] {
        let error = session.error("select keyed.search('crm.customers', $1)", &[&body(members)]).await;
        assert_eq!((error.state.as_str(), error.pointers()), ("22023", vec![pointer]));
    }
}

#[tokio::test]
async fn many_matches_are_fused_in_order() {
    let (_database, session) = crm().await;
    session
        .run("select keyed.batch((select jsonb_agg(jsonb_build_object('op', 'create', 'template', 'crm.customers', 'attributes', jsonb_build_object('name', 'green ' || n * 100 + m))) from generate_series(1, 1000) m)) from generate_series(1, 21) n")
        .await;
    let result = search(&session, json!({"global_search": "green", "limit": 5})).await;
    let ranks: Vec<_> =
        result["records"].as_array().expect("records").iter().map(|it| it["ranks"].to_string()).collect();
    assert_eq!(ranks.len(), 5);
    assert!(ranks.contains(&"{\"keyword\":1,\"semantic\":null}".to_owned()), "{ranks:?}");
    assert!(ranks.contains(&"{\"keyword\":null,\"semantic\":1}".to_owned()), "{ranks:?}");
}

#[tokio::test]
async fn hybrid_search_can_be_explained() {
    let (_database, session) = crm().await;
    let explained = session
        .text("select keyed.explain('crm.customers', $1)", &[&body(json!({"global_search": "blue"}))])
        .await;
    assert!(
        explained.contains("3 records match the terms") && explained.contains("few vectors"),
        "{explained}"
    );
}
