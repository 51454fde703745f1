//! The records that a role can write: within its scope, before and after the write.

use crate::sales::{Sales, of_region, seen};
use serde_json::json;

#[tokio::test]
async fn record_is_not_created_outside_of_the_scope() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let before = sales.state().await;
    for attributes in
        [json!({"region": "US"}), json!({}), json!({"region": null}), json!({"region": "US", "mood": 3})]
    {
        let values = [attributes.to_string()];
        let values = [values[0].as_str()];
        for statement in [
            "select keyed.create_record('crm.customers', $1)",
            "select keyed.create_record('crm.customers', $1, 'new')",
            "select keyed.upsert_by_key('crm.customers', 'new', $1)",
            "select keyed_http.create_record('2', jsonb_build_object('attributes', $1::jsonb)::text)",
            "select keyed_http.upsert_by_key('2', jsonb_build_object('external_key', 'new', 'attributes', $1::jsonb)::text, 'create', true)",
            "select keyed_http.upsert_by_key('2', jsonb_build_object('external_key', 'new', 'attributes', $1::jsonb)::text, null, true)",
        ] {
            let error = session.error(statement, &values).await;
            assert_eq!(error.codes(), ("42501", "forbidden"), "{statement} with {attributes}");
        }
    }
    assert_eq!(sales.state().await, before);
    let create = "select keyed.create_record('crm.customers', '{\"region\": \"EU\", \"mood\": 1}', 'EU-3') ->> 'external_key'";
    assert_eq!(session.text(create, &[]).await, "EU-3");
    assert_eq!(seen(&session).await, "EU-1 EU-2 EU-3");
}

#[tokio::test]
async fn record_is_not_moved_out_of_the_scope() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let id = sales.id("EU-1").await;
    let before = sales.state().await;
    for statement in [
        "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"US\"}}')",
        "select keyed.patch_record($1, '{\"attributes\": {\"region\": null}}')",
        "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"US\", \"mood\": 9}}')",
        "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"US\"}, \"external_key\": \"x\"}')",
        "select keyed.replace_attributes($1, '{\"name\": \"x\"}')",
        "select keyed.upsert_by_key('crm.customers', 'EU-1', '{\"region\": \"US\"}')",
        "select keyed.upsert_by_key('crm.customers', 'EU-1', '{\"region\": \"US\", \"mood\": 9}')",
        "select keyed_http.upsert_by_key('2', '{\"external_key\": \"EU-1\", \"attributes\": {\"region\": \"US\"}}', 'update', true)",
    ] {
        let error = session.error(statement, &[&id]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{statement}");
        assert!(error.hint.contains("explain_access"), "{}", error.hint);
    }
    assert_eq!(sales.state().await, before);
}

#[tokio::test]
async fn visible_record_outside_the_write_scope_is_forbidden() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("create, update, delete", &of_region("EU")).await;
    sales.database.grant(&role, "crm", "read").await;
    let (live, deleted) = (sales.id("US-1").await, sales.id("US-0").await);
    let before = sales.state().await;
    for (statement, id) in [
        ("select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}')", &live),
        ("select keyed.patch_record($1, '{\"attributes\": {\"region\": \"EU\"}}')", &live),
        ("select keyed.patch_record($1, '{\"attributes\": {\"mood\": 9}}')", &live),
        ("select keyed.patch_record($1, '{\"external_key\": null}')", &live),
        ("select keyed.replace_attributes($1, '{\"region\": \"EU\"}')", &live),
        ("select keyed.delete_record($1)", &live),
        ("select keyed.restore_record($1)", &deleted),
        ("select keyed.upsert_by_key('crm.customers', 'US-1', '{\"region\": \"EU\"}')", &live),
        ("select keyed.upsert_by_key('crm.customers', 'US-1', '{\"region\": \"US\"}')", &live),
        ("select keyed.upsert_by_key('crm.customers', 'US-1', '{\"mood\": 9}')", &live),
        ("select keyed.upsert_by_key('crm.customers', 'US-1', '{}')", &live),
        ("select keyed_http.delete_by_key('2', 'US-1')", &live),
    ] {
        let error = session.error(statement, &[id]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{statement}");
    }
    assert_eq!(sales.state().await, before);
    session.rows("select keyed.get_record($1)", &[&live]).await;
}

#[tokio::test]
async fn partial_upsert_can_omit_scope_attributes() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update").await;
    for attributes in ["{\"name\": \"x\"}", "{\"mood\": 4}", "{\"amount\": {\"$inc\": 2}}", "{}"] {
        let upsert = "select created from keyed.upsert_by_key('crm.customers', 'EU-1', $1)";
        assert_eq!(session.text(upsert, &[attributes]).await, "f", "{attributes}");
        let error =
            session.error("select keyed.upsert_by_key('crm.customers', 'new', $1)", &[attributes]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{attributes}");
    }
    let record = session.json("select keyed.get_by_key('crm.customers', 'EU-1')", &[]).await;
    let values =
        (&record["attributes"]["name"], &record["attributes"]["amount"], &record["attributes"]["region"]);
    assert_eq!(values, (&json!("x"), &json!(3), &json!("EU")));
}

#[tokio::test]
async fn write_scope_is_limited_to_readable_records() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    sales.database.grant(&role, "crm.customers", "create, update, delete").await;
    let hidden = sales.id("US-1").await;
    for statement in [
        "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}')",
        "select keyed.delete_record($1)",
    ] {
        assert_eq!(session.error(statement, &[&hidden]).await.codes(), ("P0002", "not_found"), "{statement}");
    }
    // A record created outside the readable scope is returned once, and cannot be read afterwards.
    let made = session
        .json("select keyed.create_record('crm.customers', '{\"region\": \"US\"}', 'letter')", &[])
        .await;
    let id = harness::id_of(&made);
    assert_eq!(session.error("select keyed.get_record($1)", &[id]).await.codes(), ("P0002", "not_found"));
    // But an update cannot move a record out of the caller's scope.
    let moved = "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"US\"}}')";
    let error = session.error(moved, &[&sales.id("EU-1").await]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn reference_to_an_invisible_record_is_rejected_as_missing() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, create, update", &of_region("EU")).await;
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("EU")).await;
    let hidden = sales.admin.text("select id from crm.companies where external_key = 'C-US'", &[]).await;
    let missing = sales.admin.text("select keyed.new_id(1)", &[]).await;
    let customer = sales.id("EU-1").await;
    let before = sales.state().await;
    for statement in [
        "select keyed.create_record('crm.customers', $1)",
        "select keyed.upsert_by_key('crm.customers', 'EU-1', $1)",
        "select keyed.replace_attributes($2, $1)",
        "select keyed.patch_record($2, jsonb_build_object('attributes', $1::jsonb))",
        "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'upsert', 'template', 'crm.customers', 'external_key', 'EU-1', 'attributes', $1::jsonb)), true)",
        "insert into crm.customers (region, company) select 'EU', (($1::jsonb) ->> 'company')::uuid",
        "update crm.customers set company = (($1::jsonb) ->> 'company')::uuid where external_key = 'EU-1'",
    ] {
        let mut references = vec![json!(missing), json!(hidden)];
        if !statement.contains("uuid") {
            references.extend([json!({"external_key": "C-US"}), json!({"external_key": "nobody"})]);
        }
        let mut errors = Vec::new();
        for reference in references {
            let attributes = json!({"region": "EU", "company": reference}).to_string();
            let error = session.error(statement, &[&attributes, &customer]).await;
            assert_eq!(error.codes(), ("23503", "reference_not_found"), "{statement}");
            // The two errors differ only in the name that was sent.
            let name = reference["external_key"].as_str().or(reference.as_str()).expect("a name");
            errors.push(format!("{error:?}").replace(name, "…"));
        }
        assert!(errors.iter().all(|error| *error == errors[0]), "{statement}: {errors:#?}");
    }
    assert_eq!(sales.state().await, before);
    let seen = json!({"region": "EU", "company": {"external_key": "C-EU"}}).to_string();
    session.rows("select keyed.create_record('crm.customers', $1)", &[&seen]).await;
}

#[tokio::test]
async fn writes_honor_scopes_through_references() {
    let sales = Sales::new().await;
    let scope = json!({"filters": [{"field": "company.region", "operator": "eq", "value": "EU"}]});
    let (role, session) = sales.clerk("read, create, update, delete", &scope).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2", "though companies may not be read");
    sales.database.grant(&role, "crm.companies", "read").await;
    for (company, is_taken) in [("C-EU", true), ("C-US", false)] {
        let attributes = json!({"company": {"external_key": company}}).to_string();
        for statement in [
            "select keyed.create_record('crm.customers', $1)",
            "select keyed.upsert_by_key('crm.customers', 'EU-1', $1)",
            "insert into crm.customers (company) select id from crm.companies where external_key = ($1::jsonb) -> 'company' ->> 'external_key'",
            "update crm.customers set company = (select id from crm.companies where external_key = ($1::jsonb) -> 'company' ->> 'external_key') where external_key = 'EU-2'",
        ] {
            let outcome = session.attempt(statement, &[&attributes]).await.map(|_| ()).map_err(|it| it.state);
            let expected = if is_taken { Ok(()) } else { Err("42501".to_owned()) };
            assert_eq!(outcome, expected, "{statement} with {company}");
        }
    }
    // The company leaves the scope, and its customers with it, immediately.
    sales.admin.run("update crm.companies set region = 'US' where external_key = 'C-EU'").await;
    assert_eq!(seen(&session).await, "");
    sales.admin.run("update crm.companies set region = 'EU' where external_key = 'C-US'").await;
    assert_eq!(seen(&session).await, "US-1 US-2");
}

#[tokio::test]
async fn equal_metric_values_need_a_writable_record() {
    let sales = Sales::new().await;
    let create =
        "select keyed.create_template('crm', 'sensors', '[{\"slug\": \"heat\", \"type\": \"metric\"}]')";
    sales.admin.rows(create, &[]).await;
    let made = "select keyed.create_record('crm.sensors', '{\"heat\": 20}', 'S-1') ->> 'id'";
    let id = sales.admin.text(made, &[]).await;
    let (role, session) = sales.member().await;
    sales.database.grant(&role, "crm.sensors", "read").await;
    let other = json!({"field": "external_key", "operator": "eq", "value": "S-2"});
    sales.database.grant_within(&role, "crm.sensors", "update", &other).await;
    for attributes in [r#"{"heat": 20}"#, r#"{"heat": 21}"#] {
        let error = session.error("select keyed.replace_attributes($1, $2)", &[&id, attributes]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{attributes}");
    }
}
