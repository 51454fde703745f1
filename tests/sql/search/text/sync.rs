//! Documents follow the records and the definitions.

use harness::customers::DOCUMENTS;
use harness::{Database, Session};
use serde_json::json;

pub(super) const FOUND: &str = "select string_agg(r ->> 'external_key', ' ' order by r ->> 'external_key')
  from jsonb_array_elements(
    keyed.search('crm.customers', jsonb_build_object('global_search', $1::text, 'limit', 1000)) -> 'records') r";

/// Rebuilds all documents by changing the language there and back, and asserts that each is unchanged.
pub(super) async fn assert_documents_are_true(session: &Session) {
    let documents = &format!("select string_agg(d::text, E'\n' order by d.record_id) from {DOCUMENTS} d");
    let before = session.text(documents, &[]).await;
    session
        .run(
            &format!(r#"select keyed.alter_template('crm.customers', '{{"language": "simple"}}');
               delete from {DOCUMENTS}; select keyed.alter_template('crm.customers', '{{"language": "english"}}')"#),
        )
        .await;
    until_jobs_are_done(session).await;
    assert!(session.text(documents, &[]).await == before, "the documents differ from those of new writes");
    let count = &format!(
        "select count(*) = (select count(*) from crm.customers where deleted_at is null) from {DOCUMENTS}"
    );
    assert_eq!(session.text(count, &[]).await, "t");
}

/// Documents of many records are rebuilt in the background.
pub(super) async fn until_jobs_are_done(session: &Session) {
    session.until("select count(*) from keyed.jobs()", "0").await;
}

pub(super) async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

#[tokio::test]
async fn write_without_a_text_change_writes_no_document() {
    let (_database, session) = crm().await;
    session.run(r#"select keyed.upsert_by_key('crm.customers', '1', '{"name": "Ada", "visits": 1, "tags": ["x"]}')"#).await;
    let version = &format!("select xmin || ' ' || ctid from {DOCUMENTS}");
    let before = session.text(version, &[]).await;
    for attributes in [
        r#"{"visits": {"$inc": 1}}"#,
        r#"{"mood": 5}"#,
        r#"{"born": "2024-02-29"}"#,
        r#"{"name": "ADA", "visits": 7}"#,
    ] {
        session.rows("select keyed.upsert_by_key('crm.customers', '1', $1)", &[attributes]).await;
        let now = session.text(version, &[]).await;
        assert_eq!(now, before, "{attributes}");
    }
    session.run(r#"select keyed.upsert_by_key('crm.customers', '1', '{"name": "Grace"}')"#).await;
    assert_ne!(session.text(version, &[]).await, before);
}

#[tokio::test]
async fn every_write_path_updates_documents() {
    let (_database, session) = crm().await;
    session
        .run(
            r#"select keyed.create_record('crm.customers', '{"name": "made"}', 'make');
               select keyed.patch_record(id, '{"external_key": "patch", "attributes": {"tags": ["patched"]}}') from crm.customers;
               select keyed.batch(jsonb_agg(jsonb_build_object('op', 'upsert', 'template', 'crm.customers', 'external_key', 'b' || n,
                 'attributes', jsonb_build_object('name', 'batched ' || n))), true) from generate_series(1, 300) n;
               select keyed.batch('[{"op": "upsert", "template": "crm.customers", "external_key": "b1", "attributes": {"name": "again"}},
                 {"op": "delete", "template": "crm.customers", "external_key": "b2"},
                 {"op": "create", "template": "crm.customers", "external_key": "b3"},
                 {"op": "create", "template": "crm.customers", "attributes": {"name": "keyless"}}]');
               insert into crm.customers (external_key, name) select 'sql' || n, 'inserted' from generate_series(1, 2500) n;
               update crm.customers set name = 'updated' where external_key like 'sql%' and external_key like '%0';
               update crm.customers set deleted_at = now() where external_key like 'sql%1';
               delete from crm.customers where external_key like 'sql%2';
               update crm.customers set external_key = 'renamed' where external_key = 'sql3'"#,
        )
        .await;
    for (query, keys) in [
        ("made patched", "patch"),
        ("batched 300", "b300"),
        ("again", "b1"),
        ("\"batched 1\" -\"batched 1\"", ""),
        ("renamed", "renamed"),
        (
            "updated sql10",
            "sql10 sql100 sql1000 sql1010 sql1020 sql1030 sql1040 sql1050 sql1060 sql1070 sql1080 sql1090",
        ),
        ("sql11", ""),
    ] {
        let found = session.text(FOUND, &[query]).await;
        if query == "sql11" {
            assert!(!found.split(' ').any(|key| key == "sql11"), "{found}");
        } else {
            assert_eq!(found, keys, "{query}");
        }
    }
    assert_documents_are_true(&session).await;
}

#[tokio::test]
async fn rollback_leaves_no_document() {
    let (_database, session) = crm().await;
    session
        .run(
            r#"select keyed.upsert_by_key('crm.customers', '1', '{"name": "first"}');
               begin;
               select keyed.upsert_by_key('crm.customers', '2', '{"name": "second"}');
               savepoint s;
               select keyed.upsert_by_key('crm.customers', '1', '{"name": "undone"}');
               insert into crm.customers (external_key, name) values ('3', 'undone');
               update crm.customers set deleted_at = now() where external_key = '2';
               rollback to savepoint s;
               select keyed.upsert_by_key('crm.customers', '4', '{"name": "fourth"}');
               commit"#,
        )
        .await;
    let rejected = session
        .attempt(
            "insert into crm.customers (external_key, name) values ('5', 'refused'), ('1', 'refused')",
            &[],
        )
        .await;
    assert_eq!(rejected.expect_err("the key is taken").state, "23505");
    session
        .run("begin; update crm.customers set name = 'undone'; rollback; update crm.customers set visits = 1")
        .await;
    for (query, keys) in [("undone", ""), ("refused", ""), ("first", "1"), ("second", "2"), ("fourth", "4")] {
        assert_eq!(session.text(FOUND, &[query]).await, keys, "{query}");
    }
    assert_documents_are_true(&session).await;
}

#[tokio::test]
async fn document_has_the_text_of_the_last_trigger() {
    let (_database, session) = crm().await;
    session
        .run(
            "create function crm.a_again() returns trigger language plpgsql as $f$ begin
               if new.name = 'one' then update crm.customers set name = 'two' where id = new.id; end if;
               if new.name = 'three' then
                 begin update crm.customers set name = 'failed' where id = new.id; raise 'no'; exception when others then null; end;
                 begin update crm.customers set name = 'four' where id = new.id; exception when others then null; end;
               end if;
               return null; end $f$;
             create trigger a_again after insert or update on crm.customers for each row execute function crm.a_again();
             create trigger z_again after insert or update on crm.customers for each row execute function crm.a_again();
             insert into crm.customers (external_key, name) values ('1', 'one'), ('2', 'other'), ('3', 'three')",
        )
        .await;
    for (query, keys) in
        [("one", ""), ("two", "1"), ("other", "2"), ("three", ""), ("failed", ""), ("four", "3")]
    {
        assert_eq!(session.text(FOUND, &[query]).await, keys, "{query}");
    }
    // A function computes documents from the rows that triggers return, which other triggers may have changed since.
    session
        .run(
            r#"delete from crm.customers;
               select keyed.create_record('crm.customers', '{"name": "one"}', 'created one');
               select keyed.create_record('crm.customers', '{"name": "three"}', 'created three');
               select keyed.upsert_by_key('crm.customers', key, '{"name": "upserted"}'),
                 keyed.upsert_by_key('crm.customers', key, jsonb_build_object('name', key))
               from (values ('one'), ('three'), ('five')) as keys (key);
               select keyed.batch(jsonb_agg(jsonb_build_object('op', 'upsert', 'template', 'crm.customers', 'external_key', key,
                 'attributes', jsonb_build_object('name', name)))) from (values ('b1', 'one'), ('b3', 'three'), ('b5', 'five')) b (key, name);
               begin;
               select keyed.upsert_by_key('crm.customers', 'five', '{"name": "kept"}');
               savepoint s;
               select keyed.upsert_by_key('crm.customers', 'five', '{"name": "one"}');
               rollback to s;
               select keyed.upsert_by_key('crm.customers', 'six', '{"name": "three"}');
               commit"#,
        )
        .await;
    for (query, keys) in [
        ("upserted", ""),
        ("failed", ""),
        ("two", "b1 created one one"),
        ("four", "b3 created three six three"),
        ("kept", "five"),
    ] {
        assert_eq!(session.text(FOUND, &[query]).await, keys, "{query}");
    }
    session.run("drop trigger a_again on crm.customers; drop trigger z_again on crm.customers").await;
    assert_documents_are_true(&session).await;
}

#[tokio::test]
async fn documents_follow_changes_of_the_template() {
    let (_database, session) = crm().await;
    session
        .run(
            r#"select keyed.upsert_by_key('crm.customers', 'k' || n, jsonb_build_object('name', 'Ada ' || n, 'tier', array['gold'], 'tags', array['blue']))
               from generate_series(1, 20) n;
               select keyed.delete_record(id) from crm.customers where external_key = 'k9'"#,
        )
        .await;
    let count = async |query: &str| {
        session
            .text(
                "select jsonb_array_length(keyed.search('crm.customers', jsonb_build_object('global_search', $1::text)) -> 'records')",
                &[query],
            )
            .await
    };
    for (change, query, before, after) in [
        (
            json!({"attributes": [{"slug": "note", "type": "string", "default": "welcome"}]}),
            "welcome",
            "0",
            "19",
        ),
        (json!({"attributes": [{"slug": "extra", "type": "list"}]}), "welcome", "19", "19"),
        (json!({"rename": {"note": "remark"}}), "welcome", "19", "19"),
        (json!({"drop": ["remark"]}), "welcome", "19", "0"),
        (
            json!({"attributes": [{"slug": "tier", "options": [{"value": "gold", "label": "Premium"}, "silver"]}]}),
            "gold",
            "19",
            "0",
        ),
        (json!({"label": "x", "display": "tags"}), "premium", "19", "19"),
        (json!({"attributes": [{"slug": "tier", "options": null}]}), "gold", "0", "19"),
        (json!({"drop": ["tags", "visits"]}), "blue", "19", "0"),
        (json!({"rename": {"tier": "tags"}}), "gold", "19", "19"),
        (json!({"language": "german"}), "ada", "19", "19"),
        (json!({"language": "english"}), "ada", "19", "19"),
    ] {
        assert_eq!(count(query).await, before, "{query} before {change}");
        session.rows("select keyed.alter_template('crm.customers', $1)", &[&change.to_string()]).await;
        assert_eq!(count(query).await, after, "{query} after {change}");
    }
    assert_documents_are_true(&session).await;
}

#[tokio::test]
async fn huge_text_is_searched_completely() {
    let (_database, session) = crm().await;
    session
        .run(
            "insert into crm.customers (external_key, name, tags)
             select 'huge', repeat('word ', 200000) || 'needle', array[repeat('x', 1990) || 'y']",
        )
        .await;
    for query in ["needle", "eedl", "xxy", "word"] {
        assert_eq!(session.text(FOUND, &[query]).await, "huge", "{query}");
    }
}
