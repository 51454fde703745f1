//! The member `embed` of a template: the attributes whose text is embedded.

use harness::{Database, Session};
use serde_json::{Value, json};

async fn with_gallery() -> (Database, Session) {
    let database = Database::new().await;
    let session = database.session().await;
    session
        .run(
            r#"select keyed.create_project('g');
               select keyed.create_template('g', 'paintings', '[
                 {"slug": "title", "type": "string"}, {"slug": "medium", "type": "list"},
                 {"slug": "year", "type": "number"}]', embed => '{title,medium}')"#,
        )
        .await;
    (database, session)
}

async fn alter(session: &Session, changes: Value) -> Value {
    session.json("select keyed.alter_template('g.paintings', $1)", &[&changes.to_string()]).await["embed"]
        .take()
}

#[tokio::test]
async fn template_lists_embedded_attributes_in_order() {
    let (_database, session) = with_gallery().await;
    assert_eq!(alter(&session, json!({})).await, json!(["title", "medium"]));
    assert_eq!(alter(&session, json!({"embed": ["medium", "title"]})).await, json!(["medium", "title"]));
    assert_eq!(alter(&session, json!({"embed": null})).await, Value::Null);
    let plain =
        "select keyed.create_template('g', 'plain', '[{\"slug\": \"a\", \"type\": \"string\"}]') -> 'embed'";
    assert_eq!(session.json(plain, &[]).await, Value::Null);
}

#[tokio::test]
async fn embed_follows_renames_and_drops() {
    let (database, session) = with_gallery().await;
    assert_eq!(alter(&session, json!({"rename": {"title": "name"}})).await, json!(["name", "medium"]));
    assert_eq!(alter(&session, json!({"drop": ["name"]})).await, json!(["medium"]));
    assert_eq!(alter(&session, json!({"drop": ["medium"]})).await, Value::Null);
    let added = json!({"attributes": [{"slug": "title", "type": "string"}], "embed": ["title"]});
    assert_eq!(alter(&session, added).await, json!(["title"]));
    // Sessions with a cached definition get the new one.
    let seen = database.session().await.json("select keyed.alter_template('g.paintings', '{}')", &[]).await;
    assert_eq!(seen["embed"], json!(["title"]));
}

#[tokio::test]
async fn only_existing_text_attributes_can_be_embedded() {
    let (_database, session) = with_gallery().await;
    for (embed, pointer, code) in [
        (json!(["year"]), "/embed/0", "invalid_value"),
        (json!(["title", "artist"]), "/embed/1", "unknown_attribute"),
        (json!(["title", "title"]), "/embed/1", "invalid_value"),
        (json!([]), "/embed", "invalid_value"),
        (json!("title"), "/embed", "invalid_value"),
    ] {
        let error = session
            .error("select keyed.alter_template('g.paintings', $1)", &[&json!({"embed": embed}).to_string()])
            .await;
        assert_eq!((error.codes(), error.pointers()), (("22023", code), vec![pointer]), "{embed}");
    }
    let error = session.error("select keyed.create_template('g', 'x', '[]', embed => '{title}')", &[]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "unknown_attribute"), vec!["/embed/0"]));
}
