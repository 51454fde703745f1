//! A lookup reads an index without a statement of its own, and must return what a statement would.

use harness::{Database, Session};
use serde_json::json;

const LOOKUP: &str = "select keyed.get_by_key('crm.customers', 'K') -> 'attributes' ->> 'name'";

async fn with_record() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"old\"}')").await;
    (database, session)
}

#[tokio::test]
async fn lookup_reads_its_fixed_snapshot() {
    let (database, reader) = with_record().await;
    let writer = database.session().await;
    reader.run("begin isolation level repeatable read; select 1 from crm.customers").await;
    writer.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"new\"}')").await;
    assert_eq!(reader.text(LOOKUP, &[]).await, "old");
    writer.run("select keyed.delete_record(id) from crm.customers").await;
    writer.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"another\"}')").await;
    assert_eq!(reader.text(LOOKUP, &[]).await, "old");
    reader.run("commit").await;
    assert_eq!(reader.text(LOOKUP, &[]).await, "another");
}

#[tokio::test]
async fn lookup_reads_writes_of_its_own_transaction() {
    let (_database, session) = with_record().await;
    session.run("begin; select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"mine\"}')").await;
    assert_eq!(session.text(LOOKUP, &[]).await, "mine");
    session.run("savepoint s; select keyed.delete_record(id) from crm.customers").await;
    assert_eq!(session.error(LOOKUP, &[]).await.state, "P0002");
    session.run("rollback to s").await;
    assert_eq!(session.text(LOOKUP, &[]).await, "mine");
}

#[tokio::test]
async fn lookup_works_without_its_indexes() {
    let (_database, session) = with_record().await;
    let index = "select i.indexrelid::regclass::text from pg_index i where i.indrelid = 'crm.customers'::regclass \
                 and i.indpred is not null";
    let index = session.text(index, &[]).await;
    assert_eq!(session.text(LOOKUP, &[]).await, "old");
    session.run(&format!("reindex index concurrently {index}")).await;
    assert_eq!(session.text(LOOKUP, &[]).await, "old");
    session.run(&format!("begin; drop index {index}")).await;
    assert_eq!(session.text(LOOKUP, &[]).await, "old");
    // A partial unique index of a user is not used as the key index.
    let narrow = "create unique index on crm.customers (external_key) where name = 'nobody'";
    session.run(&format!("{narrow}; select keyed.get_by_key('crm.customers', 'K')")).await;
    assert_eq!(session.text(LOOKUP, &[]).await, "old");
    session.run("rollback").await;
    assert_eq!(session.text(LOOKUP, &[]).await, "old");
}

#[tokio::test]
async fn lookup_shows_the_default_of_an_attribute_that_is_newer_than_the_record() {
    let (_database, session) = with_record().await;
    session.run("select keyed.drop_attribute('crm.customers', 'visits')").await;
    let added = r#"{"slug": "city", "type": "string", "required": true, "default": "Bern"}"#;
    session.rows("select keyed.add_attribute('crm.customers', $1)", &[added]).await;
    let city = "select keyed.get_by_key('crm.customers', 'K') -> 'attributes' ->> 'city'";
    assert_eq!(session.text(city, &[]).await, "Bern");
    let by_id = "select keyed.get_record(id) -> 'attributes' ->> 'city' from crm.customers";
    assert_eq!(session.text(by_id, &[]).await, "Bern");
}

#[tokio::test]
async fn lookup_finds_deleted_records_only_on_request() {
    let (_database, session) = with_record().await;
    let id = session.text("select id from crm.customers", &[]).await;
    session.rows("select keyed.delete_record($1)", &[&id]).await;
    assert_eq!(session.error("select keyed.get_record($1)", &[&id]).await.state, "P0002");
    let deleted = "select keyed.get_record($1, include_deleted => true) ->> 'deleted_at' is not null";
    assert_eq!(session.text(deleted, &[&id]).await, "t");
}

#[tokio::test]
async fn lookup_in_an_old_snapshot_ignores_a_dropped_index() {
    let (database, reader) = with_record().await;
    let other = database.session().await;
    let by_id = "select keyed.get_record(id) -> 'attributes' ->> 'name' from crm.customers";
    reader.run("begin isolation level repeatable read; select 1").await;
    other
        .run(
            "alter table crm.customers drop constraint customers_pkey;
             alter table crm.customers add primary key (id)",
        )
        .await;
    assert_eq!(reader.text(by_id, &[]).await, "old");
    assert_eq!(reader.text(LOOKUP, &[]).await, "old");
    reader.run("commit").await;
    // A primary key on another column is not mistaken for one on the id.
    other
        .run(
            "alter table crm.customers drop constraint customers_pkey;
             update crm.customers set born = '2000-01-01';
             alter table crm.customers add primary key (born)",
        )
        .await;
    assert_eq!(reader.text(by_id, &[]).await, "old");
    database.cluster().assert_no_crash();
}

/// The lines of the server's log with this part of a statement that ran inside a function.
fn statements_with(database: &Database, part: &str) -> usize {
    database.cluster().log().lines().filter(|line| line.contains(part)).count()
}

/// Makes the server log every statement inside functions.
const TRACED: &str =
    "load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on";

#[tokio::test]
async fn superuser_can_switch_direct_access_off() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "select keyed.create_template('crm', 'switched', '[{\"slug\": \"name\", \"type\": \"string\"}]')",
        )
        .await;
    let number = session.text("select id from keyed_state.template where slug = 'switched'", &[]).await;
    let upsert = r#"select keyed.upsert_by_key('crm.switched', 'K', '{"name": "Ada"}')"#;
    session.run(upsert).await;
    let create = r#"select keyed.create_record('crm.switched', '{"name": "Ada"}')"#;
    let clerk = database.create_role("clerk").await;
    database
        .grant_within(
            &clerk,
            "crm.switched",
            "read",
            &json!({"field": "name", "operator": "eq", "value": "Ada"}),
        )
        .await;
    for (statement, part) in [
        (create.to_owned(), format!("insert into keyed_state.history_{number} (record_id")),
        (create.to_owned(), format!("insert into keyed_state.text_{number} as d")),
        (
            "select keyed.get_by_key('crm.switched', 'K')".to_owned(),
            r#"from "crm"."switched" t where t.external_key"#.to_owned(),
        ),
        (
            "select keyed.get_record(id) from crm.switched".to_owned(),
            r#"from "crm"."switched" t where t.id = $1"#.to_owned(),
        ),
        (
            format!("set role {clerk}; select keyed.get_by_key('crm.switched', 'K'); reset role"),
            r#"from "crm"."switched" t where t.external_key"#.to_owned(),
        ),
        (upsert.to_owned(), r#"insert into "crm"."switched""#.to_owned()),
        (
            r#"select keyed.search('crm.switched', '{"global_search": "ada"}')"#.to_owned(),
            format!("from keyed_state.text_{number} d"),
        ),
    ] {
        for is_on in [true, false] {
            session.run(&format!("{TRACED}; set keyed.direct_access = {is_on}")).await;
            let before = statements_with(&database, &part);
            session.run(&statement).await;
            assert_eq!(
                statements_with(&database, &part) == before,
                is_on,
                "{statement} with {is_on}: {part}"
            );
        }
    }
    let listed = "select count(*) from pg_settings where name = 'keyed.direct_access'";
    assert_eq!(session.text(listed, &[]).await, "0");
}

#[tokio::test]
async fn only_younger_snapshots_use_a_new_index() {
    // The age of a snapshot also depends on the transactions of other tests.
    let cluster = std::sync::Arc::new(harness::Cluster::start(harness::Durability::None));
    let database = Database::new_in(&cluster).await.add_crm().await;
    let session = database.session().await;
    session
        .run("select keyed.create_template('crm', 'young_index'); select keyed.create_record('crm.young_index', '{}', 'K')")
        .await;
    let lookup = "select keyed.get_by_key('crm.young_index', 'K')";
    let older = database.session().await;
    older.run(TRACED).await;
    older.run("begin isolation level repeatable read; select 1").await;
    // As PostgreSQL marks an index that it built while some rows had older versions (indcheckxmin).
    session
        .run(
            "set allow_system_table_mods = on; \
             update pg_index set indcheckxmin = true where indrelid = 'crm.young_index'::regclass",
        )
        .await;
    let younger = database.session().await;
    younger.run(&format!("{TRACED}; {lookup}")).await;
    let statement = r#"from "crm"."young_index""#;
    let before = statements_with(&database, statement);
    younger.run(&format!("set keyed.direct_access = on; {lookup}")).await;
    assert_eq!(statements_with(&database, statement), before, "no separate statement is needed");
    older.run(lookup).await;
    assert!(statements_with(&database, statement) > before, "the index may lack rows that the snapshot sees");
}

#[tokio::test]
async fn parallel_query_can_look_up_records() {
    let database = Database::with_crm().await;
    let administrator = database.session().await;
    administrator
        .run(
            r#"select keyed.upsert_by_key('crm.customers', 'K', '{"name": "Ada"}');
               create table public.many as select n from generate_series(1, 20000) n;
               grant select on public.many to public; analyze public.many"#,
        )
        .await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read").await;
    let session = database.session().await;
    session
        .run(&format!(
            "set role {role}; set parallel_setup_cost = 0; set parallel_tuple_cost = 0; \
             set min_parallel_table_scan_size = 0"
        ))
        .await;
    let plain = session.text("explain (format json) select count(*) from public.many", &[]).await;
    assert!(plain.contains("Gather"), "{plain}");
    // It is the first call of the session that checks privileges.
    let sql = "select keyed.get_by_key('crm.customers', 'K') ->> 'external_key' from public.many where n = 7";
    assert_eq!(session.text(sql, &[]).await, "K");
}
