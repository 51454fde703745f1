//! The contents of an entry of the change feed.

use super::{all, next, now, operations_and_keys, page};
use harness::{Database, id_of};
use serde_json::{Value, json};

#[tokio::test]
async fn entry_has_actor_changed_fields_and_previous_key() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let start = now(&session).await;
    let create = "select keyed.create_record('crm.customers', '{\"name\": \"Ada\", \"visits\": 1}', 'A-1')";
    let id = id_of(&session.json(create, &[]).await).to_owned();
    for statement in [
        "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"Ada L.\", \"tags\": [\"x\"]}}')",
        "select keyed.patch_record($1, '{\"external_key\": \"A-2\"}')",
        "select keyed.delete_record($1)",
        "select keyed.restore_record($1, '{\"external_key\": null}')",
    ] {
        session.rows(statement, &[&id]).await;
    }
    let (changes, _) = all(&session, &start, 100).await;
    let template = session.text("select id from keyed_state.template where slug = 'customers'", &[]).await;
    for change in &changes {
        assert_eq!(
            (&change["id"], &change["template_id"], &change["template_slug"]),
            (&json!(id), &json!(template), &json!("customers"))
        );
        assert_eq!((&change["actor"], &change["source"]), (&json!("postgres"), &json!("sql")));
        assert!(change["at"].as_str().is_some_and(|at| at.ends_with('Z')) && change.get("record").is_none());
    }
    let reported: Vec<Value> = changes
        .iter()
        .map(|it| json!([it["operation"], it["external_key"], it.get("previous_key"), it["changed"]]))
        .collect();
    assert_eq!(
        json!(reported),
        json!([
            ["create", "A-1", null, ["name", "visits"]],
            ["update", "A-1", null, ["name", "tags"]],
            ["update", "A-2", "A-1", ["external_key"]],
            ["delete", "A-2", "A-2", []],
            ["restore", null, "A-2", ["external_key"]]
        ])
    );
}

#[tokio::test]
async fn record_of_an_entry_equals_that_of_a_search() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let upsert = "select keyed.upsert_by_key('crm.customers', $1, $2)";
    session.rows(upsert, &["A", r#"{"name": "Ada", "visits": 1.50}"#]).await;
    session.rows(upsert, &["A", r#"{"name": "Grace", "tier": "gold"}"#]).await;
    session.rows(upsert, &["B", r#"{"name": "Bea"}"#]).await;
    session.run("select keyed.delete_record(id) from crm.customers where external_key = 'B'").await;
    let sql = "select keyed.changes('crm', 'crm.customers', 'start', 10, true)";
    let page = session.json(sql, &[]).await;
    let found = session.json("select keyed.search('crm.customers', '{}') -> 'records' -> 0", &[]).await;
    let records: Vec<Option<&Value>> =
        page["changes"].as_array().expect("changes").iter().map(|it| it.get("record")).collect();
    assert_eq!(records, [Some(&found), Some(&found), None, None]);
}

#[tokio::test]
async fn removed_row_is_reported_as_a_deletion() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.companies (external_key, name) values ('C', 'Acme')").await;
    session.run("delete from crm.companies").await;
    assert_eq!(operations_and_keys(&all(&session, "start", 10).await.0), ["create C", "delete C"]);
}

#[tokio::test]
async fn feed_covers_a_project_or_one_template() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run("select keyed.create_project('other', 'Other'), keyed.create_template('other', 'things', '[]')")
        .await;
    for key in ["1", "2", "3"] {
        for template in ["crm.customers", "other.things", "crm.companies"] {
            session
                .rows(
                    &format!(
                        "insert into {template} (external_key{}) values ($1{})",
                        if template == "crm.companies" { ", name" } else { "" },
                        if template == "crm.companies" { ", $1" } else { "" }
                    ),
                    &[key],
                )
                .await;
        }
    }
    let (changes, _) = all(&session, "start", 2).await;
    let reported: Vec<String> = changes
        .iter()
        .map(|it| format!("{}{}", it["template_slug"].as_str().unwrap_or_default(), it["external_key"]))
        .collect();
    let expected = [
        "customers\"1\"",
        "companies\"1\"",
        "customers\"2\"",
        "companies\"2\"",
        "customers\"3\"",
        "companies\"3\"",
    ];
    assert_eq!(reported, expected);
    let one = session.json("select keyed.changes('crm', 'crm.companies', 'start')", &[]).await;
    assert_eq!(
        operations_and_keys(one["changes"].as_array().expect("changes")),
        ["create 1", "create 2", "create 3"]
    );
    let wrong = session.error("select keyed.changes('crm', 'other.things', 'start')", &[]).await;
    assert_eq!(wrong.codes(), ("P0002", "not_found"));
}

#[tokio::test]
async fn page_has_the_requested_number_of_entries() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.companies (name) select n::text from generate_series(1, 5) n").await;
    let first = page(&session, "start", 5).await;
    assert_eq!((first["changes"].as_array().map(Vec::len), &first["has_more"]), (Some(5), &json!(false)));
    let first = page(&session, "start", 4).await;
    assert_eq!((first["changes"].as_array().map(Vec::len), &first["has_more"]), (Some(4), &json!(true)));
    let second = page(&session, &next(&first), 4).await;
    assert_eq!((second["changes"].as_array().map(Vec::len), &second["has_more"]), (Some(1), &json!(false)));
    for limit in ["0", "1001", "-1"] {
        let error = session.error("select keyed.changes('crm', page_size => $1::integer)", &[limit]).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/limit"]));
    }
}
