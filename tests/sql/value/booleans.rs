//! Booleans: true, false or no value, in each form and at each entry point.

use crate::gallery::{Gallery, keys};
use harness::customers::HISTORY;
use harness::{Database, Session};
use serde_json::{Value, json};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

async fn active(session: &Session) -> Value {
    let record = session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await;
    record["attributes"]["active"].clone()
}

#[tokio::test]
async fn boolean_is_a_column_of_postgresqls_own_type() {
    let (_database, session) = crm().await;
    let column = "select format_type(atttypid, -1) from pg_attribute
                  where attrelid = 'crm.customers'::regclass and attname = 'active'";
    assert_eq!(session.text(column, &[]).await, "boolean");
    for value in [json!(true), json!(false), Value::Null] {
        let attributes = json!({"active": value}).to_string();
        session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&attributes]).await;
        assert_eq!(active(&session).await, value);
    }
}

#[tokio::test]
async fn only_booleans_are_accepted() {
    let (_database, session) = crm().await;
    for value in [json!("true"), json!(""), json!(1), json!(0), json!([true]), json!({"$inc": 1})] {
        let attributes = json!({"active": value}).to_string();
        let error = session.error("select keyed.create_record('crm.customers', $1)", &[&attributes]).await;
        assert_eq!(error.codes(), ("22023", "invalid_value"), "{attributes}");
        assert_eq!(error.pointers(), ["/attributes/active"], "{attributes}");
    }
}

#[tokio::test]
async fn equal_boolean_is_no_change() {
    let (_database, session) = crm().await;
    for (value, versions) in [("false", "1"), ("false", "1"), ("true", "2"), ("null", "3")] {
        let attributes = format!(r#"{{"active": {value}}}"#);
        session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&attributes]).await;
        let count = "select count(*) from crm.customers c, keyed.history(c.id)";
        assert_eq!(session.text(count, &[]).await, versions, "{value}");
    }
    let changes = &format!("select jsonb_agg(h.changes -> 'active' order by h.version) from {HISTORY} h");
    let expected =
        json!([{"old": null, "new": false}, {"old": false, "new": true}, {"old": true, "new": null}]);
    assert_eq!(session.json(changes, &[]).await, expected);
}

#[tokio::test]
async fn batch_and_sql_write_booleans() {
    let (_database, session) = crm().await;
    let operations: Vec<Value> = [Some(true), Some(false), None, Some(true)]
        .iter()
        .enumerate()
        .map(|(number, value)| {
            json!({"op": "upsert", "template": "crm.customers", "external_key": format!("K-{number}"),
                   "attributes": {"active": value}})
        })
        .collect();
    let result = session.json("select keyed.batch($1)", &[&json!(operations).to_string()]).await;
    assert_eq!(result["errors"], false, "{result}");
    let stored = "select jsonb_agg(active order by external_key) from crm.customers";
    assert_eq!(session.json(stored, &[]).await, json!([true, false, null, true]));
    session.run("update crm.customers set active = not active").await;
    assert_eq!(session.json(stored, &[]).await, json!([false, true, null, false]));
    let last =
        &format!("select jsonb_agg(h.changes order by h.record_id) from {HISTORY} h where h.version = 2");
    let change = |old: bool| json!({"active": {"old": old, "new": !old}});
    assert_eq!(session.json(last, &[]).await, json!([change(true), change(false), change(true)]));
}

#[tokio::test]
async fn boolean_can_be_required_and_have_a_default() {
    let (_database, session) = crm().await;
    session.rows("select keyed.upsert_by_key('crm.customers', 'A-1')", &[]).await;
    let added = r#"{"slug": "paid", "type": "Boolean", "required": true, "default": false, "indexed": true}"#;
    session.rows("select keyed.add_attribute('crm.customers', $1)", &[added]).await;
    assert_eq!(session.text("select paid from crm.customers", &[]).await, "f");
    for default in ["1", "\"true\"", "{\"$inc\": 1}"] {
        let changes = format!(r#"{{"default": {default}}}"#);
        let alter = "select keyed.alter_attribute('crm.customers', 'paid', $1)";
        assert_eq!(session.error(alter, &[&changes]).await.codes(), ("22023", "invalid_value"), "{default}");
    }
    session.run(r#"select keyed.alter_attribute('crm.customers', 'paid', '{"default": true}')"#).await;
    let made = session.json("select keyed.create_record('crm.customers', '{}')", &[]).await;
    assert_eq!(made["attributes"]["paid"], true);
    let null = r#"{"paid": null}"#;
    let error = session.error("select keyed.create_record('crm.customers', $1)", &[null]).await;
    assert_eq!(error.codes().1, "required_attribute");
}

#[tokio::test]
async fn pages_are_sorted_by_a_boolean_and_facets_count_it() {
    let gallery = Gallery::new().await;
    let works = [
        ("A", json!(true)),
        ("B", json!(false)),
        ("C", json!(true)),
        ("D", Value::Null),
        ("E", json!(false)),
    ];
    gallery.works(works.map(|(key, framed)| (key, json!({"framed": framed, "title": key})))).await;
    for indexed in ["false", "true"] {
        gallery.index(indexed).await;
        for (sort, expected) in [("framed,title", "B E A C D"), ("-framed,title", "A C B E D")] {
            let (mut collected, mut cursor) = (Vec::new(), Value::Null);
            loop {
                let page = gallery.search(&json!({"sort": sort, "limit": 1, "cursor": cursor})).await;
                collected.push(keys(&page));
                cursor = page["next_cursor"].clone();
                if cursor.is_null() {
                    break;
                }
            }
            assert_eq!(collected.join(" "), expected, "{sort}");
        }
    }
    let page = gallery.search(&json!({"facets": ["framed"]})).await;
    let facets = json!({"framed": [{"value": false, "count": 2}, {"value": true, "count": 2}]});
    assert_eq!(page["facets"], facets);
}

#[tokio::test]
async fn boolean_cannot_be_embedded() {
    let (_database, session) = crm().await;
    let alter = r#"select keyed.alter_template('crm.customers', '{"embed": ["active"]}')"#;
    let error = session.error(alter, &[]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/embed/0"]));
    session.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"active": false}')"#).await;
    let get = "select keyed.get_by_key('crm.customers', 'A-1', verbose => true)";
    let record = session.json(get, &[]).await;
    let shown = json!({"value": false, "type": "boolean", "label": "active"});
    assert_eq!(record["attribute_values"]["active"], shown);
}
