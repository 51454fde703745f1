//! A write that conflicts with an uncommitted one waits, then continues according to its outcome.

use crate::{Waiting, first_row, live};
use harness::Database;

const UPSERT: &str = "select id, created from keyed.upsert_by_key('crm.customers', 'K', $1)";

/// Changes of the record with key K by an uncommitted transaction, each of which releases the key.
const RELEASES: [&str; 5] = [
    "select keyed.delete_record(id) from crm.customers where external_key = 'K'",
    "update crm.customers set deleted_at = now() where external_key = 'K'",
    "select keyed.patch_record(id, '{\"external_key\": \"L\"}') from crm.customers where external_key = 'K'",
    "select keyed.patch_record(id, '{\"external_key\": null}') from crm.customers where external_key = 'K'",
    "delete from crm.customers where external_key = 'K'",
];

/// Attributes that cover each path of an upsert: changes, an increment, a no-op.
const WAYS: [&str; 3] = [r#"{"name": "new"}"#, r#"{"visits": {"$inc": 1}, "mood": 2}"#, r#"{"name": "old"}"#];

#[tokio::test]
async fn upsert_waits_for_a_release() {
    for release in RELEASES {
        let database = Database::with_crm().await;
        let (first, observer) = (database.session().await, database.session().await);
        for attributes in WAYS {
            for end in ["commit", "rollback"] {
                first.run("delete from crm.customers").await;
                let seeded =
                    "select id from keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"old\"}')";
                let id = first.text(seeded, &[]).await;
                first.run(&format!("begin; {release}")).await;
                let waiting =
                    Waiting::start(database.session().await, &observer, UPSERT, &[attributes]).await;
                first.run(end).await;
                let row = first_row(&waiting.outcome().await.expect("an upsert"));
                let expected = if end == "commit" { (false, "t") } else { (true, "f") };
                assert_eq!((row[0] == id, row[1].as_str()), expected, "{release}; {end}; {attributes}");
                assert_eq!(live(&observer, "K").await, "1", "{release}; {end}; {attributes}");
            }
        }
    }
}

#[tokio::test]
async fn upsert_without_attributes_waits_too() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    for (begin, end, created) in [
        ("select keyed.upsert_by_key('crm.customers', 'K')", "commit", "f"),
        ("select keyed.upsert_by_key('crm.customers', 'K')", "rollback", "t"),
    ] {
        first.run("delete from crm.customers").await;
        first.run(&format!("begin; {begin}")).await;
        let waiting = Waiting::start(database.session().await, &observer, UPSERT, &["{}"]).await;
        first.run(end).await;
        assert_eq!(first_row(&waiting.outcome().await.expect("an upsert"))[1], created, "{begin}; {end}");
        assert_eq!(live(&observer, "K").await, "1");
    }
}

#[tokio::test]
async fn upsert_waits_for_a_create() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    for begin in [
        "select keyed.create_record('crm.customers', '{\"visits\": 1}', 'K')",
        "insert into crm.customers (external_key, visits) values ('K', 1)",
        "select keyed.patch_record(id, '{\"external_key\": \"K\"}')
         from keyed.upsert_by_key('crm.customers', 'L', '{\"visits\": 1}')",
    ] {
        for end in ["commit", "rollback"] {
            first.run("delete from crm.customers").await;
            first.run(&format!("begin; {begin}")).await;
            let attributes = r#"{"visits": {"$inc": 1}}"#;
            let waiting = Waiting::start(database.session().await, &observer, UPSERT, &[attributes]).await;
            first.run(end).await;
            let row = first_row(&waiting.outcome().await.expect("an upsert"));
            let (created, visits) = if end == "commit" { ("f", "2") } else { ("t", "1") };
            assert_eq!(row[1], created, "{begin}; {end}");
            assert_eq!(live(&observer, "K").await, "1");
            assert_eq!(
                observer.text("select visits from crm.customers where external_key = 'K'", &[]).await,
                visits
            );
        }
    }
}

#[tokio::test]
async fn upsert_writes_to_a_replaced_record() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let attributes = r#"[{"slug": "number", "type": "number", "required": true}, {"slug": "note", "type": "string"},
                         {"slug": "load", "type": "metric"}]"#;
    first.rows("select keyed.create_template('crm', 'orders', $1)", &[attributes]).await;
    let create = r#"select keyed.upsert_by_key('crm.orders', 'K', '{"number": 1}')"#;
    let upsert = |attributes: &str| format!("select keyed.upsert_by_key('crm.orders', 'K', '{attributes}')");
    let update = |attributes: &str| {
        format!(
            r#"select keyed_http.upsert_by_key('3', '{{"external_key": "K", "attributes": {attributes}}}', 'update', false)"#
        )
    };
    for statement in [
        upsert(r#"{"number": 2, "note": "x"}"#),
        upsert(r#"{"number": {"$inc": 1}, "note": "x"}"#),
        upsert(r#"{"number": 2, "note": "x", "load": 5}"#),
        upsert(r#"{"number": {"$inc": 1}, "note": "x", "load": 5}"#),
        upsert(r#"{"note": "x"}"#),
        upsert(r#"{"note": "x", "load": 5}"#),
        update(r#"{"number": {"$inc": 1}, "note": "x"}"#),
        update(r#"{"note": "x", "load": 5}"#),
    ] {
        first.run("delete from crm.orders").await;
        first.run(create).await;
        first.run("begin; select keyed.delete_record(id) from crm.orders").await;
        first.run(create).await;
        let waiting = Waiting::start(database.session().await, &observer, &statement, &[]).await;
        first.run("commit").await;
        waiting.outcome().await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        let live = "select note || ' ' || number || ' ' || coalesce(load, 0) from crm.orders where deleted_at is null";
        let number = if statement.contains("number") { "2" } else { "1" };
        let load = if statement.contains("load") { "5" } else { "0" };
        assert_eq!(
            observer.text(live, &[]).await,
            format!("x {number} {load}"),
            "{statement} was acknowledged and lost"
        );
    }
}

#[tokio::test]
async fn update_only_upsert_waits_and_fails_after_a_deletion() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let attributes =
        r#"[{"slug": "number", "type": "string", "required": true}, {"slug": "note", "type": "string"}]"#;
    first.rows("select keyed.create_template('crm', 'orders', $1)", &[attributes]).await;
    // The upsert lacks the required number, so it cannot create a record.
    let upsert = r#"select id, created from keyed.upsert_by_key('crm.orders', 'K', '{"note": "x"}')"#;
    for end in ["commit", "rollback"] {
        first.run("delete from crm.orders").await;
        first.run(r#"select keyed.upsert_by_key('crm.orders', 'K', '{"number": "1"}')"#).await;
        first.run("begin; select keyed.delete_record(id) from crm.orders").await;
        let waiting = Waiting::start(database.session().await, &observer, upsert, &[]).await;
        first.run(end).await;
        match waiting.outcome().await {
            Ok(rows) => assert_eq!((end, first_row(&rows)[1].as_str()), ("rollback", "f")),
            Err(error) => assert_eq!((end, error.codes()), ("commit", ("22023", "required_attribute"))),
        }
    }
}

#[tokio::test]
async fn create_waits_for_a_create() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let create = "select keyed.create_record('crm.customers', '{}', 'K')";
    for end in ["commit", "rollback"] {
        first.run("delete from crm.customers").await;
        first.run("begin").await;
        let winner = first.json(create, &[]).await;
        let waiting = Waiting::start(database.session().await, &observer, create, &[]).await;
        first.run(end).await;
        match waiting.outcome().await {
            Ok(_) => assert_eq!(end, "rollback"),
            Err(error) => {
                assert_eq!((end, error.codes()), ("commit", ("23505", "external_key_taken")));
                assert_eq!(error.detail["existing_id"], winner["id"]);
            }
        }
        assert_eq!(live(&observer, "K").await, "1");
    }
}

#[tokio::test]
async fn rename_waits_for_a_create() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    for rename in [
        "select keyed.patch_record($1, '{\"external_key\": \"K\"}')",
        "update crm.customers set external_key = 'K' where id = $1",
    ] {
        for end in ["commit", "rollback"] {
            first.run("delete from crm.customers").await;
            let other = first.text("select id from keyed.upsert_by_key('crm.customers', 'L')", &[]).await;
            first.run("begin; select keyed.create_record('crm.customers', '{}', 'K')").await;
            let waiting = Waiting::start(database.session().await, &observer, rename, &[&other]).await;
            first.run(end).await;
            let state = waiting.outcome().await.err().map(|error| error.state);
            assert_eq!(state.as_deref(), (end == "commit").then_some("23505"), "{rename}; {end}");
            assert_eq!(live(&observer, "K").await, "1");
        }
    }
}

#[tokio::test]
async fn restore_waits_for_a_create() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    for end in ["commit", "rollback"] {
        first.run("delete from crm.customers").await;
        let old = first.text("select id from keyed.upsert_by_key('crm.customers', 'K')", &[]).await;
        first.rows("select keyed.delete_record($1)", &[&old]).await;
        first.run("begin; select keyed.upsert_by_key('crm.customers', 'K')").await;
        let restore = "select keyed.restore_record($1)";
        let waiting = Waiting::start(database.session().await, &observer, restore, &[&old]).await;
        first.run(end).await;
        match waiting.outcome().await {
            Ok(_) => assert_eq!(end, "rollback"),
            Err(error) => assert_eq!((end, error.codes()), ("commit", ("23505", "external_key_taken"))),
        }
        assert_eq!(live(&observer, "K").await, "1");
    }
}

#[tokio::test]
async fn patch_and_delete_wait_for_a_delete() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    for statement in [
        "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}')",
        "select keyed.patch_record($1, '{\"external_key\": \"L\"}')",
        "select keyed.replace_attributes($1, '{\"name\": \"x\"}')",
        "select keyed.delete_record($1)",
    ] {
        for end in ["commit", "rollback"] {
            first.run("delete from crm.customers").await;
            let id = first.text("select id from keyed.upsert_by_key('crm.customers', 'K')", &[]).await;
            first.rows("begin; select keyed.delete_record($1)", &[&id]).await;
            let waiting = Waiting::start(database.session().await, &observer, statement, &[&id]).await;
            first.run(end).await;
            let state = waiting.outcome().await.err().map(|error| error.state);
            assert_eq!(state.as_deref(), (end == "commit").then_some("P0002"), "{statement}; {end}");
            let deletes = "select count(*) from keyed.history($1) where operation = 'delete'";
            let expected = if end == "commit" || statement.contains("delete") { "1" } else { "0" };
            assert_eq!(observer.text(deletes, &[&id]).await, expected, "{statement}; {end}");
        }
    }
}
