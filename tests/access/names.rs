//! Names of records out of sight, where others in sight refer to them.

use crate::sales::{Sales, found, of_region};
use harness::Session;
use serde_json::{Value, json};

/// Somebody who sees all customers, and of the companies only Acme.
async fn with_clerk() -> (Sales, Session) {
    let sales = Sales::new().await;
    let (role, session) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "read, update").await;
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("EU")).await;
    (sales, session)
}

async fn search(session: &Session, query: Value) -> Value {
    session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await
}

fn tells(answer: &Value) -> (bool, bool) {
    let text = answer.to_string();
    assert!(!text.contains("C-US"), "{text}");
    (text.contains("Acme"), text.contains("Globex"))
}

#[tokio::test]
async fn verbose_and_facets_leave_them_out() {
    let (sales, session) = with_clerk().await;
    let all = search(&session, json!({"verbose": true, "facets": ["company"]})).await;
    assert_eq!(tells(&all), (true, false), "{all}");
    for (key, expected) in [("EU-1", (true, false)), ("US-1", (false, false))] {
        let record =
            session.json("select keyed.get_record($1, verbose => true)", &[&sales.id(key).await]).await;
        assert_eq!(tells(&record), expected, "{record}");
        let record =
            session.json("select keyed.get_by_key('crm.customers', $1, verbose => true)", &[key]).await;
        assert_eq!(tells(&record), expected, "{record}");
    }
}

#[tokio::test]
async fn words_do_not_find_them() {
    let (_sales, session) = with_clerk().await;
    assert_eq!(found(&session, json!({"global_search": "acme"})).await, "EU-1 EU-2");
    for words in ["Globex", "globe", "lobex gold", "\"Globex\"", "Customer Globex"] {
        assert_eq!(found(&session, json!({"global_search": words})).await, "", "{words}");
    }
    let without = json!({"global_search": "customer -globex"});
    assert_eq!(found(&session, without).await, "EU-1 EU-2 US-1 US-2", "nor do they exclude");
}

#[tokio::test]
async fn an_order_does_not_hang_on_them() {
    let (sales, session) = with_clerk().await;
    let add = "select keyed.upsert_by_key('crm.companies', $1, $2)";
    let order = async |field: &str| {
        let ids = search(&session, json!({"sort": [{"field": field}], "fields": ["id"]})).await;
        let ids = ids["records"].as_array().expect("records").iter().map(|record| record["id"].to_string());
        ids.collect::<Vec<_>>()
    };
    for (first, second) in [("A", "Z"), ("Z", "A")] {
        for (key, customer, name) in [("C-1", "US-1", first), ("C-2", "US-2", second)] {
            let attributes = json!({"name": name, "region": "US"}).to_string();
            sales.admin.rows(add, &[key, &attributes]).await;
            let company = json!({"company": {"external_key": key}}).to_string();
            let upsert = "select keyed.upsert_by_key('crm.customers', $1, $2)";
            sales.admin.rows(upsert, &[customer, &company]).await;
        }
        let mut by_id = [sales.id("US-1").await, sales.id("US-2").await].map(|id| json!(id).to_string());
        by_id.sort();
        for field in ["company", "company.name", "company.external_key", "company.created_at"] {
            assert_eq!(order(field).await[2..], by_id, "{field}: those out of sight come last, by id");
        }
    }
}

#[tokio::test]
async fn conditions_behind_a_reference_hold_them_for_missing() {
    let (sales, session) = with_clerk().await;
    for (field, operator, value, expected) in [
        ("company.name", "eq", json!("Globex"), ""),
        ("company.name", "not-empty", Value::Null, "EU-1 EU-2"),
        ("company.name", "empty", Value::Null, "US-1 US-2"),
        ("company.name", "neq", json!("Globex"), "EU-1 EU-2 US-1 US-2"),
        ("company.external_key", "eq", json!("C-US"), ""),
        ("company", "eq", json!({"external_key": "C-US"}), ""),
        ("company", "neq", json!({"external_key": "C-US"}), "EU-1 EU-2 US-1 US-2"),
        ("company", "eq", json!({"external_key": "C-EU"}), "EU-1 EU-2"),
    ] {
        let condition = json!({"field": field, "operator": operator, "value": value});
        assert_eq!(found(&session, json!({"filters": [condition]})).await, expected, "{condition}");
        let sql = session
            .text(
                "select keyed.filter_sql('crm.customers', $1)",
                &[&json!({"filters": [condition]}).to_string()],
            )
            .await;
        let select = format!(
            "select coalesce(string_agg(external_key, ' ' order by external_key), '') from crm.customers t where {sql}"
        );
        assert_eq!(session.text(&select, &[]).await, expected, "{sql}");
    }
    drop(sales);
}

#[tokio::test]
async fn of_a_template_that_may_not_be_read_no_condition_is_taken() {
    let sales = Sales::new().await;
    let (role, session) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "read").await;
    for query in [
        json!({"filters": [{"field": "company.name", "operator": "eq", "value": "Globex"}]}),
        json!({"sort": "company.name"}),
    ] {
        let refusal =
            session.refusal("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
        assert!(["22023", "42501"].contains(&refusal.state.as_str()), "{refusal}");
        assert!(!format!("{refusal:?}").contains("Globex\""), "{refusal:?}");
    }
}
