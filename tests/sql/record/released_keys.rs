//! The key of a deleted record is free for `ON CONFLICT (external_key)`, and the record still shows it.

use harness::customers::HISTORY;
use harness::{Database, Session};
use serde_json::{Value, json};

/// Sessions of a superuser and of a role with all privileges on customers.
async fn crm() -> (Database, Session, Session) {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm", "read, create, update, delete").await;
    let (admin, clerk) = (database.session().await, database.session_as(&role).await);
    (database, admin, clerk)
}

/// The customers by name: key, released key and whether they are deleted.
async fn keys(session: &Session) -> String {
    let keys = "select coalesce(string_agg(concat_ws(' ', name, coalesce(external_key, '-'), coalesce(_released_key, '-'), \
                case when deleted_at is null then 'live' else 'deleted' end), ', ' order by name), '') from crm.customers";
    session.text(keys, &[]).await
}

async fn operations(session: &Session, name: &str) -> Value {
    let history = "select coalesce(jsonb_agg(jsonb_build_array(h.operation, h.external_key, h.changes - 'name') order by h.version), '[]') \
                   from crm.customers c, keyed.history(c.id) h where c.name = $1";
    session.json(history, &[name]).await
}

#[tokio::test]
async fn on_conflict_finds_the_live_record() {
    let (_database, admin, clerk) = crm().await;
    let upsert = "insert into crm.customers as c (external_key, visits) values ('A-1', 1) \
                  on conflict (external_key) do update set visits = c.visits + excluded.visits returning visits";
    let ignore = "insert into crm.customers (external_key) values ('A-1') on conflict (external_key) do nothing returning id";
    let merge = "merge into crm.customers c using (values ('A-1', 10)) v (key, n) on c.external_key = v.key \
                 when matched then update set visits = c.visits + v.n when not matched then insert (external_key, visits) values (v.key, v.n)";
    for session in [&admin, &clerk] {
        assert_eq!(session.text(upsert, &[]).await, "1");
        assert_eq!(session.text(upsert, &[]).await, "2");
        assert!(session.rows(ignore, &[]).await.is_empty());
        session.run(merge).await;
        let visits = "select visits from crm.customers where external_key = 'A-1'";
        assert_eq!(session.text(visits, &[]).await, "12");
        session.run("update crm.customers set deleted_at = now() where external_key = 'A-1'").await;
        session.run(merge).await;
        assert_eq!(session.text(visits, &[]).await, "10", "a deleted record holds no key");
        session.run("update crm.customers set deleted_at = now() where external_key = 'A-1'").await;
    }
    // The form that was required before there was a plain index still works.
    let partial = "insert into crm.customers (external_key) values ('A-1') \
                   on conflict (external_key) where deleted_at is null and external_key is not null do update set visits = 8 returning visits";
    assert_eq!(clerk.rows(partial, &[]).await, [[None]]);
    assert_eq!(clerk.text(partial, &[]).await, "8");
}

#[tokio::test]
async fn records_without_key_never_conflict() {
    let (_database, _admin, clerk) = crm().await;
    let insert = "insert into crm.customers (name) values ('x'), ('y') on conflict (external_key) do nothing";
    clerk.run(insert).await;
    clerk.run(insert).await;
    assert_eq!(clerk.text("select count(*) from crm.customers", &[]).await, "4");
}

#[tokio::test]
async fn each_deletion_releases_the_key_and_each_restore_returns_it() {
    let (_database, admin, _clerk) = crm().await;
    for (delete, restore) in [
        ("update crm.customers set deleted_at = now()", "update crm.customers set deleted_at = null"),
        (
            "select keyed.delete_record(id) from crm.customers",
            "select keyed.restore_record(id) from crm.customers",
        ),
        ("update crm.customers set deleted_at = now()", "select keyed.restore_record(id) from crm.customers"),
        ("select keyed.delete_record(id) from crm.customers", "update crm.customers set deleted_at = null"),
    ] {
        admin.run("delete from crm.customers; insert into crm.customers (external_key, name) values (' A-1 ', 'Ada')").await;
        assert_eq!(keys(&admin).await, "Ada A-1 - live");
        admin.run(delete).await;
        assert_eq!(keys(&admin).await, "Ada - A-1 deleted", "{delete}");
        let shown = "select keyed.get_record(id, null, false, true) from crm.customers";
        assert_eq!(admin.json(shown, &[]).await["external_key"], "A-1");
        let verbose = "select keyed.get_record(id, null, true, true) from crm.customers";
        assert_eq!(admin.json(verbose, &[]).await["external_key"], "A-1");
        admin.run(restore).await;
        assert_eq!(keys(&admin).await, "Ada A-1 - live", "{restore}");
        let expected = json!([["create", "A-1", {}], ["delete", "A-1", {}], ["restore", "A-1", {}]]);
        assert_eq!(operations(&admin, "Ada").await, expected, "{delete}; {restore}");
    }
}

#[tokio::test]
async fn direct_restore_can_change_or_clear_the_key() {
    let (_database, admin, _clerk) = crm().await;
    for (restore, key, change) in [
        (
            "deleted_at = null, external_key = ' A-2 '",
            "A-2 -",
            json!({"external_key": {"old": "A-1", "new": "A-2"}}),
        ),
        (
            "deleted_at = null, _released_key = null",
            "- -",
            json!({"external_key": {"old": "A-1", "new": null}}),
        ),
    ] {
        admin.run("delete from crm.customers; insert into crm.customers (external_key, name) values ('A-1', 'Ada')").await;
        admin.run("update crm.customers set deleted_at = now()").await;
        admin.run("insert into crm.customers (external_key, name) values ('A-1', 'Bea')").await;
        let error = admin.error("update crm.customers set deleted_at = null where name = 'Ada'", &[]).await;
        assert_eq!(error.state, "23505");
        admin.run(&format!("update crm.customers set {restore} where name = 'Ada'")).await;
        assert_eq!(keys(&admin).await, format!("Ada {key} live, Bea A-1 - live"));
        assert_eq!(operations(&admin, "Ada").await[2][2], change);
    }
}

#[tokio::test]
async fn key_of_a_deleted_record_follows_the_same_rules() {
    let (_database, admin, _clerk) = crm().await;
    admin.run("insert into crm.customers (external_key, name) values ('A-1', 'Ada')").await;
    admin.run("update crm.customers set deleted_at = now(), external_key = ' A-2'").await;
    assert_eq!(keys(&admin).await, "Ada - A-2 deleted");
    admin.run("update crm.customers set external_key = 'A-3 '").await;
    assert_eq!(keys(&admin).await, "Ada - A-3 deleted");
    let error = admin.error("update crm.customers set external_key = ''", &[]).await;
    assert_eq!(error.codes(), ("22023", "invalid_external_key"));
    admin.run("update crm.customers set external_key = 'A-3', visits = null").await;
    assert_eq!(operations(&admin, "Ada").await.as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn live_record_cannot_have_a_released_key() {
    let (_database, admin, clerk) = crm().await;
    admin.run("insert into crm.customers (external_key) values ('A-1')").await;
    for session in [&admin, &clerk] {
        for statement in [
            "insert into crm.customers (_released_key) values ('A-2')",
            "update crm.customers set _released_key = 'A-2'",
            "update crm.customers set _released_key = 'A-2', deleted_at = now()",
        ] {
            let error = session.error(statement, &[]).await;
            let expected = (("22023", "invalid_value"), vec!["/_released_key"]);
            assert_eq!((error.codes(), error.pointers()), expected, "{statement}");
            assert!(error.hint.contains("external_key"), "{}", error.hint);
        }
    }
    clerk.run("insert into crm.customers (external_key, _released_key) values ('A-2', null)").await;
}

#[tokio::test]
async fn rows_of_an_older_dump_are_accepted() {
    let (_database, admin, _clerk) = crm().await;
    admin
        .run("insert into crm.customers (external_key, name, deleted_at) values ('A-1', 'Ada', now()), ('A-1', 'Bea', now()), ('A-1', 'Cleo', null)")
        .await;
    assert_eq!(keys(&admin).await, "Ada - A-1 deleted, Bea - A-1 deleted, Cleo A-1 - live");
}

/// Converts a table to the form before released keys had a column.
async fn make_old(admin: &Session) {
    // The triggers would immediately move the keys.
    admin
        .run(
            "set session_replication_role = replica; \
             drop index crm.customers_external_key_idx, crm.companies_external_key_idx; \
             update crm.customers set external_key = _released_key where deleted_at is not null; \
             do $$ begin execute (select coalesce(string_agg(format('alter policy %I on %s with check (%s)', polname, polrelid::regclass, \
               replace(pg_get_expr(polwithcheck, polrelid), '_released_key', 'external_key')), '; '), 'select') from pg_policy \
               where pg_get_expr(polwithcheck, polrelid) like '%_released_key%'); end $$; \
             alter table crm.customers drop column _released_key; alter table crm.companies drop column _released_key; \
             create unique index on crm.customers (external_key) where deleted_at is null and external_key is not null; \
             create unique index on crm.companies (external_key) where deleted_at is null and external_key is not null; \
             delete from keyed_state.version where number = 18; reset session_replication_role",
        )
        .await;
}

#[tokio::test]
async fn migration_moves_released_keys_without_a_trace() {
    let (database, admin, clerk) = crm().await;
    let role = database.create_role("scoped").await;
    let scope = json!({"field": "external_key", "operator": "like", "value": "A-"});
    database.grant_within(&role, "crm.customers", "read, delete", &scope).await;
    let filter = r#"{"filters": [{"field": "external_key", "operator": "like", "value": "A-"}]}"#;
    admin.rows("select keyed.save_view('crm.customers', 'a', $1)", &[filter]).await;
    admin.run("create view public.everything as select * from crm.customers; grant update (name) on crm.customers to keyed_proxy").await;
    admin.run("insert into crm.customers (external_key, name) values ('A-1', 'Ada'), ('B-1', 'Bea'), (null, 'Cleo'), ('A-4', 'Dora')").await;
    admin.run("update crm.customers set deleted_at = now() where name in ('Ada', 'Cleo')").await;
    admin.run("insert into crm.customers (external_key, name) values ('A-1', 'Ada II')").await;
    let shown = "select string_agg(keyed.get_record(id, null, false, true)::text, ',' order by id) from crm.customers";
    let entries = &format!("select string_agg(h::text, ',' order by record_id, version) from {HISTORY} h");
    let before = [admin.text(shown, &[]).await, admin.text(entries, &[]).await];
    admin.run("drop view public.everything").await;
    make_old(&admin).await;
    admin.run("create view public.everything as select * from crm.customers").await;
    assert_eq!(admin.text("select keyed.pending_migrations()", &[]).await, "{18}");
    // Until then, reads work, and writes fail with a clear error.
    assert_eq!(
        clerk.json("select keyed.get_by_key('crm.customers', 'A-4')", &[]).await["external_key"],
        "A-4"
    );
    let error = clerk.error("update crm.customers set name = 'x'", &[]).await;
    assert!(error.hint.contains("keyed.migrate()"), "{error} {}", error.hint);
    admin.run("select keyed.migrate()").await;
    assert_eq!([admin.text(shown, &[]).await, admin.text(entries, &[]).await], before);
    assert_eq!(
        keys(&admin).await,
        "Ada - A-1 deleted, Ada II A-1 - live, Bea B-1 - live, Cleo - - deleted, Dora A-4 - live"
    );
    clerk.run("insert into crm.customers (external_key, name) values ('A-1', 'x') on conflict (external_key) do update set name = 'Ada III'").await;
    clerk.run("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"visits\": 2}')").await;
    let one = clerk.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await;
    assert_eq!((&one["attributes"]["name"], &one["attributes"]["visits"]), (&json!("Ada III"), &json!(2)));
    // The deletion policy reads the key in its new column, and no privilege has been restored.
    let scoped = database.session_as(&role).await;
    assert_eq!(
        scoped
            .count("update crm.customers set deleted_at = now() where external_key = 'A-4'", &[])
            .await
            .ok(),
        Some(1)
    );
    assert_eq!(admin.text("select string_agg(external_key, ' ') from crm.customers__a", &[]).await, "A-1");
    assert_eq!(admin.text("select count(*) from public.everything", &[]).await, "5");
    let comment = "select col_description('crm.customers'::regclass, attnum) is not null from pg_attribute \
                   where attrelid = 'crm.customers'::regclass and attname = '_released_key'";
    assert_eq!(admin.text(comment, &[]).await, "t");
    admin.run("select keyed.restore_record(id, '{\"external_key\": \"A-9\"}') from crm.customers where name = 'Ada'").await;
    admin.run("select keyed.add_attribute('crm.customers', '{\"slug\": \"later\", \"type\": \"string\"}'), keyed.migrate()").await;
    admin.run("select keyed.upsert_by_key('crm.customers', 'A-9', '{\"later\": \"x\"}')").await;
}

#[tokio::test]
async fn migration_waits_for_readers_or_changes_nothing() {
    let (database, admin, clerk) = crm().await;
    let observer = database.session().await;
    admin.run("insert into crm.customers (external_key, name) values ('A-1', 'Ada')").await;
    admin.run("update crm.customers set deleted_at = now()").await;
    make_old(&admin).await;
    admin.run("begin; select keyed.migrate(); rollback").await;
    assert_eq!(admin.text("select keyed.pending_migrations()", &[]).await, "{18}");
    assert_eq!(admin.text("select external_key from crm.customers", &[]).await, "A-1");
    let migration = admin.attempt("select keyed.migrate()", &[]);
    clerk.run("begin; select count(*) from crm.customers").await;
    let (migrated, ()) = tokio::join!(migration, async {
        observer.until_blocked(1).await;
        clerk.run("commit").await;
    });
    assert!(migrated.is_ok(), "{migrated:?}");
    assert_eq!(keys(&admin).await, "Ada - A-1 deleted");
}
