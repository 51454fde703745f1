//! The format of attributes, which controls how applications display values.

use harness::{Database, Session};
use serde_json::{Value, json};

async fn goods() -> (Database, Session) {
    let database = Database::new().await;
    let session = database.session().await;
    session.run("select keyed.create_project('shop')").await;
    let attributes = json!([
        {"slug": "width", "type": "number", "format": {"unit": "mm", "decimals": 1, "grouping": false}},
        {"slug": "made", "type": "date", "format": {"pattern": "dd.MM.yyyy"}},
        {"slug": "page", "type": "string", "format": {"kind": "link"}},
        {"slug": "year", "type": "number"},
    ]);
    let create = "select keyed.create_template('shop', 'goods', $1::text::jsonb)";
    session.rows(create, &[&attributes.to_string()]).await;
    (database, session)
}

async fn alter(session: &Session, slug: &str, changes: &Value) -> Value {
    session.json("select keyed.alter_attribute('shop.goods', $1, $2)", &[slug, &changes.to_string()]).await
}

/// The format of an attribute in a template; null if it has none.
fn format(template: &Value, slug: &str) -> Value {
    let attributes = template["attributes"].as_array().expect("attributes");
    attributes.iter().find(|it| it["slug"] == slug).expect("the attribute")["format"].clone()
}

#[tokio::test]
async fn format_is_created_replaced_kept_and_removed() {
    let (_database, session) = goods().await;
    let template = alter(&session, "width", &json!({"label": "Width"})).await;
    assert_eq!(format(&template, "width"), json!({"unit": "mm", "decimals": 1, "grouping": false}));
    assert_eq!(format(&template, "year"), Value::Null);
    let replaced = alter(&session, "width", &json!({"format": {"currency": "CHF"}})).await;
    assert_eq!(format(&replaced, "width"), json!({"currency": "CHF"}));
    let removed = alter(&session, "width", &json!({"format": null})).await;
    assert!(removed["attributes"][0].get("format").is_none(), "{removed}");
    // The format survives a rename, and a session with a cached definition gets the change.
    let other = json!({"slug": "site", "format": {"kind": "image"}});
    assert_eq!(format(&alter(&session, "page", &other).await, "site"), json!({"kind": "image"}));
    let added = json!({"slug": "rate", "type": "metric", "format": {"percent": true}}).to_string();
    let added = session.json("select keyed.add_attribute('shop.goods', $1)", &[&added]).await;
    assert_eq!(format(&added, "rate"), json!({"percent": true}));
}

#[tokio::test]
async fn format_affects_neither_values_nor_filters() {
    let (_database, session) = goods().await;
    let record = r#"{"width": 1008.55, "made": "2026-01-31", "page": "https://example.org/a"}"#;
    session.rows("select keyed.upsert_by_key('shop.goods', 'G', $1::text::jsonb)", &[record]).await;
    let width = "select keyed.get_by_key('shop.goods', 'G') -> 'attributes' ->> 'width'";
    let version = "select keyed.record_version(id) from shop.goods";
    let before = session.text(version, &[]).await;
    alter(&session, "width", &json!({"format": {"decimals": 0, "currency": "CHF"}})).await;
    assert_eq!(session.text(width, &[]).await, "1008.55");
    assert_eq!(session.text(version, &[]).await, before);
    let count =
        "select count(*) from jsonb_path_query(keyed.search('shop.goods', $1::text::jsonb), '$.records[*]')";
    for (value, found) in [("1008.55", "1"), ("1009", "0")] {
        let query = json!({"filters": [{"field": "width", "operator": "eq", "value": value}]});
        assert_eq!(session.text(count, &[&query.to_string()]).await, found, "{value}");
    }
}

#[tokio::test]
async fn invalid_format_is_rejected_with_valid_ones() {
    let (_database, session) = goods().await;
    for (slug, format, pointer, hint) in [
        ("page", json!({"unit": "mm"}), "/attributes/0/format/unit", "has kind"),
        ("width", json!({"unti": "mm"}), "/attributes/0/format/unti", "unit, currency and percent"),
        ("width", json!({"currency": "franc"}), "/attributes/0/format/currency", "ISO 4217"),
        ("made", json!({"pattern": "DD.MM.YYYY"}), "/attributes/0/format/pattern", "dd.MM.yyyy"),
        ("page", json!({"kind": "url"}), "/attributes/0/format/kind", "multiline"),
        ("width", json!({}), "/attributes/0/format", "null"),
    ] {
        let change = json!({"format": format}).to_string();
        let error =
            session.error("select keyed.alter_attribute('shop.goods', $1, $2)", &[slug, &change]).await;
        assert_eq!(error.state, "22023", "{change}: {error}");
        assert_eq!(error.pointers(), [pointer], "{change}: {error}");
        assert!(error.hint.contains(hint), "{change}: {}", error.hint);
    }
    let attribute = json!([{"slug": "tags", "type": "list", "format": {"kind": "link"}}]).to_string();
    let create = "select keyed.create_template('shop', 'other', $1::text::jsonb)";
    let error = session.error(create, &[&attribute]).await;
    assert!(error.message.contains("an attribute of type list cannot have a format"), "{error}");
}

#[tokio::test]
async fn dry_run_reports_a_format_and_keeps_the_old_one() {
    let (_database, session) = goods().await;
    let change = json!({"attributes": [{"slug": "made", "format": {"pattern": "yyyy"}}]}).to_string();
    let plan =
        session.json("select keyed.alter_template('shop.goods', $1, dry_run => true)", &[&change]).await;
    let expected = json!([{"slug": "made", "changes": {
        "format": {"old": {"pattern": "dd.MM.yyyy"}, "new": {"pattern": "yyyy"}}}}]);
    assert_eq!(plan["changed"], expected);
    assert_eq!((&plan["indexes"], &plan["jobs"]), (&json!([]), &json!([])));
    let template = session.json("select keyed.alter_template('shop.goods', '{}')", &[]).await;
    assert_eq!(format(&template, "made"), json!({"pattern": "dd.MM.yyyy"}));
}
