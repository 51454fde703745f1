//! The rules of external keys, at every entry point of an SQL user.

use harness::{Database, Session, id_of};
use serde_json::json;

/// Every statement that sets a key; `$1` is the key. The record named `entry point` has no key before.
const ENTRY_POINTS: [&str; 7] = [
    "select keyed.normalize_key($1)",
    "select keyed.create_record('crm.customers', '{}', $1)",
    "select keyed.upsert_by_key('crm.customers', $1)",
    "select keyed.patch_record(id, jsonb_build_object('external_key', $1::text))
       from crm.customers where name = 'entry_point'",
    "select keyed.restore_record(id, jsonb_build_object('external_key', $1::text))
       from crm.customers where name = 'deleted'",
    "insert into crm.customers (external_key) values ($1)",
    "update crm.customers set external_key = $1 where name = 'entry_point'",
];

async fn with_entry_points() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run("insert into crm.customers (name, deleted_at) values ('entry_point', null), ('deleted', now())")
        .await;
    (database, session)
}

/// The key as each entry point stored it.
async fn stored(session: &Session, key: &str) -> Vec<String> {
    let mut stored = vec![session.text(ENTRY_POINTS[0], &[key]).await];
    for entry_point in &ENTRY_POINTS[1..] {
        let statements = format!(
            "begin; {entry_point}; select external_key from crm.customers where external_key is not null; rollback"
        );
        stored.push(session.text(&statements, &[key]).await);
    }
    stored
}

async fn assert_rejected_by_every_entry_point(session: &Session, key: &str) {
    for entry_point in ENTRY_POINTS {
        let error = session.error(entry_point, &[key]).await;
        assert_eq!(error.codes(), ("22023", "invalid_external_key"), "{key:?} by {entry_point}: {error}");
    }
}

#[tokio::test]
async fn every_write_path_trims_keys() {
    let (_database, session) = with_entry_points().await;
    assert_eq!(stored(&session, "  A:1/é x  ").await, ["A:1/é x"; ENTRY_POINTS.len()]);
}

#[tokio::test]
async fn key_keeps_other_white_space_and_invisible_characters() {
    let (_database, session) = with_entry_points().await;
    for invisible in ['\u{a0}', '\u{3000}', '\u{200b}', '\u{202e}', '\u{feff}', '\u{2028}'] {
        for key in [format!("{invisible}A"), format!("A{invisible}")] {
            assert_eq!(stored(&session, &key).await, [key.as_str(); ENTRY_POINTS.len()]);
        }
    }
}

#[tokio::test]
async fn key_has_at_most_255_characters_after_trimming() {
    let (_database, session) = with_entry_points().await;
    for character in ["a", "é", "😀"] {
        let longest = character.repeat(255);
        assert_eq!(stored(&session, &longest).await, [longest.as_str(); ENTRY_POINTS.len()]);
        let spaced = format!("{0}{longest}{0}", " ".repeat(20));
        assert_eq!(stored(&session, &spaced).await, [longest.as_str(); ENTRY_POINTS.len()]);
        assert_rejected_by_every_entry_point(&session, &character.repeat(256)).await;
    }
}

#[tokio::test]
async fn empty_key_is_rejected() {
    let (_database, session) = with_entry_points().await;
    for empty in ["", " ", "     "] {
        assert_rejected_by_every_entry_point(&session, empty).await;
    }
}

#[tokio::test]
async fn control_character_in_a_key_is_rejected() {
    let (_database, session) = with_entry_points().await;
    // PostgreSQL's text cannot contain U+0000, so SQL cannot express it.
    for code in (0x01..=0x1f).chain(0x7f..=0x9f) {
        let control = char::from_u32(code).expect("a scalar value");
        for key in [format!("{control}AB"), format!("A{control}B"), format!("AB{control}")] {
            assert_rejected_by_every_entry_point(&session, &key).await;
        }
    }
}

#[tokio::test]
async fn case_and_normal_form_distinguish_keys() {
    let (_database, session) = with_entry_points().await;
    let mut ids = Vec::new();
    for key in ["a:1", "A:1", "caf\u{e9}", "cafe\u{301}", "a:1 ."] {
        let created =
            session.text("select created from keyed.upsert_by_key('crm.customers', $1)", &[key]).await;
        assert_eq!(created, "t", "{key:?} was taken for another key");
        let found = session.json("select keyed.get_by_key('crm.customers', $1)", &[key]).await;
        assert_eq!(found["external_key"], key);
        ids.push(id_of(&found).to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
}

#[tokio::test]
async fn lookup_trims_the_key() {
    let (_database, session) = with_entry_points().await;
    let id = session.text("select id from keyed.upsert_by_key('crm.customers', 'A-1')", &[]).await;
    assert_eq!(session.json("select keyed.get_by_key('crm.customers', '  A-1 ')", &[]).await["id"], id);
}

#[tokio::test]
async fn live_keys_of_a_template_are_unique() {
    let (_database, session) = with_entry_points().await;
    let holder = session.json("select keyed.create_record('crm.customers', '{}', 'A-1')", &[]).await;
    for entry_point in [ENTRY_POINTS[1], ENTRY_POINTS[3], ENTRY_POINTS[4]] {
        let error = session.error(entry_point, &[" A-1 "]).await;
        assert_eq!(error.codes(), ("23505", "external_key_taken"), "{entry_point}");
        assert_eq!(error.detail["existing_id"], holder["id"], "{entry_point}");
        assert_eq!(error.pointers(), ["/external_key"], "{entry_point}");
    }
    for entry_point in [ENTRY_POINTS[5], ENTRY_POINTS[6]] {
        assert_eq!(session.error(entry_point, &[" A-1 "]).await.state, "23505", "{entry_point}");
    }
    let twice = "insert into crm.customers (external_key) values ('B-1'), (' B-1 ')";
    assert_eq!(session.error(twice, &[]).await.state, "23505");
}

#[tokio::test]
async fn many_records_can_have_no_key() {
    let (_database, session) = with_entry_points().await;
    session.run("select keyed.create_record('crm.customers') from generate_series(1, 3)").await;
    session.run("insert into crm.customers (external_key) values (null), (null)").await;
    let count = "select count(*) from crm.customers where external_key is null and name is null";
    assert_eq!(session.text(count, &[]).await, "5");
}

#[tokio::test]
async fn other_templates_and_projects_can_use_the_same_key() {
    let (_database, session) = with_entry_points().await;
    session
        .run("select keyed.create_project('shop'); select keyed.create_template('shop', 'customers')")
        .await;
    let mut ids = Vec::new();
    for (template, attributes) in
        [("crm.customers", "{}"), ("crm.companies", r#"{"name": "x"}"#), ("shop.customers", "{}")]
    {
        let upsert = "select id from keyed.upsert_by_key($1, 'A-1', $2) where created";
        ids.push(session.text(upsert, &[template, attributes]).await);
    }
    for (template, id) in ["crm.customers", "crm.companies", "shop.customers"].iter().zip(&ids) {
        let found = session.json("select keyed.get_by_key($1, 'A-1')", &[template]).await;
        assert_eq!(found["id"], json!(id));
    }
}

#[tokio::test]
async fn deletion_releases_the_key_and_still_shows_it() {
    let (_database, session) = with_entry_points().await;
    let old = session.json("select keyed.create_record('crm.customers', '{}', 'A-1')", &[]).await;
    session.rows("select keyed.delete_record($1)", &[id_of(&old)]).await;
    let missing = session.error("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await;
    assert_eq!(missing.codes(), ("P0002", "not_found"));
    let new = session.json("select keyed.create_record('crm.customers', '{}', 'A-1')", &[]).await;
    assert_ne!(new["id"], old["id"]);
    assert_eq!(session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await["id"], new["id"]);
    let deleted = session.json("select keyed.get_record($1, include_deleted => true)", &[id_of(&old)]).await;
    assert_eq!(deleted["external_key"], "A-1");
    let history = session.rows("select operation, external_key from keyed.history($1)", &[id_of(&old)]).await;
    let shown = |operation: &str| vec![Some(operation.to_owned()), Some("A-1".to_owned())];
    assert_eq!(history, [shown("delete"), shown("create")]);
}

#[tokio::test]
async fn bytewise_index_keeps_keys_unique() {
    let (_database, session) = with_entry_points().await;
    let index = "select pg_get_expr(i.indpred, i.indrelid), i.indisunique, i.indisvalid, c.collname
                 from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
                 join pg_collation c on c.oid = i.indcollation[0] and c.oid = a.attcollation
                 where i.indrelid = 'crm.customers'::regclass and a.attname = 'external_key' and i.indnatts = 1";
    let rows = session.rows(index, &[]).await;
    let predicate = "(NOT false)";
    let expected = [predicate, "t", "t", "C"].map(|value| Some(value.to_owned()));
    assert_eq!(rows, [expected.to_vec()]);
}
