//! References: by id or by key, always to a live record of the target template.

use harness::{Database, Session, id_of};
use serde_json::{Value, json};

/// A project with the company `C-1`.
async fn with_company() -> (Database, Session, Value) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let company =
        session.json("select keyed.create_record('crm.companies', '{\"name\": \"ACME\"}', 'C-1')", &[]).await;
    (database, session, company)
}

async fn create(session: &Session, company: &Value) -> Value {
    let attributes = json!({"company": company}).to_string();
    session.json("select keyed.create_record('crm.customers', $1)", &[&attributes]).await
}

#[tokio::test]
async fn record_can_be_referenced_by_its_id_or_by_its_key() {
    let (_database, session, company) = with_company().await;
    let id = id_of(&company);
    for reference in [
        json!(id),
        json!(id.to_uppercase()),
        json!({"external_key": "C-1"}),
        json!({"external_key": " C-1 "}),
    ] {
        let made = create(&session, &reference).await;
        assert_eq!(made["attributes"]["company"], company["id"], "{reference}");
    }
    let upsert =
        "select keyed.upsert_by_key('crm.customers', 'A-1', '{\"company\": {\"external_key\": \"C-1\"}}')";
    session.run(upsert).await;
    let found = session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await;
    assert_eq!(found["attributes"]["company"], company["id"]);
}

#[tokio::test]
async fn reference_to_a_missing_record_is_rejected() {
    let (_database, session, company) = with_company().await;
    let customer = create(&session, &Value::Null).await;
    let deleted =
        session.json("select keyed.create_record('crm.companies', '{\"name\": \"x\"}', 'C-2')", &[]).await;
    session.rows("select keyed.delete_record($1)", &[id_of(&deleted)]).await;
    for reference in [
        json!({"external_key": "C-9"}),
        json!({"external_key": "c-1"}),
        json!({"external_key": "C-2"}),
        deleted["id"].clone(),
        customer["id"].clone(),
        json!("00000000-0000-0000-0000-000000000000"),
    ] {
        let body = json!({"company": reference}).to_string();
        for (statement, first) in [
            ("select keyed.create_record('crm.customers', $2)", ""),
            ("select keyed.upsert_by_key('crm.customers', 'A-1', $2)", ""),
            ("select keyed.replace_attributes($1, $2)", id_of(&customer)),
            ("select keyed.patch_record($1, jsonb_build_object('attributes', $2::jsonb))", id_of(&customer)),
        ] {
            let error = session.error(statement, &[first, &body]).await;
            assert_eq!(error.codes(), ("23503", "reference_not_found"), "{reference} by {statement}");
            assert_eq!(error.pointers(), ["/attributes/company"]);
            let name = reference["external_key"].as_str().or(reference.as_str()).expect("a name");
            let missing =
                format!("the referenced record \"{name}\" does not exist in template \"companies\"");
            assert!(error.message.contains(&missing), "{error:?}");
        }
    }
    assert_eq!(create(&session, &company["id"]).await["attributes"]["company"], company["id"]);
}

#[tokio::test]
async fn invalid_reference_is_rejected() {
    let (_database, session, _) = with_company().await;
    for (reference, code) in [
        (json!("C-1"), "invalid_value"),
        (json!(""), "invalid_value"),
        (json!(1), "invalid_value"),
        (json!(["C-1"]), "invalid_value"),
        (json!({}), "invalid_value"),
        (json!({"key": "C-1"}), "invalid_value"),
        (json!({"external_key": "C-1", "id": "x"}), "invalid_value"),
        (json!({"external_key": 1}), "invalid_value"),
        (json!({"external_key": null}), "invalid_value"),
        (json!({"external_key": "  "}), "invalid_external_key"),
        (json!({"external_key": "C\n1"}), "invalid_external_key"),
    ] {
        let attributes = json!({"company": reference}).to_string();
        let error = session.error("select keyed.create_record('crm.customers', $1)", &[&attributes]).await;
        assert_eq!(error.codes(), ("22023", code), "{reference}");
        assert!(error.pointers()[0].starts_with("/attributes/company"), "{error}");
    }
}

#[tokio::test]
async fn verbose_shows_the_current_display_of_a_target() {
    let (_database, session, company) = with_company().await;
    let customer = create(&session, &company["id"]).await;
    let verbose = "select keyed.get_record($1, verbose => true) #> '{attribute_values,company}'";
    let shown = |name: &str, key: Value| {
        json!({"value": company["id"], "type": "reference", "label": "company", "display": name, "external_key": key,
               "template_slug": "companies"})
    };
    assert_eq!(session.json(verbose, &[id_of(&customer)]).await, shown("ACME", json!("C-1")));
    let rename = r#"{"attributes": {"name": "Emca"}, "external_key": null}"#;
    session.rows("select keyed.patch_record($1, $2)", &[id_of(&company), rename]).await;
    assert_eq!(session.json(verbose, &[id_of(&customer)]).await, shown("Emca", Value::Null));
    session.rows("select keyed.delete_record($1)", &[id_of(&company)]).await;
    let gone = session.json(verbose, &[id_of(&customer)]).await;
    assert_eq!((&gone["display"], &gone["external_key"]), (&Value::Null, &Value::Null));
    let replaced = session.json("select keyed.get_record($1)", &[id_of(&customer)]).await;
    assert_eq!(replaced["attributes"]["company"], company["id"], "the value itself stays");
}

#[tokio::test]
async fn template_can_refer_to_itself() {
    let (_database, session, _) = with_company().await;
    let attributes = json!([{"slug": "name", "type": "string"}, {"slug": "parent", "type": "reference", "template": "tree"}]);
    let tree =
        session.json("select keyed.create_template('crm', 'tree', $1)", &[&attributes.to_string()]).await;
    assert_eq!(tree["attributes"][1]["template"], "tree");
    session.run(r#"select keyed.upsert_by_key('crm.tree', 'root', '{"name": "Root"}')"#).await;
    session
        .run(r#"select keyed.upsert_by_key('crm.tree', 'leaf', '{"parent": {"external_key": "root"}}')"#)
        .await;
    session
        .run(r#"select keyed.upsert_by_key('crm.tree', 'root', '{"parent": {"external_key": "root"}}')"#)
        .await;
    let verbose = "select keyed.get_by_key('crm.tree', 'leaf', verbose => true) #>> '{attribute_values,parent,display}'";
    assert_eq!(session.text(verbose, &[]).await, "Root");
}

#[tokio::test]
async fn reference_is_a_foreign_key_with_an_index() {
    let (_database, session, _) = with_company().await;
    let target = "select confrelid::regclass from pg_constraint
                  where conrelid = 'crm.customers'::regclass and contype = 'f' and convalidated";
    assert_eq!(session.text(target, &[]).await, "crm.companies");
    let index = "select count(*) from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
                 where i.indrelid = 'crm.customers'::regclass and a.attname = 'company'";
    assert_eq!(session.text(index, &[]).await, "1");
    let customer = create(&session, &Value::Null).await;
    let direct = "insert into crm.customers (company) values ($1)";
    assert_eq!(session.error(direct, &[id_of(&customer)]).await.state, "23503");
}
