//! Functions that create, read, change, delete and restore records.

use harness::{Database, Session, id_of};
use serde_json::{Value, json};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

async fn create(session: &Session, attributes: &Value, key: &str) -> Value {
    session.json("select keyed.create_record('crm.customers', $1, $2)", &[&attributes.to_string(), key]).await
}

async fn patch(session: &Session, record: &Value, body: Value) -> Value {
    session.json("select keyed.patch_record($1, $2)", &[id_of(record), &body.to_string()]).await
}

async fn get(session: &Session, record: &Value) -> Value {
    session.json("select keyed.get_record($1)", &[id_of(record)]).await
}

async fn history_length(session: &Session, record: &Value) -> String {
    session.text("select count(*) from keyed.history($1)", &[id_of(record)]).await
}

#[tokio::test]
async fn record_has_all_standard_fields_and_attributes() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({"name": "Ada", "visits": 3}), "A-1").await;
    let nothing = Value::Null;
    let attributes = json!({
        "name": "Ada", "visits": 3, "mood": nothing, "tags": nothing, "tier": nothing, "born": nothing,
        "seen": nothing, "company": nothing, "active": nothing
    });
    assert_eq!(made["attributes"], attributes);
    let number = session.text("select id from keyed_state.template where slug = 'customers'", &[]).await;
    assert_eq!(made["template_id"], json!(number));
    assert_eq!((&made["template_slug"], &made["external_key"]), (&json!("customers"), &json!("A-1")));
    assert_eq!((&made["deleted_at"], &made["created_at"]), (&nothing, &made["updated_at"]));
    let now = session.text("select to_char(now() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24')", &[]).await;
    let created_at = made["created_at"].as_str().expect("a time");
    assert!(created_at.ends_with('Z') && created_at[..10] == now[..10], "{created_at} is not in UTC");
    assert_eq!(made.as_object().map(|members| members.len()), Some(8));
    assert_eq!(get(&session, &made).await, made);
    assert_eq!(session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await, made);
}

#[tokio::test]
async fn ids_contain_the_template_id_and_ascend() {
    let (_database, session) = crm().await;
    for template in ["companies", "customers"] {
        // RFC 9562: version 8 in the 13th digit, the variant in the 17th; then 24 bits of template id.
        let problem = "select count(*) from generate_series(1, 200), keyed.new_id($1) as id
                     where substr(id::text, 15, 1) <> '8' or substr(id::text, 20, 1) not in ('8', '9', 'a', 'b')
                     or (('x' || substr(replace(id::text, '-', ''), 17, 8))::bit(32) << 2)::bit(24)::integer <> $1";
        let number = session.text("select id from keyed_state.template where slug = $1", &[template]).await;
        assert_eq!(session.text(problem, &[&number]).await, "0");
        let table = format!("crm.{template}");
        let id =
            session.text("select id from keyed.upsert_by_key($1, 'k', '{\"name\": \"x\"}')", &[&table]).await;
        assert_eq!(session.json("select keyed.get_record($1)", &[&id]).await["template_slug"], template);
    }
    session.run("insert into crm.customers (visits) select n from generate_series(1, 500) n").await;
    let order = "select array_agg(visits order by id) = array_agg(visits order by visits)
                 from crm.customers where visits is not null";
    assert_eq!(session.text(order, &[]).await, "t");
}

#[tokio::test]
async fn fields_returns_id_template_key_and_listed_fields() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({"name": "Ada", "visits": 3}), "A-1").await;
    let fields = "select keyed.get_record($1, array['name', 'created_at'])";
    let kept = json!({
        "id": made["id"], "template_slug": "customers", "external_key": "A-1",
        "created_at": made["created_at"], "attributes": {"name": "Ada"}
    });
    assert_eq!(session.json(fields, &[id_of(&made)]).await, kept);
    assert_eq!(
        session.json("select keyed.get_by_key('crm.customers', 'A-1', '{name,created_at}')", &[]).await,
        kept
    );
    for unknown in ["nmae", "", "name ", "Name", "template"] {
        let error =
            session.error("select keyed.get_record($1, array['name', $2])", &[id_of(&made), unknown]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "unknown_field"), vec!["/fields/1"]),
            "{unknown:?}"
        );
    }
}

#[tokio::test]
async fn verbose_adds_type_and_label_of_every_value() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({"name": "Ada", "tier": ["gold", "silver"]}), "A-1").await;
    let verbose = session.json("select keyed.get_record($1, verbose => true)", &[id_of(&made)]).await;
    assert_eq!(verbose["attributes"], made["attributes"]);
    let values = &verbose["attribute_values"];
    assert_eq!(values["name"], json!({"value": "Ada", "type": "string", "label": "name"}));
    assert_eq!(values["visits"], json!({"value": null, "type": "number", "label": "visits"}));
    assert_eq!(
        values["tier"],
        json!({"value": ["gold", "silver"], "type": "list", "label": "tier", "labels": ["Gold card", "silver"]})
    );
    assert_eq!(values.as_object().map(|values| values.len()), Some(9));
    let chosen = session.json("select keyed.get_record($1, '{name}', true)", &[id_of(&made)]).await;
    assert_eq!(chosen["attribute_values"].as_object().map(|values| values.len()), Some(1));
}

#[tokio::test]
async fn patch_changes_only_listed_attributes() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({"name": "Ada", "visits": 3}), "A-1").await;
    let patched = patch(&session, &made, json!({"attributes": {"visits": 4, "tags": ["x"]}})).await;
    assert_eq!(patched["attributes"]["name"], "Ada");
    assert_eq!(
        (&patched["attributes"]["visits"], &patched["attributes"]["tags"]),
        (&json!(4), &json!(["x"]))
    );
    assert_eq!((&patched["external_key"], &patched["created_at"]), (&json!("A-1"), &made["created_at"]));
    assert!(patched["updated_at"].as_str() > made["updated_at"].as_str());
    assert_eq!(get(&session, &made).await, patched);
}

#[tokio::test]
async fn patch_sets_clears_or_keeps_the_key() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({"name": "Ada"}), "A-1").await;
    assert_eq!(patch(&session, &made, json!({"attributes": {"name": "Bea"}})).await["external_key"], "A-1");
    let renamed = patch(&session, &made, json!({"external_key": " A-2 "})).await;
    assert_eq!((&renamed["external_key"], &renamed["attributes"]["name"]), (&json!("A-2"), &json!("Bea")));
    assert_eq!(patch(&session, &made, json!({"external_key": null})).await["external_key"], Value::Null);
    let gone = session.error("select keyed.get_by_key('crm.customers', 'A-2')", &[]).await;
    assert_eq!(gone.codes(), ("P0002", "not_found"));
    assert_eq!(patch(&session, &made, json!({"external_key": "A-1"})).await["external_key"], "A-1");
}

#[tokio::test]
async fn patch_without_a_change_leaves_no_trace() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({"name": "Ada", "visits": 1.5, "tags": ["x"]}), "A-1").await;
    for body in [
        json!({}),
        json!({"attributes": {}}),
        json!({"external_key": "A-1"}),
        json!({"attributes": {"name": "Ada", "visits": 1.5, "tags": ["x"], "born": null}, "external_key": " A-1"}),
    ] {
        assert_eq!(patch(&session, &made, body.clone()).await, made, "{body}");
    }
    assert_eq!(history_length(&session, &made).await, "1");
}

#[tokio::test]
async fn replacement_clears_unlisted_attributes_and_keeps_the_key() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({"name": "Ada", "visits": 3, "born": "1815-12-10"}), "A-1").await;
    let replace = "select keyed.replace_attributes($1, $2)";
    let replaced = session.json(replace, &[id_of(&made), r#"{"visits": 4}"#]).await;
    assert_eq!(replaced["external_key"], "A-1");
    assert_eq!(replaced["attributes"]["visits"], 4);
    assert_eq!(
        (&replaced["attributes"]["name"], &replaced["attributes"]["born"]),
        (&Value::Null, &Value::Null)
    );
    let increment = session.error(replace, &[id_of(&made), r#"{"visits": {"$inc": 1}}"#]).await;
    assert_eq!(
        (increment.codes(), increment.pointers()),
        (("22023", "invalid_value"), vec!["/attributes/visits"])
    );
    assert_eq!(get(&session, &made).await, replaced);
}

#[tokio::test]
async fn deleted_record_is_returned_only_on_request() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({"name": "Ada"}), "A-1").await;
    session.rows("select keyed.delete_record($1)", &[id_of(&made)]).await;
    for statement in [
        "select keyed.get_record($1)",
        "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}')",
        "select keyed.patch_record($1, '{\"external_key\": \"A-2\"}')",
        "select keyed.patch_record($1, '{}')",
        "select keyed.replace_attributes($1, '{}')",
        "select keyed.delete_record($1)",
    ] {
        assert_eq!(
            session.error(statement, &[id_of(&made)]).await.codes(),
            ("P0002", "not_found"),
            "{statement}"
        );
    }
    let deleted = session.json("select keyed.get_record($1, include_deleted => true)", &[id_of(&made)]).await;
    assert!(deleted["deleted_at"].is_string());
    assert_eq!(deleted["attributes"]["name"], "Ada");
}

#[tokio::test]
async fn unknown_id_is_not_found() {
    let (_database, session) = crm().await;
    let never_written =
        session.text("select keyed.new_id(id) from keyed_state.template where slug = 'customers'", &[]).await;
    let no_such_template = session.text("select keyed.new_id(16777215)", &[]).await;
    let version_4 = "5a3c9a52-1f0b-4c7e-9f5c-3d1f4f8a2b1c";
    let nothing = "00000000-0000-0000-0000-000000000000";
    for id in [never_written.as_str(), &no_such_template, version_4, nothing] {
        for statement in [
            "select keyed.get_record($1, include_deleted => true)",
            "select keyed.patch_record($1, '{}')",
            "select keyed.replace_attributes($1, '{}')",
            "select keyed.delete_record($1)",
            "select keyed.restore_record($1)",
            "select keyed.history_page($1)",
        ] {
            assert_eq!(
                session.error(statement, &[id]).await.codes(),
                ("P0002", "not_found"),
                "{statement} of {id}"
            );
        }
    }
}

#[tokio::test]
async fn unknown_member_is_rejected() {
    let (_database, session) = crm().await;
    let made = create(&session, &json!({}), "A-1").await;
    let patch = session.error("select keyed.patch_record($1, '{\"atributes\": {}}')", &[id_of(&made)]).await;
    assert_eq!((patch.codes(), patch.pointers()), (("22023", "unknown_field"), vec!["/atributes"]));
    session.rows("select keyed.delete_record($1)", &[id_of(&made)]).await;
    let restore = session.error("select keyed.restore_record($1, '{\"a/b\": 1}')", &[id_of(&made)]).await;
    assert_eq!((restore.codes(), restore.pointers()), (("22023", "unknown_field"), vec!["/a~1b"]));
}
