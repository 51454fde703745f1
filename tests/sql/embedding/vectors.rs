//! Vectors of records: set, replace and remove, without effect on anything else.

use harness::customers::VECTORS;
use harness::{Database, Session, array, similar, vector};
use serde_json::{Value, json};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

/// Creates a customer with a vector and returns its id.
async fn embedded(session: &Session, key: &str, vector: &Value) -> String {
    let sql = "select keyed.create_record('crm.customers', '{}', $1) ->> 'id'";
    let id = session.text(sql, &[key]).await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(vector)]).await;
    id
}

/// TID and xmin of the row with a record's vector, which any write would change.
fn row() -> String {
    format!("select string_agg(v.ctid || ' ' || v.xmin || ' ' || v.live, ',') from {VECTORS} v")
}

#[tokio::test]
async fn vector_is_stored_with_length_one() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "A", &vector(&[(0, 3.0), (1, -4.0)])).await;
    let stored = &format!("select (embedding::real[])[1:3] from {VECTORS} where record_id = $1");
    assert_eq!(session.text(stored, &[&id]).await, "{0.6,-0.8,0}");
}

#[tokio::test]
async fn vector_is_replaced_and_removed() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "A", &similar(0.5)).await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.6))]).await;
    let first = &format!("select (embedding::real[])[1] from {VECTORS}");
    assert_eq!(session.text(first, &[]).await, "0.6");
    for _ in 0..2 {
        session.rows("select keyed.set_embedding($1, null)", &[&id]).await;
        assert_eq!(session.text(&format!("select count(*) from {VECTORS}"), &[]).await, "0");
    }
}

#[tokio::test]
async fn value_of_type_vector_is_accepted() {
    let (_database, session) = crm().await;
    let id = session.text("select keyed.create_record('crm.customers') ->> 'id'", &[]).await;
    session.rows("select keyed.set_embedding($1, $2::vector)", &[&id, &similar(0.5).to_string()]).await;
    assert_eq!(session.text(&format!("select count(*) from {VECTORS}"), &[]).await, "1");
}

#[tokio::test]
async fn equal_vector_writes_nothing() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "A", &similar(0.5)).await;
    let before = session.text(&row(), &[]).await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.5))]).await;
    let body = json!({"embedding": similar(0.5)}).to_string();
    session.rows("select keyed.patch_record($1, $2)", &[&id, &body]).await;
    assert_eq!(session.text(&row(), &[]).await, before);
}

#[tokio::test]
async fn unrelated_write_does_not_touch_vectors() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "A", &similar(0.5)).await;
    let before = session.text(&row(), &[]).await;
    for statement in [
        "select keyed.upsert_by_key('crm.customers', 'A', '{\"name\": \"Ada\", \"visits\": 1, \"mood\": 2}')",
        "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"Bea\"}, \"external_key\": \"B\"}')",
        "select keyed.replace_attributes($1, '{\"visits\": 3}')",
        "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'update', 'id', $1::text, 'attributes', '{\"visits\": 4}'::jsonb)))",
        "update crm.customers set visits = 5 where id = $1",
    ] {
        session.rows(statement, &[&id]).await;
        assert_eq!(session.text(&row(), &[]).await, before, "{statement}");
    }
}

#[tokio::test]
async fn vector_affects_neither_record_nor_history() {
    let (_database, session) = crm().await;
    let id = session.text("select keyed.create_record('crm.customers') ->> 'id'", &[]).await;
    let record = "select keyed.get_record($1)::text || (select count(*) from keyed.history($1))";
    let before = session.text(record, &[&id]).await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.5))]).await;
    let body = json!({"embedding": similar(0.7)}).to_string();
    let patched = session.json("select keyed.patch_record($1, $2)", &[&id, &body]).await;
    assert_eq!(patched, session.json("select keyed.get_record($1)", &[&id]).await);
    assert_eq!(session.text(record, &[&id]).await, before);
}

#[tokio::test]
async fn null_removes_a_vector_and_absence_keeps_it() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "A", &similar(0.5)).await;
    let count = &format!("select count(*) from {VECTORS}");
    session.rows("select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}')", &[&id]).await;
    assert_eq!(session.text(count, &[]).await, "1");
    session.rows("select keyed.patch_record($1, '{\"embedding\": null}')", &[&id]).await;
    assert_eq!(session.text(count, &[]).await, "0");
}

#[tokio::test]
async fn every_operation_of_a_batch_writes_its_vector() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "P", &similar(0.1)).await;
    let operations = json!([
        {"op": "create", "template": "crm.customers", "external_key": "A", "embedding": similar(0.2)},
        {"op": "create", "template": "crm.customers", "external_key": "B", "embedding": similar(0.3)},
        {"op": "upsert", "template": "crm.customers", "external_key": "C", "embedding": similar(0.4)},
        {"op": "upsert", "template": "crm.customers", "external_key": "C", "embedding": similar(0.5)},
        {"op": "update", "id": id, "embedding": similar(0.6)},
        {"op": "update", "template": "crm.customers", "external_key": "A", "attributes": {"name": "Ada"}},
        {"op": "create", "template": "crm.customers", "external_key": "D", "embedding": [1, 2]},
        {"op": "upsert", "template": "crm.customers", "external_key": "E", "embedding": null}
    ]);
    let report = session.json("select keyed.batch($1)", &[&operations.to_string()]).await;
    let statuses: Vec<_> =
        report["results"].as_array().expect("results").iter().map(|it| it["status"].as_i64()).collect();
    assert_eq!(statuses, [201, 201, 201, 200, 200, 200, 422, 201].map(Some));
    assert_eq!(report["results"][6]["error"]["errors"][0]["pointer"], "/operations/6/embedding");
    let vectors = &format!(
        "select string_agg(c.external_key || ' ' || (v.embedding::real[])[1], ', ' order by 1)
                   from {VECTORS} v join crm.customers c on c.id = v.record_id"
    );
    assert_eq!(session.text(vectors, &[]).await, "A 0.2, B 0.3, C 0.5, P 0.6");
}

#[tokio::test]
async fn vector_is_deleted_and_restored_with_its_record() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "A", &similar(0.5)).await;
    let live = &format!("select string_agg(live::text, ',') from {VECTORS}");
    session.rows("select keyed.delete_record($1)", &[&id]).await;
    assert_eq!(session.text(live, &[]).await, "false");
    let error = session.error("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.6))]).await;
    assert_eq!(error.codes(), ("P0002", "not_found"));
    session.rows("select keyed.restore_record($1)", &[&id]).await;
    assert_eq!(session.text(live, &[]).await, "true");
    session.rows("update crm.customers set deleted_at = now() where id = $1", &[&id]).await;
    assert_eq!(session.text(live, &[]).await, "false");
    session.rows("delete from crm.customers where id = $1", &[&id]).await;
    assert_eq!(session.text(&format!("select count(*) from {VECTORS}"), &[]).await, "0");
}

#[tokio::test]
async fn truncation_and_drop_remove_vectors() {
    let (_database, session) = crm().await;
    embedded(&session, "A", &similar(0.5)).await;
    session.run("truncate crm.customers").await;
    assert_eq!(session.text(&format!("select count(*) from {VECTORS}"), &[]).await, "0");
    session.run("select keyed.drop_template('crm.customers')").await;
    assert_eq!(session.text(&format!("select to_regclass('{VECTORS}')"), &[]).await, "");
}

#[tokio::test]
async fn invalid_vector_is_rejected() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "A", &similar(0.5)).await;
    let before = session.text(&row(), &[]).await;
    let short = array(&json!(vec![1.0; 767]));
    let zeros = array(&vector(&[]));
    for (array, code) in [
        (short.as_str(), "vector_dimension"),
        ("{}", "vector_dimension"),
        (&zeros, "invalid_value"),
        (&zeros.replacen("0.0", "NaN", 1), "invalid_value"),
        (&zeros.replacen("0.0", "Infinity", 1), "invalid_value"),
        (&zeros.replacen("0.0", "null", 1), "invalid_value"),
        (&zeros.replacen("0.0", "1e38", 2), "invalid_value"),
        (&zeros.replacen("0.0", "1e-30", 2), "invalid_value"),
    ] {
        let error = session.error("select keyed.set_embedding($1, $2)", &[&id, array]).await;
        assert_eq!(error.codes(), ("22023", code), "{}", &array[..20.min(array.len())]);
        assert!(error.pointers()[0].starts_with("/vector"), "{error}");
    }
    let mut numbers = vector(&[(0, 1.0)]);
    numbers[17] = json!("0.5");
    let body = json!({"attributes": {"name": "new"}, "embedding": numbers}).to_string();
    let error = session.error("select keyed.patch_record($1, $2)", &[&id, &body]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/embedding/17"]));
    assert_eq!(session.text(&row(), &[]).await, before);
    assert_eq!(session.text("select name from crm.customers", &[]).await, "");
}

#[tokio::test]
async fn vector_of_another_length_cannot_be_inserted() {
    let (_database, session) = crm().await;
    let id = embedded(&session, "A", &similar(0.5)).await;
    let error = session
        .error(
            &format!("update {VECTORS} set embedding = $2 where record_id = $1"),
            &[&id, &vector(&[]).to_string()],
        )
        .await;
    assert_eq!(error.state, "23514");
}

#[tokio::test]
async fn old_pgvector_disables_only_vectors() {
    let database = Database::new().await;
    let session = database.session().await;
    // The state before 0.7.0.
    session.run("alter type halfvec rename to of_later").await;
    let _database = database.add_crm().await;
    let record = "select keyed.create_record('crm.customers', '{\"name\": \"Ada\"}', 'A') ->> 'id'";
    let id = session.text(record, &[]).await;
    let error = session.error("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.5))]).await;
    assert!(error.message.contains("0.7.0") && error.hint.contains("UPDATE"), "{error} {}", error.hint);
    session.run("alter type of_later rename to halfvec; select keyed.init()").await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.5))]).await;
}

#[tokio::test]
async fn missing_pgvector_disables_only_vectors() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run("drop extension vector").await;
    let database = database.add_crm().await;
    let record = "select keyed.create_record('crm.customers', '{\"name\": \"Ada\"}', 'A') ->> 'id'";
    let id = session.text(record, &[]).await;
    let error = session.error("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.5))]).await;
    assert!(
        error.message.contains("pgvector") && error.hint.contains("keyed.init()"),
        "{error} {}",
        error.hint
    );
    session
        .rows(
            "select keyed.patch_record($1, '{\"embedding\": null, \"attributes\": {\"name\": \"Bea\"}}')",
            &[&id],
        )
        .await;
    session.rows("select keyed.delete_record($1)", &[&id]).await;
    session.rows("select keyed.restore_record($1)", &[&id]).await;

    database.session().await.run("select keyed.migrate()").await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.5))]).await;
    assert_eq!(session.text(&format!("select count(*) from {VECTORS}"), &[]).await, "1");

    // The objects that were dropped with the extension are created again.
    session.run("drop extension vector cascade; select keyed.migrate()").await;
    let session = database.session().await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.5))]).await;
    session.run(&format!("drop index {VECTORS}_hnsw; select keyed.migrate()")).await;
    let index =
        &format!("select pg_get_indexdef('{VECTORS}_hnsw'::regclass) like '%halfvec_cosine_ops%WHERE live'");
    assert_eq!(session.text(index, &[]).await, "t");
}
