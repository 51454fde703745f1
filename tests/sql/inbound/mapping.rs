//! Mappings from an item of a payload to attributes.

use super::{TRY, crm};
use harness::Session;
use harness::customers::{HISTORY, SERIES};
use serde_json::{Value, json};

/// The result of mapping one item: its attributes, or the code and pointer of its error.
async fn mapped(session: &Session, mapping: &Value, item: &str) -> Result<String, (String, String)> {
    let trial = format!(r#"{{"payload": {item}, "mapping": {mapping}}}"#);
    let sql = "select case when r ->> 'error' is null then r -> 'items' -> 0 -> 'attributes' #>> '{}' else r ->> 'error' end
               from keyed.dry_run_inbound(1, $1) r";
    let text = session.text(sql, &[&trial]).await;
    let read: Value = serde_json::from_str(&text).expect("JSON");
    match read["code"].as_str() {
        None => Ok(text),
        Some(code) => {
            let position = read["errors"][0]["pointer"].as_str().unwrap_or_default();
            Err((code.to_owned(), position.to_owned()))
        }
    }
}

#[tokio::test]
async fn path_maps_a_value_to_its_attribute() {
    let (_database, session) = crm().await;
    for (mapping, item, expected) in [
        (json!({"name": "$.a.b"}), r#"{"id": 1, "a": {"b": "x"}}"#, r#"{"name": "x"}"#),
        (json!({"name": "$.a.b"}), r#"{"id": 1, "a": {}}"#, "{}"),
        (json!({"name": "$.a"}), r#"{"id": 1, "a": null}"#, r#"{"name": null}"#),
        (json!({"name": "\"constant\""}), r#"{"id": 1}"#, r#"{"name": "constant"}"#),
        (json!({"name": "$.list[last]"}), r#"{"id": 1, "list": ["x", "y"]}"#, r#"{"name": "y"}"#),
        (
            json!({"name": "$.list[*] ? (@.kind == \"main\").name"}),
            r#"{"id": 1, "list": [{"kind": "main", "name": "y"}, {"name": "z"}]}"#,
            r#"{"name": "y"}"#,
        ),
        (
            json!({"visits": "$.n"}),
            r#"{"id": 1, "n": 123456789012345678901234567890.123456789}"#,
            r#"{"visits": 123456789012345678901234567890.123456789}"#,
        ),
        (json!({"visits": "$.n.double() * 2"}), r#"{"id": 1, "n": "21"}"#, r#"{"visits": 42}"#),
        (json!({"tags": "$.t[*]"}), r#"{"id": 1, "t": ["a", "b"]}"#, r#"{"tags": ["a", "b"]}"#),
        (json!({"tags": "$.t"}), r#"{"id": 1, "t": []}"#, r#"{"tags": []}"#),
        (json!({"tags": "$.t"}), r#"{"id": 1, "t": "a"}"#, r#"{"tags": "a"}"#),
        (
            json!({"mood": "$.m"}),
            r#"{"id": 1, "m": {"value": 5, "at": "2024-01-01T00:00:00Z"}}"#,
            r#"{"mood": {"at": "2024-01-01T00:00:00Z", "value": 5}}"#,
        ),
        (
            json!({"born": "$.d", "seen": "$.s"}),
            r#"{"id": 1, "d": "2024-02-29", "s": "2024-02-29T12:00:00+02:00"}"#,
            r#"{"born": "2024-02-29", "seen": "2024-02-29T12:00:00+02:00"}"#,
        ),
        (json!({"active": "$.a"}), r#"{"id": 1, "a": false}"#, r#"{"active": false}"#),
        (json!({"company": "$.c"}), r#"{"id": 1, "c": "C-1"}"#, r#"{"company": {"external_key": "C-1"}}"#),
        (
            json!({"company": {"path": "$.c", "key_prefix": "C-"}}),
            r#"{"id": 1, "c": 1}"#,
            r#"{"company": {"external_key": "C-1"}}"#,
        ),
        (json!({"company": "$.c"}), r#"{"id": 1, "c": null}"#, r#"{"company": null}"#),
    ] {
        let found = mapped(&session, &mapping, item).await;
        assert_eq!(found, Ok(expected.to_owned()), "{mapping} in {item}");
    }
    assert_eq!(
        session.text("select count(*) from crm.customers", &[]).await,
        "0",
        "a rolled back attempt leaves nothing"
    );
    assert_eq!(session.text(&format!("select count(*) from {HISTORY}"), &[]).await, "0");
    assert_eq!(session.text(&format!("select count(*) from {SERIES}"), &[]).await, "0");
    assert_eq!(session.text("select count(*) from keyed_state.inbound_delivery", &[]).await, "0");
}

#[tokio::test]
async fn empty_array_clears_a_list_and_a_missing_one_keeps_it() {
    let (_database, session) = crm().await;
    let emptied = r#"{"tags": []}"#;
    for (path, item, expected) in [
        ("$.t[*]", r#"{"id": 1, "t": []}"#, emptied),
        ("$.t[*].name", r#"{"id": 1, "t": []}"#, emptied),
        ("strict $.t[*]", r#"{"id": 1, "t": []}"#, emptied),
        ("$.rows[*].tags[*]", r#"{"id": 1, "rows": [{"tags": []}, {}]}"#, emptied),
        (r#"$.t[*] ? (@ != "x")"#, r#"{"id": 1, "t": ["x"]}"#, emptied),
        (r#"$.t[*] ? (@.on == true).name"#, r#"{"id": 1, "t": [{"on": false, "name": "x"}]}"#, emptied),
        ("$.t[*]", r#"{"id": 1}"#, "{}"),
        ("$.t[*]", r#"{"id": 1, "t": null}"#, r#"{"tags": null}"#),
        ("$.t[*].name", r#"{"id": 1, "t": [{"label": "x"}]}"#, "{}"),
        ("$.rows[*].tags[*]", r#"{"id": 1, "rows": [{"tags": []}, {"tags": ["a"]}]}"#, r#"{"tags": "a"}"#),
    ] {
        let found = mapped(&session, &json!({"tags": path}), item).await;
        assert_eq!(found, Ok(expected.to_owned()), "{path} in {item}");
    }
    // Each of several items is mapped separately.
    let trial = json!({"items": "$[*]", "mapping": {"tags": "$.t[*]"},
                       "payload": [{"id": 1, "t": ["a"]}, {"id": 2, "t": []}, {"id": 3}]});
    let tried = session.json(TRY, &[&trial.to_string()]).await;
    let attributes: Vec<&Value> =
        tried["items"].as_array().expect("items").iter().map(|item| &item["attributes"]).collect();
    assert_eq!(attributes, [&json!({"tags": "a"}), &json!({"tags": []}), &json!({})]);
}

#[tokio::test]
async fn missing_items_are_rejected_and_empty_items_accepted() {
    let (_database, session) = crm().await;
    for (items, payload) in [
        ("$.rows[*]", json!({"rows": []})),
        ("$.rows[*]", json!([])),
        ("$.rows[*].cells[*]", json!({"rows": []})),
        ("$.pages[*].rows[*]", json!({"pages": [{"rows": []}, {"rows": []}]})),
        (r#"$.rows[*] ? (@.kind == "x")"#, json!({"rows": [{"id": 1, "kind": "y"}]})),
        (r#"$ ? (@.event == "changed")"#, json!({"event": "looked at"})),
    ] {
        let trial = json!({"payload": payload, "items": items}).to_string();
        let tried = session.json(TRY, &[&trial]).await;
        assert_eq!((&tried["items"], &tried["error"]), (&json!([]), &Value::Null), "{items}: {tried}");
    }
    for (items, payload, says) in [
        ("$.rows[*]", json!({"row": []}), r#"$ exists, $."rows" does not"#),
        ("$.rows[*].cell[*]", json!({"rows": [{}]}), r#"$."rows"[*] exists, $."rows"[*]."cell" does not"#),
        ("$.rows[*].cells[*]", json!({"rows": [{"cells": []}, {"cells": {}}]}), ""),
        ("$.nothing", json!({"id": "a"}), r#"$."nothing" does not"#),
        ("$.rows[3]", json!({"rows": [1]}), r#"$."rows"[3] does not"#),
    ] {
        let trial = json!({"payload": payload, "items": items}).to_string();
        let error = session.json(TRY, &[&trial]).await["error"].take();
        if says.is_empty() {
            assert_eq!(error["errors"][0]["pointer"], "/items/0/external_key", "{items}: {error}");
            continue;
        }
        assert_eq!(
            (&error["code"], &error["errors"][0]["pointer"]),
            (&json!("invalid_value"), &json!("/items"))
        );
        assert!(error["detail"].as_str().expect("a text").contains(says), "{items}: {error}");
    }
}

#[tokio::test]
async fn item_of_a_delivery_follows_the_rules_of_writes() {
    let (_database, session) = crm().await;
    for (mapping, item, code, position) in [
        (json!({"name": "$.n"}), r#"{"id": 1, "n": 5}"#, "invalid_value", "/items/0/attributes/name"),
        (
            json!({"name": "$.n[*]"}),
            r#"{"id": 1, "n": ["a", "b"]}"#,
            "invalid_value",
            "/items/0/attributes/name",
        ),
        (json!({"visits": "$.n"}), r#"{"id": 1, "n": "5"}"#, "invalid_value", "/items/0/attributes/visits"),
        (json!({"active": "$.a"}), r#"{"id": 1, "a": "yes"}"#, "invalid_value", "/items/0/attributes/active"),
        (json!({"tier": "$.t"}), r#"{"id": 1, "t": "bronze"}"#, "invalid_value", "/items/0/attributes/tier"),
        (
            json!({"company": "$.c"}),
            r#"{"id": 1, "c": "C-9"}"#,
            "reference_not_found",
            "/items/0/attributes/company",
        ),
        (
            json!({"company": "$.c"}),
            r#"{"id": 1, "c": 1.5}"#,
            "invalid_external_key",
            "/items/0/attributes/company",
        ),
        (json!({}), r#"{"id": null}"#, "invalid_external_key", "/items/0/external_key"),
        (json!({}), r#"{"id": ""}"#, "invalid_external_key", "/items/0/external_key"),
        (json!({}), r#"{"id": {"a": 1}}"#, "invalid_external_key", "/items/0/external_key"),
        (json!({}), "{}", "invalid_external_key", "/items/0/external_key"),
        (json!({"name": "strict $.a.b"}), r#"{"id": 1}"#, "invalid_value", "/items/0/attributes/name"),
        (json!({"visits": "$.n / 0"}), r#"{"id": 1, "n": 1}"#, "invalid_value", "/items/0/attributes/visits"),
    ] {
        let found = mapped(&session, &mapping, item).await;
        assert_eq!(found, Err((code.to_owned(), position.to_owned())), "{mapping} in {item}");
    }
}

#[tokio::test]
async fn items_are_found_at_any_depth() {
    let (_database, session) = crm().await;
    for (items, payload, keys) in [
        ("$", json!({"id": "a"}), "a"),
        ("$", json!([{"id": "a"}]), "a"),
        ("$[*]", json!([{"id": "b"}, {"id": "a"}]), "b a"),
        (
            "$.pages[*].rows[*]",
            json!({"pages": [{"rows": [{"id": "a"}]}, {"rows": [{"id": "b"}, {"id": "c"}]}]}),
            "a b c",
        ),
        ("$.rows[*] ? (@.kind == \"x\")", json!({"rows": [{"id": "a", "kind": "x"}, {"id": "b"}]}), "a"),
        ("$[*]", json!([{"id": "a"}, {"id": "a"}]), "a a"),
    ] {
        let trial = json!({"payload": payload, "items": items}).to_string();
        let tried = session.json(TRY, &[&trial]).await;
        let found: Vec<&str> = tried["items"]
            .as_array()
            .expect("items")
            .iter()
            .filter_map(|item| item["external_key"].as_str())
            .collect();
        assert_eq!((found.join(" ").as_str(), &tried["error"]), (keys, &Value::Null), "{items}: {tried}");
    }
    let many: Vec<Value> = (0..10_001).map(|n| json!({"id": n})).collect();
    let trial = json!({"payload": many, "items": "$[*]"}).to_string();
    assert_eq!(session.json(TRY, &[&trial]).await["error"]["code"], "payload_too_large");
    let trial = json!({"payload": &many[1..], "items": "$[*]"}).to_string();
    assert_eq!(session.json(TRY, &[&trial]).await["created"], 10_000);
}

#[tokio::test]
async fn mapping_follows_its_attributes() {
    let (_database, session) = crm().await;
    session.run("select keyed.alter_inbound_endpoint(1, '{\"mapping\": {\"name\": \"$.name\"}}')").await;
    session.run("select keyed.alter_attribute('crm.customers', 'name', '{\"slug\": \"title\"}')").await;
    let found = session.json(TRY, &[r#"{"payload": {"id": 1, "name": "x"}}"#]).await;
    assert_eq!(found["items"][0]["attributes"], json!({"title": "x"}));
    let error = session.error("select keyed.drop_attribute('crm.customers', 'title')", &[]).await;
    assert_eq!(error.codes().1, "conflict");
    assert!(error.message.contains("\"shop\""), "{error}");
    session.run("select keyed.drop_attribute('crm.customers', 'born')").await;
    session.run("select keyed.drop_template('crm.customers')").await;
    assert_eq!(session.text("select count(*) from keyed_state.inbound_endpoint", &[]).await, "0");
}

#[tokio::test]
async fn failing_path_is_named_with_its_item() {
    let (_database, session) = crm().await;
    let tried = async |trial: Value| session.json(TRY, &[&trial.to_string()]).await["error"].take();
    let mut payload: Vec<Value> = (0..3000).map(|n| json!({"id": n, "name": "x", "n": 1})).collect();
    payload[1234]["n"] = json!("many");
    payload[2345]["n"] = json!("more");
    let mapping = json!({"name": "$.name", "visits": "$.n.double()"});
    let error = tried(json!({"items": "$[*]", "payload": payload, "mapping": mapping})).await;
    assert_eq!(
        (&error["code"], &error["errors"][0]["pointer"]),
        (&json!("invalid_value"), &json!("/items/1234/attributes/visits")),
        "{error}"
    );
    assert!(
        error["detail"].as_str().is_some_and(|it| it.contains("the path $.n.double() fails: ")),
        "{error}"
    );
    let error =
        tried(json!({"external_key": "strict $.key", "items": "$[*]", "payload": [{"key": 1}, {"id": 1}]}))
            .await;
    assert_eq!(error["errors"][0]["pointer"], "/items/1/external_key", "{error}");
    let error = tried(json!({"items": "strict $.rows[*]", "payload": {"id": 1}})).await;
    assert_eq!(error["errors"][0]["pointer"], "/items", "{error}");
}

#[tokio::test]
async fn older_path_with_a_variable_fails_with_its_member() {
    let (_database, session) = crm().await;
    session.run("update keyed_state.inbound_endpoint set mapping = '{\"name\": \"$x\"}'").await;
    let error = session.json(TRY, &[r#"{"payload": {"id": 1}}"#]).await["error"].take();
    assert_eq!(error["errors"][0]["pointer"], "/items/0/attributes/name", "{error}");
}

#[tokio::test]
async fn null_prefix_means_no_prefix() {
    let (_database, session) = crm().await;
    let key = async |trial: Value| {
        session.json(TRY, &[&trial.to_string()]).await["items"][0]["external_key"].clone()
    };
    session.run("select keyed.alter_inbound_endpoint(1, '{\"key_prefix\": \"shop:\"}')").await;
    assert_eq!(key(json!({"payload": {"id": 1}})).await, "shop:1");
    assert_eq!(key(json!({"payload": {"id": 1}, "key_prefix": null})).await, "1");
    session.run("select keyed.alter_inbound_endpoint(1, '{\"key_prefix\": null, \"role\": null}')").await;
    assert_eq!(key(json!({"payload": {"id": 1}})).await, "1");
    let mapping = json!({"company": {"path": "$.c", "key_prefix": null}});
    let tried = session.json(TRY, &[&json!({"payload": {"id": 1}, "mapping": mapping}).to_string()]).await;
    assert_eq!(tried["error"], Value::Null, "{tried}");
}
