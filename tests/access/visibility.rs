//! Invisible records are indistinguishable from missing ones.

use crate::sales::{Sales, found, of_region, seen};
use serde_json::json;

/// Every statement that takes the id of a record, `$1`.
const BY_ID: [&str; 24] = [
    "select keyed.get_record($1)",
    "select keyed.get_record($1, verbose => true)",
    "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}')",
    "select keyed.patch_record($1, '{\"attributes\": {\"mood\": 5}}')",
    "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"EU\"}}')",
    "select keyed.patch_record($1, '{\"external_key\": \"new\"}')",
    "select keyed.patch_record($1, '{}')",
    "select keyed.replace_attributes($1, '{\"region\": \"EU\"}')",
    "select keyed.delete_record($1)",
    "select keyed.restore_record($1)",
    "select keyed.restore_record($1, '{\"external_key\": \"EU-1\"}')",
    "select keyed.record_version($1)",
    "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}', '*')",
    "select keyed.replace_attributes($1, '{\"region\": \"EU\"}', '*')",
    "select keyed.delete_record($1, '*')",
    "select keyed.restore_record($1, '{}', '*')",
    "select keyed.history_page($1)",
    "select from keyed.history($1)",
    "select keyed.metric_page($1, 'mood')",
    "select from keyed.metric_series($1, 'mood')",
    "select keyed.delete_metric_points($1, 'mood', \"from\" => '2000-01-01T00:00:00Z')",
    "select keyed.replace_metric_points($1, 'mood', '[]', \"from\" => '2000-01-01T00:00:00Z')",
    "select keyed_http.get_record($1, null, true, true)",
    "select keyed_http.patch_record($1, '{\"attributes\": {\"amount\": {\"$inc\": 1}}}')",
];

/// Every statement that takes a key, `$1`, and creates nothing.
const BY_KEY: [&str; 5] = [
    "select keyed.get_by_key('crm.customers', $1)",
    "select keyed.get_by_key('crm.customers', $1, verbose => true)",
    "select keyed_http.delete_by_key('2', $1)",
    "select keyed_http.upsert_by_key('2', jsonb_build_object('external_key', $1, 'attributes', '{\"name\": \"x\"}'::jsonb)::text, 'update', true)",
    "select keyed_http.upsert_by_key('2', jsonb_build_object('external_key', $1, 'attributes', '{\"mood\": 7}'::jsonb)::text, 'update', false)",
];

#[tokio::test]
async fn invisible_record_is_indistinguishable_from_a_missing_one() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let missing = sales.admin.text("select keyed.new_id(2)", &[]).await;
    let hidden = [sales.id("US-1").await, sales.id("US-0").await];
    let before = sales.state().await;
    for statement in BY_ID {
        let expected = session.error(statement, &[&missing]).await;
        assert_eq!(expected.codes(), ("P0002", "not_found"), "{statement}");
        for id in &hidden {
            assert_eq!(session.error(statement, &[id]).await, expected, "{statement}");
        }
    }
    for statement in BY_KEY {
        let expected = session.error(statement, &["nobody"]).await;
        assert_eq!(expected.codes(), ("P0002", "not_found"), "{statement}");
        for key in ["US-1", "US-0"] {
            assert_eq!(session.error(statement, &[key]).await, expected, "{statement}");
        }
    }
    assert_eq!(sales.state().await, before);
}

#[tokio::test]
async fn visible_record_is_found_by_all_reads() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    for (key, is_live) in [("EU-1", true), ("EU-0", false)] {
        let id = sales.id(key).await;
        for statement in BY_ID {
            session.run("begin").await;
            let outcome = session.attempt(statement, &[&id]).await.map_err(|error| error.state);
            session.run("rollback").await;
            let of_both = ["history", "metric", "get_record($1, null", "record_version"];
            match outcome {
                // There is nothing to restore.
                Err(state) if is_live => assert_eq!(state, "23505", "{statement}"),
                Err(state) => assert!(["P0002", "23505"].contains(&state.as_str()), "{statement}: {state}"),
                Ok(_) => assert!(
                    is_live
                        || statement.contains("restore")
                        || of_both.iter().any(|it| statement.contains(it)),
                    "{statement} of a deleted record"
                ),
            }
        }
    }
}

#[tokio::test]
async fn search_discloses_no_invisible_record() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    for query in [
        json!({"filters": [{"field": "external_key", "operator": "eq", "value": "US-1"}]}),
        json!({"filters": [of_region("US")]}),
        json!({"filters": [{"field": "company.name", "operator": "eq", "value": "Globex"}]}),
        json!({"global_search": "US-1"}),
        json!({"global_search": "Globex"}),
    ] {
        let text = query.to_string();
        assert_eq!(found(&session, query).await, "", "{text}");
        let mut counted: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        counted["count"] = json!("exact");
        counted["facets"] = json!(["company", "tier", "region"]);
        let result = session.json("select keyed.search('crm.customers', $1)", &[&counted.to_string()]).await;
        assert_eq!(result["total"], 0, "{result}");
        assert!(!result.to_string().contains("US") && !result.to_string().contains("Globex"), "{result}");
    }
    let all = json!({"count": "exact", "limit": 1, "facets": ["region"]});
    let result = session.json("select keyed.search('crm.customers', $1)", &[&all.to_string()]).await;
    assert_eq!(result["total"], 2, "{result}");
    assert!(!result.to_string().contains("US"), "{result}");
}

#[tokio::test]
async fn visible_deleted_record_is_read_only_on_request() {
    let sales = Sales::new().await;
    let session = sales.european("read, update").await;
    let id = sales.id("EU-0").await;
    assert_eq!(session.error("select keyed.get_record($1)", &[&id]).await.codes(), ("P0002", "not_found"));
    let page = session.text("select keyed.history_page($1)", &[&id]).await;
    assert!(page.contains("delete"), "{page}");
    assert_eq!(session.text("select keyed.restore_record($1) ->> 'external_key'", &[&id]).await, "EU-0");
    assert_eq!(seen(&session).await, "EU-0 EU-1 EU-2");
}

#[tokio::test]
async fn nothing_is_visible_without_a_grant_despite_privileges_of_postgresql() {
    let sales = Sales::new().await;
    let (role, session) = sales.member().await;
    sales
        .admin
        .run(&format!("grant usage on schema crm to {role}; grant all on crm.customers to {role}"))
        .await;
    let rows = session.rows("select from crm.customers", &[]).await;
    assert!(rows.is_empty());
    for statement in
        ["select keyed.search('crm.customers')", "select keyed.create_record('crm.customers', '{}')"]
    {
        assert_eq!(session.error(statement, &[]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
    assert_eq!(session.error("insert into crm.customers (name) values ('x')", &[]).await.state, "42501");
}

#[tokio::test]
async fn estimated_count_discloses_no_hidden_record() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    sales
        .admin
        .run(
            "insert into crm.customers (external_key, region, name)
             select 'h' || n, 'US', case when n % 2 = 0 then 'secret' else 'other' end from generate_series(1, 2000) n;
             analyze crm.customers",
        )
        .await;
    let mut totals = Vec::new();
    for name in ["secret", "nobody"] {
        let query = json!({"filter_groups": [[{"field": "region", "operator": "eq", "value": "EU"}],
                                             [{"field": "name", "operator": "eq", "value": name}]],
                           "count": "estimated", "limit": 1});
        let found = session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
        totals.push(found["total"].clone());
    }
    assert_eq!(totals, [json!(2), json!(2)]);
}
