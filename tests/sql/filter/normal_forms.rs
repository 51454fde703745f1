//! Unicode normal forms: filters and facets treat a composed text and its decomposed form as equal.

use harness::{Database, Session};
use serde_json::{Value, json};

/// `Zürich` and `Genève` in both forms, and similar text.
async fn cities() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "select keyed.alter_attribute('crm.customers', 'name', '{\"indexed\": true}');
             select keyed.alter_attribute('crm.customers', 'tags', '{\"indexed\": true}');
             select keyed.upsert_by_key('crm.companies', 'C', '{\"name\": \"Zu\u{308}rich\"}');
             insert into crm.customers (external_key, name, tags, company)
             select k, v, array[v], case when k = 'b' then (select id from crm.companies) end
             from (values ('a', 'Z\u{fc}rich'), ('b', 'Zu\u{308}rich'), ('c', 'Zurich'), ('d', 'Z\u{fc}rich West'),
               ('e', 'Zu\u{308}rich West'), ('f', 'Gen\u{e8}ve'), ('g', 'Gene\u{300}ve')) c (k, v)",
        )
        .await;
    (database, session)
}

async fn search(session: &Session, query: Value) -> Value {
    session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await
}

async fn found(session: &Session, condition: Value) -> String {
    let page = search(session, json!({"filters": [condition], "sort": "external_key"})).await;
    let records = page["records"].as_array().expect("records").iter();
    records.filter_map(|record| record["external_key"].as_str()).collect()
}

#[tokio::test]
async fn operators_find_both_normal_forms() {
    let (_database, session) = cities().await;
    for form in ["Z\u{fc}rich", "Zu\u{308}rich"] {
        for (field, operator, value, keys) in [
            ("name", "eq", json!(form), "ab"),
            ("name", "neq", json!(form), "cdefg"),
            ("name", "in", json!([form, "Gen\u{e8}ve"]), "abfg"),
            ("name", "not-in", json!([form, "Gene\u{300}ve"]), "cde"),
            ("name", "like", json!(form), "abde"),
            ("name", "not-like", json!(form), "cfg"),
            ("name", "ilike", json!(form.to_uppercase()), "abde"),
            ("name", "starts-with", json!(form), "abde"),
            ("name", "ends-with", json!(form), "ab"),
            ("tags", "in", json!([form]), "ab"),
            ("tags", "not-in", json!([form]), "cdefg"),
            ("company.name", "eq", json!(form), "b"),
            ("company.name", "like", json!(form), "b"),
        ] {
            let condition = json!({"field": field, "operator": operator, "value": value});
            assert_eq!(found(&session, condition.clone()).await, keys, "{condition}");
        }
    }
    // Text that is not canonically equivalent is different.
    assert_eq!(found(&session, json!({"field": "name", "operator": "eq", "value": "Zurich"})).await, "c");
}

#[tokio::test]
async fn option_in_another_form_is_the_same_option() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run("select keyed.alter_attribute('crm.customers', 'tier', '{\"options\": [\"gr\u{fc}n\", \"rot\"]}')")
        .await;
    session
        .run("insert into crm.customers (external_key, tier) values ('a', '{gr\u{fc}n}'), ('b', '{rot}')")
        .await;
    for form in ["gr\u{fc}n", "gru\u{308}n"] {
        assert_eq!(found(&session, json!({"field": "tier", "operator": "in", "value": [form]})).await, "a");
    }
}

#[tokio::test]
async fn facets_count_both_forms_as_one_value() {
    let (_database, session) = cities().await;
    let expected = json!([
        {"value": "Gen\u{e8}ve", "count": 2},
        {"value": "Z\u{fc}rich", "count": 2},
        {"value": "Z\u{fc}rich West", "count": 2},
        {"value": "Zurich", "count": 1},
    ]);
    let values = |facet: &Value| {
        let mut values: Vec<Value> = facet.as_array().expect("values").clone();
        values.iter_mut().for_each(|value| drop(value.as_object_mut().map(|it| it.remove("label"))));
        values.sort_by_key(|value| value["value"].to_string());
        json!(values)
    };
    let sorted = values(&expected);
    // Counted by SQL, and where the terms of a search are compared in memory.
    for query in [
        json!({"facets": ["name", "tags"]}),
        json!({"facets": ["name", "tags"], "filters": [{"field": "name", "operator": "not-empty"}]}),
        json!({"facets": ["name", "tags"], "global_search": "e", "count": "exact"}),
    ] {
        let page = search(&session, query.clone()).await;
        for facet in ["name", "tags"] {
            let counted = values(&page["facets"][facet]);
            if query["global_search"].is_null() {
                assert_eq!(counted, sorted, "{facet} of {query}");
            }
            let strings: Vec<&str> =
                counted.as_array().expect("values").iter().filter_map(|it| it["value"].as_str()).collect();
            assert!(
                strings.iter().all(|text| !text.contains(['\u{300}', '\u{308}'])),
                "{facet} of {query}: {page}"
            );
        }
    }
    let words =
        search(&session, json!({"facets": ["name"], "global_search": "zurich", "count": "exact"})).await;
    let expected = json!([
        {"value": "Zurich", "count": 1},
        {"value": "Z\u{fc}rich", "count": 2},
        {"value": "Z\u{fc}rich West", "count": 2},
    ]);
    assert_eq!(values(&words["facets"]["name"]), values(&expected));
}

#[tokio::test]
async fn scope_holds_for_both_forms_in_functions_and_in_plain_sql() {
    let (database, session) = cities().await;
    for (number, form) in ["Z\u{fc}rich", "Zu\u{308}rich"].into_iter().enumerate() {
        let role = database.create_role(&format!("reader_{number}")).await;
        let scope = json!({"filters": [{"field": "name", "operator": "eq", "value": form}]}).to_string();
        session
            .rows(
                "select keyed.grant_access($1::name, 'crm.customers', '{read}', $2::jsonb)",
                &[&role, &scope],
            )
            .await;
        let reader = database.session_as(&role).await;
        let keys = "select string_agg(external_key, '' order by external_key) from crm.customers";
        assert_eq!(reader.text(keys, &[]).await, "ab", "{form:?}");
        let page =
            reader.json("select keyed.search('crm.customers', '{\"sort\": \"external_key\"}')", &[]).await;
        assert_eq!(page["records"].as_array().map(Vec::len), Some(2), "{form:?}");
    }
}

#[tokio::test]
async fn key_in_another_form_is_another_key() {
    let (_database, session) = cities().await;
    session.run("insert into crm.customers (external_key) values ('gr\u{fc}n')").await;
    for operator in ["eq", "like"] {
        let condition = json!({"field": "external_key", "operator": operator, "value": "gru\u{308}n"});
        assert_eq!(found(&session, condition).await, "");
    }
}
