//! Slugs of projects, templates and attributes.

use harness::{Database, Session, SqlError};
use serde_json::{Value, json};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

async fn rejected(session: &Session, attributes: Value) -> SqlError {
    session.error("select keyed.create_template('crm', 'orders', $1)", &[&attributes.to_string()]).await
}

const NO_SLUGS: [&str; 17] = [
    "",
    "A",
    "Name",
    "é",
    "1a",
    "_a",
    "a b",
    "a-b",
    "a.b",
    "a\"b",
    "a'b",
    "a;b",
    "a\nb",
    "a$",
    "a/b",
    " a",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

#[tokio::test]
async fn slug_has_1_to_63_lowercase_letters_digits_and_underscores() {
    let (_database, session) = crm().await;
    for slug in NO_SLUGS {
        let project = session.error("select keyed.create_project($1)", &[slug]).await;
        assert_eq!(
            (project.codes(), project.pointers()),
            (("22023", "invalid_slug"), vec!["/slug"]),
            "{slug:?}"
        );
        let template = session.error("select keyed.create_template('crm', $1)", &[slug]).await;
        assert_eq!(
            (template.codes(), template.pointers()),
            (("22023", "invalid_slug"), vec!["/slug"]),
            "{slug:?}"
        );
        let attribute = rejected(&session, json!([{"slug": slug, "type": "string"}])).await;
        let pointer = "/attributes/0/slug";
        assert_eq!(
            (attribute.codes(), attribute.pointers()),
            (("22023", "invalid_slug"), vec![pointer]),
            "{slug:?}"
        );
    }
    let long = "a".repeat(63);
    for slug in ["a", "a_", "a1_b2", "select", "user", "order", "table", "null", &long] {
        session.rows("select keyed.create_project($1)", &[slug]).await;
        session.rows(
            "select keyed.create_template($1, $1, jsonb_build_array(jsonb_build_object('slug', $1::text, 'type', 'string',
             'indexed', true)))",
            &[slug],
        ).await;
        let statement =
            "select keyed.upsert_by_key(to_regclass($1), 'k', jsonb_build_object($2::text, 'value'))";
        session.rows(statement, &[&format!("\"{slug}\".\"{slug}\""), slug]).await;
    }
}

#[tokio::test]
async fn reserved_names_are_rejected_as_slugs() {
    let (_database, session) = crm().await;
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
        let attributes = json!([{"slug": "fine", "type": "string"}, {"slug": reserved, "type": "string"}]);
        let error = rejected(&session, attributes).await;
        assert_eq!(error.codes(), ("22023", "reserved_slug"), "{reserved}");
        assert_eq!(error.pointers(), ["/attributes/1/slug"]);
    }
    assert_eq!(session.text("select to_regclass('crm.orders') is null", &[]).await, "t");
}
