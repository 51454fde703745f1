//! Changes of templates: attributes are added, changed, renamed and dropped, and the remaining data is kept.

use harness::customers::SERIES;
use harness::{Database, Session, SqlError};
use serde_json::{Value, json};

/// A project whose customer `A-1` has some values, and a session that has read the record.
async fn with_record() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let attributes = r#"{"name": "Ada", "visits": 1.10, "tags": ["x"], "tier": "gold", "mood": 5}"#;
    session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[attributes]).await;
    (database, session)
}

async fn alter(session: &Session, changes: Value) -> Value {
    session.json("select keyed.alter_template('crm.customers', $1)", &[&changes.to_string()]).await
}

async fn rejected(session: &Session, changes: Value) -> SqlError {
    session.error("select keyed.alter_template('crm.customers', $1)", &[&changes.to_string()]).await
}

async fn attributes(session: &Session) -> Value {
    session.json("select keyed.get_by_key('crm.customers', 'A-1') -> 'attributes'", &[]).await
}

fn attribute<'a>(template: &'a Value, slug: &str) -> &'a Value {
    let attributes = template["attributes"].as_array().expect("attributes");
    attributes.iter().find(|attribute| attribute["slug"] == slug).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn renamed_attribute_keeps_its_values_and_its_id() {
    let (database, session) = with_record().await;
    let other = database.session().await;
    let before = attributes(&other).await;
    let old = alter(&session, json!({})).await;
    let new = alter(&session, json!({"rename": {"name": "full_name", "visits": "calls"}})).await;
    assert_eq!(attribute(&new, "full_name")["id"], attribute(&old, "name")["id"]);
    for session in [&session, &other] {
        let now = attributes(session).await;
        assert_eq!(
            (&now["full_name"], &now["calls"], now.get("name")),
            (&before["name"], &before["visits"], None)
        );
    }
    let unknown =
        other.error("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"x\"}')", &[]).await;
    assert_eq!(unknown.codes(), ("22023", "unknown_attribute"));
    other.run("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"full_name\": \"Bea\"}')").await;
    let column = "select full_name from crm.customers";
    assert_eq!(session.text(column, &[]).await, "Bea");
}

#[tokio::test]
async fn attributes_swap_slugs_via_a_third_one() {
    let (_database, session) = with_record().await;
    alter(&session, json!({"rename": {"name": "spare", "tags": "name", "spare": "tags"}})).await;
    let now = attributes(&session).await;
    assert_eq!((&now["name"], &now["tags"]), (&json!(["x"]), &json!("Ada")));
}

#[tokio::test]
async fn rename_follows_the_rules_of_new_slugs() {
    let (_database, session) = with_record().await;
    for reserved in [
        "external_key",
        "id",
        "template_id",
        "template_slug",
        "created_at",
        "updated_at",
        "deleted_at",
        "tableoid",
        "ctid",
        "xmin",
        "xmax",
        "cmin",
        "cmax",
    ] {
        let error = rejected(&session, json!({"rename": {"name": reserved}})).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "reserved_slug"), vec!["/rename/name"]),
            "{reserved}"
        );
        let change = session
            .error(
                "select keyed.alter_attribute('crm.customers', 'name', $1)",
                &[&json!({"slug": reserved}).to_string()],
            )
            .await;
        assert_eq!(change.codes(), ("22023", "reserved_slug"), "{reserved}");
        let added = json!({"slug": reserved, "type": "string"}).to_string();
        let added = session.error("select keyed.add_attribute('crm.customers', $1)", &[&added]).await;
        assert_eq!(added.codes(), ("22023", "reserved_slug"), "{reserved}");
    }
    for bad in ["", "Name", "a b", "a\"b", &"a".repeat(64)] {
        assert_eq!(
            rejected(&session, json!({"rename": {"name": bad}})).await.codes(),
            ("22023", "invalid_slug"),
            "{bad}"
        );
    }
    assert_eq!(
        rejected(&session, json!({"rename": {"name": "visits"}})).await.codes(),
        ("23505", "conflict")
    );
    assert_eq!(
        rejected(&session, json!({"rename": {"nobody": "x"}})).await.codes(),
        ("22023", "unknown_attribute")
    );
    assert_eq!(attributes(&session).await["name"], "Ada");
}

#[tokio::test]
async fn dropped_attribute_loses_its_series_but_not_its_history() {
    let (_database, session) = with_record().await;
    alter(&session, json!({"drop": ["mood", "name"]})).await;
    let now = attributes(&session).await;
    assert_eq!((now.get("mood"), now.get("name"), &now["tags"]), (None, None, &json!(["x"])));
    assert_eq!(session.text(&format!("select count(*) from {SERIES}"), &[]).await, "0");
    let history = "select changes #>> '{name,new}' from keyed.history((select id from crm.customers))";
    assert_eq!(session.text(history, &[]).await, "Ada");
    // A later attribute of the same name is another attribute.
    session.run(r#"select keyed.add_attribute('crm.customers', '{"slug": "mood", "type": "metric"}')"#).await;
    session.run(r#"select keyed.add_attribute('crm.customers', '{"slug": "name", "type": "number"}')"#).await;
    session.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"mood": 7, "name": 1}')"#).await;
    let series = "select string_agg(value::text, ',') from keyed.metric_series((select id from crm.customers), 'mood')";
    assert_eq!(session.text(series, &[]).await, "7");
    assert_eq!(rejected(&session, json!({"drop": ["nobody"]})).await.codes(), ("22023", "unknown_attribute"));
}

#[tokio::test]
async fn added_attribute_is_writable_in_all_sessions() {
    let (database, session) = with_record().await;
    let other = database.session().await;
    attributes(&other).await;
    let definition = json!({"attributes": [
        {"slug": "note", "type": "string", "label": "Note", "default": "none"},
        {"slug": "boss", "type": "reference", "template": "customers"},
        {"slug": "load", "type": "metric", "indexed": true},
    ]});
    let template = alter(&session, definition).await;
    assert_eq!(attribute(&template, "note")["label"], "Note");
    let write = r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"boss": {"external_key": "A-1"}, "load": 3}')"#;
    other.run(write).await;
    let now = attributes(&other).await;
    assert_eq!((&now["note"], &now["load"], now["boss"].is_string()), (&json!("none"), &json!(3), true));
}

#[tokio::test]
async fn required_attribute_needs_a_value_for_every_record() {
    let (_database, session) = with_record().await;
    let error =
        rejected(&session, json!({"attributes": [{"slug": "no", "type": "string", "required": true}]})).await;
    assert_eq!(error.codes(), ("22023", "invalid_value"));
    let error = rejected(&session, json!({"attributes": [{"slug": "born", "required": true}]})).await;
    assert_eq!(error.codes(), ("22023", "invalid_value"));
    alter(
        &session,
        json!({"attributes": [{"slug": "no", "type": "string", "required": true, "default": "0"}]}),
    )
    .await;
    alter(&session, json!({"attributes": [{"slug": "name", "required": true}]})).await;
    let missing = session.error("select keyed.create_record('crm.customers', '{}')", &[]).await;
    assert_eq!(
        (missing.codes(), missing.pointers()),
        (("22023", "required_attribute"), vec!["/attributes/name"])
    );
    alter(&session, json!({"attributes": [{"slug": "name", "required": false}]})).await;
    session.run("select keyed.create_record('crm.customers', '{}')").await;
}

#[tokio::test]
async fn options_cannot_exclude_values_of_live_records() {
    let (_database, session) = with_record().await;
    let error = rejected(&session, json!({"attributes": [{"slug": "tier", "options": ["silver"]}]})).await;
    assert_eq!(error.codes(), ("23505", "conflict"));
    alter(
        &session,
        json!({"attributes": [{"slug": "tier", "options": ["gold", {"value": "iron", "label": "Iron"}]}]}),
    )
    .await;
    session.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"tier": ["iron"]}')"#).await;
    let gone = session
        .error(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"tier": "silver"}')"#, &[])
        .await;
    assert_eq!(gone.codes(), ("22023", "invalid_value"));
    alter(&session, json!({"attributes": [{"slug": "tier", "options": null}]})).await;
    session.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"tier": "anything"}')"#).await;
}

#[tokio::test]
async fn type_and_target_cannot_change() {
    let (_database, session) = with_record().await;
    for change in [
        json!({"slug": "name", "type": "number"}),
        json!({"slug": "visits", "type": "metric"}),
        json!({"slug": "company", "template": "customers"}),
        json!({"slug": "name", "options": ["x"]}),
        json!({"slug": "mood", "required": true}),
        json!({"slug": "visits", "default": "x"}),
    ] {
        let error = rejected(&session, json!({"attributes": [change]})).await;
        assert_eq!(error.codes(), ("22023", "invalid_value"), "{change}");
    }
    alter(&session, json!({"attributes": [{"slug": "name", "type": "dimension"}, {"slug": "company", "template": "companies"}]})).await;
}

#[tokio::test]
async fn change_of_a_template_is_atomic() {
    let (_database, session) = with_record().await;
    let before = alter(&session, json!({})).await;
    let changes = json!({
        "label": "x", "rename": {"name": "title"}, "drop": ["tags"],
        "attributes": [{"slug": "note", "type": "string"}, {"slug": "born", "type": "number"}]
    });
    assert_eq!(rejected(&session, changes).await.pointers(), ["/attributes/1/type"]);
    let mut after = alter(&session, json!({})).await;
    after["updated_at"] = before["updated_at"].clone();
    assert_eq!(after, before);
    assert_eq!(attributes(&session).await["name"], "Ada");
    let unknown = rejected(&session, json!({"slug": "clients"})).await;
    assert_eq!((unknown.codes(), unknown.pointers()), (("22023", "unknown_field"), vec!["/slug"]));
}

#[tokio::test]
async fn label_display_and_language_can_change() {
    let (_database, session) = with_record().await;
    let changed =
        alter(&session, json!({"label": "Clients", "display": "visits", "language": "simple"})).await;
    for (member, value) in [("label", "Clients"), ("display", "visits"), ("language", "simple")] {
        assert_eq!(changed[member], value);
    }
    // The display attribute stays the display attribute after a rename, and is unset when it is dropped.
    assert_eq!(alter(&session, json!({"rename": {"visits": "calls"}})).await["display"], "calls");
    assert_eq!(alter(&session, json!({"drop": ["calls"]})).await["display"], "name");
    assert_eq!(
        rejected(&session, json!({"display": "nobody"})).await.codes(),
        ("22023", "unknown_attribute")
    );
    assert_eq!(rejected(&session, json!({"language": "klingon"})).await.codes(), ("22023", "invalid_value"));
}

#[tokio::test]
async fn only_unused_templates_are_dropped() {
    let (database, session) = with_record().await;
    assert_eq!(
        session.error("select keyed.drop_template('crm.customers')", &[]).await.codes(),
        ("23505", "conflict")
    );
    assert_eq!(
        session.error("select keyed.drop_template('crm.companies')", &[]).await.codes(),
        ("23505", "conflict")
    );
    let other = database.session().await;
    let id = other.text("select keyed.get_by_key('crm.customers', 'A-1') ->> 'id'", &[]).await;
    session.run("select keyed.drop_template('crm.customers', with_records => true)").await;
    assert_eq!(other.error("select keyed.get_record($1)", &[&id]).await.codes(), ("P0002", "not_found"));
    session.run("select keyed.drop_template('crm.companies')").await;
    let left = "select count(*) from pg_class where relkind = 'r' and (relnamespace = 'crm'::regnamespace
                or relnamespace = 'keyed_state'::regnamespace and relname ~ '_[0-9]+$')";
    assert_eq!(session.text(left, &[]).await, "0");
    session
        .run("select keyed.create_template('crm', 'customers', '[{\"slug\": \"n\", \"type\": \"number\"}]')")
        .await;
    other.run("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"n\": 1}')").await;
    assert_eq!(other.error("select keyed.get_record($1)", &[&id]).await.codes(), ("P0002", "not_found"));
}

#[tokio::test]
async fn only_an_administrator_changes_templates() {
    let (database, _) = with_record().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read, create, update, delete").await;
    let clerk = database.session_as(&role).await;
    for statement in [
        "select keyed.alter_template('crm.customers', '{}')",
        "select keyed.add_attribute('crm.customers', '{\"slug\": \"x\", \"type\": \"string\"}')",
        "select keyed.alter_attribute('crm.customers', 'name', '{}')",
        "select keyed.drop_attribute('crm.customers', 'name')",
        "select keyed.drop_template('crm.customers', true)",
        "alter table crm.customers drop column name",
        "drop table crm.customers",
    ] {
        assert_eq!(clerk.error(statement, &[]).await.state, "42501", "{statement}");
    }
}
