//! The member `synonyms` of a template: sets of words that searches treat as equal.

use harness::customers::DOCUMENTS;
use harness::{Database, Session};
use serde_json::{Value, json};

async fn alter(session: &Session, changes: Value) -> Value {
    session.json("select keyed.alter_template('crm.customers', $1)", &[&changes.to_string()]).await
}

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

#[tokio::test]
async fn template_returns_its_synonyms() {
    let (database, session) = crm().await;
    assert_eq!(alter(&session, json!({})).await["synonyms"], json!([]));
    let sets = json!([{"synonyms": ["Car", "motor car"]}, {"root": "phone", "synonyms": ["iPhone"]}]);
    let sent = json!([{"synonyms": [" Car", "motor car "]}, {"root": "phone", "synonyms": ["iPhone"]}]);
    assert_eq!(alter(&session, json!({"synonyms": sent})).await["synonyms"], sets);
    assert_eq!(
        alter(&session, json!({"label": "Clients"})).await["synonyms"],
        sets,
        "an omitted value stays"
    );
    let seen = database.session().await.json("select keyed.alter_template('crm.customers', '{}')", &[]).await;
    assert_eq!(seen["synonyms"], sets);
    for nothing in [json!(null), json!([])] {
        alter(&session, json!({"synonyms": sets})).await;
        assert_eq!(alter(&session, json!({"synonyms": nothing})).await["synonyms"], json!([]));
        let stored = "select synonyms is null from keyed_state.template where slug = 'customers'";
        assert_eq!(session.text(stored, &[]).await, "t");
    }
}

#[tokio::test]
async fn change_of_synonyms_writes_no_document() {
    let (_database, session) = crm().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"car\"}')").await;
    let documents = format!("select string_agg(concat_ws(' ', d.xmin, d.ctid), ',') from {DOCUMENTS} d");
    let before = session.text(&documents, &[]).await;
    let sets = json!([{"synonyms": ["car", "auto"]}]);
    let plan = session
        .json(
            "select keyed.alter_template('crm.customers', $1, dry_run => true)",
            &[&json!({"synonyms": sets}).to_string()],
        )
        .await;
    assert_eq!(
        (&plan["changes"], &plan["jobs"]),
        (&json!({"synonyms": {"old": [], "new": sets}}), &json!([]))
    );
    assert_eq!(alter(&session, json!({})).await["synonyms"], json!([]));
    let updated = "select updated_at from keyed_state.template where slug = 'customers'";
    let earlier = session.text(updated, &[]).await;
    alter(&session, json!({"synonyms": sets})).await;
    assert_ne!(session.text(updated, &[]).await, earlier);
    assert_eq!(session.text(&documents, &[]).await, before);
    assert_eq!(session.text("select count(*) from keyed.jobs()", &[]).await, "0");
}

#[tokio::test]
async fn invalid_synonyms_are_rejected_with_pointers() {
    let (_database, session) = crm().await;
    let many: Value = (0..501).map(|n| json!({"synonyms": [format!("a{n}"), format!("b{n}")]})).collect();
    for (synonyms, pointers) in [
        (json!("car"), &["/synonyms"] as &[&str]),
        (many, &["/synonyms"]),
        (
            json!([{"synonyms": ["car", "auto"]}, {"synonyms": ["vehicle", "Auto", "-x"]}, {"root": "x", "synonyms": []}]),
            &["/synonyms/1/synonyms/1", "/synonyms/1/synonyms/2", "/synonyms/2/synonyms"],
        ),
        (json!([{"synonyms": ["car", "a b c d e f"], "way": 1}]), &["/synonyms/0/way"]),
    ] {
        let body = json!({"label": "Not kept", "synonyms": synonyms}).to_string();
        let error = session.error("select keyed.alter_template('crm.customers', $1)", &[&body]).await;
        assert_eq!(error.pointers(), pointers, "{error}");
        assert_eq!(error.state, "22023", "{error}");
    }
    assert_eq!(alter(&session, json!({})).await["label"], "Our customers");
}

#[tokio::test]
async fn older_schema_supports_templates_without_synonyms() {
    let (database, session) = crm().await;
    session
        .run("alter table keyed_state.template drop column synonyms; delete from keyed_state.version where number = 30")
        .await;
    let session_of_before = session;
    let session = database.session().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"automobile\"}')").await;
    session
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"string\"}]')")
        .await;
    assert_eq!(alter(&session, json!({"label": "Clients", "synonyms": []})).await["synonyms"], json!([]));
    let found = "select jsonb_array_length(keyed.search('crm.customers', $1) -> 'records')";
    let words = json!({"global_search": "car"}).to_string();
    assert_eq!(session.text(found, &[&words]).await, "0");
    let sets = json!({"synonyms": [{"synonyms": ["car", "automobile"]}]});
    let error = session.error("select keyed.alter_template('crm.customers', $1)", &[&sets.to_string()]).await;
    assert!(error.hint.contains("keyed.migrate()"), "{error}");
    session.run("select keyed.migrate()").await;
    for session in [&session, &session_of_before] {
        alter(session, sets.clone()).await;
        assert_eq!(session.text(found, &[&words]).await, "1");
    }
}
