//! History tables are ordinary tables: changes by a DBA are supported, or at least harmless.

use harness::customers::HISTORY;
use harness::{Database, Session};

const UPSERT: &str = "select keyed.upsert_by_key('crm.customers', 'K', $1)";

/// A database with one customer, a session, and the name of the customers' history table.
async fn with_history() -> (Database, Session, String) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let name = "select 'keyed_state.history_' || id from keyed_state.template where slug = 'customers'";
    let table = session.text(name, &[]).await;
    session.rows(UPSERT, &[r#"{"visits": 0}"#]).await;
    (database, session, table)
}

/// Changes the customer this many times, and checks that every change has its version.
async fn change(session: &Session, table: &str, times: i32) {
    let versions = format!("select coalesce(max(version), 0) from {table}");
    let before: i32 = session.text(&versions, &[]).await.parse().expect("a number");
    for _ in 0..times {
        session.rows(UPSERT, &[r#"{"visits": {"$inc": 1}}"#]).await;
    }
    assert_eq!(session.text(&versions, &[]).await, (before + times).to_string());
}

#[tokio::test]
async fn user_indexes_on_a_history_are_maintained() {
    let (database, session, table) = with_history().await;
    session
        .run(&format!("create index on {table} (actor); create index on {table} using gin (changes)"))
        .await;
    change(&session, &table, 3).await;
    let by_index = format!("set enable_seqscan = off; select count(*) from {table} where actor = 'postgres'");
    assert_eq!(session.text(&by_index, &[]).await, "4");
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn user_triggers_on_a_history_fire_for_one_row_and_for_many() {
    let (database, session, table) = with_history().await;
    session
        .run(&format!(
            "create table public.seen (moment text);
             grant insert on public.seen to keyed_owner;
             create function public.see() returns trigger language plpgsql as
               $$ begin insert into public.seen values (tg_when || ' ' || tg_level); return new; end $$;
             create trigger b before insert on {table} for each row execute function public.see();
             create trigger a after insert on {table} for each row execute function public.see();
             create trigger s after insert on {table} for each statement execute function public.see()"
        ))
        .await;
    change(&session, &table, 2).await;
    let seen =
        "select string_agg(moment, ', ' order by moment) from (select distinct moment from public.seen) s";
    assert_eq!(session.text(seen, &[]).await, "AFTER ROW, AFTER STATEMENT, BEFORE ROW");
    assert_eq!(session.text("select count(*) from public.seen", &[]).await, "6");
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn bulk_history_entries_equal_single_ones() {
    let (database, session, table) = with_history().await;
    session
        .run(&format!("create index on {table} (actor); create index on {table} using gin (changes)"))
        .await;
    let many = "insert into crm.customers (external_key, name, visits) \
                select 'm' || n, case when n % 2 = 0 then repeat('é', 5000) end, n from generate_series(1, 1201) n";
    session.run(many).await;
    session.run("update crm.customers set visits = -visits where external_key like 'm%'").await;
    let entries = |condition: &str| {
        format!(
            "set enable_seqscan = off; select count(*) from {table} where external_key like 'm%' and {condition}"
        )
    };
    for (condition, count) in [
        ("actor = 'postgres' and source = 'sql' and at <= now()", 2402),
        ("operation = 'create' and version = 1 and changes #>> '{visits,old}' is null", 1201),
        ("operation = 'update' and version = 2 and not changes ? 'name'", 1201),
        ("version = 1 and length(changes #>> '{name,new}') = 5000", 600),
        ("changes @> '{\"visits\": {\"old\": 7, \"new\": -7}}'", 1),
    ] {
        assert_eq!(session.text(&entries(condition), &[]).await, count.to_string(), "{condition}");
    }
    session.run(&format!("alter table {table} alter column external_key set not null")).await;
    let one_without_key = "insert into crm.customers (external_key) \
                           select case when n <> 700 then 'n' || n end from generate_series(1, 900) n";
    assert_eq!(session.error(one_without_key, &[]).await.state, "23502");
    session.run("update crm.customers set deleted_at = now() where external_key like 'm%'").await;
    session.run(&format!("create unique index one on {table} (external_key) where version = 1")).await;
    let again = "insert into crm.customers (external_key) select 'n' || n from generate_series(1, 900) n union all select 'm7'";
    assert_eq!(session.error(again, &[]).await.state, "23505");
    let left = format!("select count(*) from {table} where external_key like 'n%'");
    assert_eq!(session.text(&left, &[]).await, "0");
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn failed_history_write_is_an_error() {
    let (database, session, table) = with_history().await;
    session
        .run(&format!("alter table {table} add constraint c check (operation <> 'update') not valid"))
        .await;
    assert_eq!(session.error(UPSERT, &[r#"{"visits": 5}"#]).await.state, "23514");
    session.run(&format!("alter table {table} drop constraint c")).await;
    session.run(&format!("create unique index one on {table} (operation) where operation = 'update'")).await;
    change(&session, &table, 1).await;
    assert_eq!(session.error(UPSERT, &[r#"{"visits": 5}"#]).await.state, "23505");
    session.run("drop index keyed_state.one").await;
    session.run(&format!("alter table {table} alter column external_key set not null")).await;
    let without_key = "select keyed.create_record('crm.customers', '{}')";
    assert_eq!(session.error(without_key, &[]).await.state, "23502");
    change(&session, &table, 1).await;
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn versions_continue_after_changes_of_the_primary_key_and_columns() {
    let (database, session, table) = with_history().await;
    change(&session, &table, 1).await;
    let statements = [
        format!("reindex table concurrently {table}"),
        format!("alter table {table} add column note text"),
        format!("alter table {table} drop column note"),
        format!("alter table {table} drop constraint {}_pkey", table.trim_start_matches("keyed_state.")),
        format!("alter table {table} add primary key (version, record_id)"),
        format!("alter table {table} alter column actor type varchar(200)"),
    ];
    for statement in statements {
        session.run(&statement).await;
        change(&session, &table, 2).await;
    }
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn record_written_in_an_exception_block_has_history_and_document() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "create function touch() returns trigger language plpgsql as $$ begin
               begin update crm.customers set name = 'touched ' || new.external_key where id = new.id;
               exception when division_by_zero then null; end; return null; end $$;
             create trigger zz_touch after insert on crm.customers for each row execute function touch();
             insert into crm.customers (external_key, name) select 'K' || n, 'Ada' from generate_series(1, 3) n;
             select keyed.create_record('crm.customers', '{\"name\": \"Bea\"}', 'K4')",
        )
        .await;
    let versions = &format!(
        "select string_agg(distinct entries::text, ' ') from
                      (select count(*) as entries from {HISTORY} group by record_id) h"
    );
    assert_eq!(session.text(versions, &[]).await, "2");
    let found = "select jsonb_array_length(keyed.search('crm.customers', '{\"global_search\": \"touched\"}') -> 'records')";
    assert_eq!(session.text(found, &[]).await, "4");
}

#[tokio::test]
async fn index_of_ended_keys_is_opened_only_for_a_change_that_ends_one() {
    let (database, session, table) = with_history().await;
    let holder = database.session().await;
    holder.run(&format!("begin; alter index {table}_ended_key set tablespace pg_default")).await;
    session.run("set lock_timeout = 1").await;
    // A statement opens all indexes.
    let without_end = [
        "select keyed.upsert_by_key('crm.customers', 'K', '{\"visits\": 5}')",
        "select keyed.upsert_by_key('crm.customers', 'Other', '{\"visits\": 5}')",
        "update crm.customers set visits = visits + 1",
    ];
    for change in without_end.into_iter().filter(|_| harness::has_direct_access()) {
        session.run(change).await;
    }
    for change in [
        "update crm.customers set external_key = 'L' where external_key = 'K'",
        "update crm.customers set deleted_at = now() where external_key = 'K'",
        "delete from crm.customers where external_key = 'K'",
    ] {
        assert_eq!(session.error(change, &[]).await.codes().0, "55P03", "{change}");
    }
}

#[tokio::test]
async fn index_with_another_condition_is_maintained() {
    let (_database, session, table) = with_history().await;
    let name = table.replace("keyed_state.", "");
    session
        .run(&format!(
            "drop index {table}_ended_key; create index {name}_ended_key on {table} (external_key) where version > 1"
        ))
        .await;
    change(&session, &table, 3).await;
    let by_index = format!(
        "set enable_seqscan = off; select count(*) from {table} where external_key = 'K' and version > 1"
    );
    assert_eq!(session.text(&by_index, &[]).await, "3");
}
