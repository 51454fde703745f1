//! Plain SQL on record tables, under policies.

use crate::sales::{Sales, of_region, seen, selected};
use harness::customers::SERIES;
use serde_json::json;

#[tokio::test]
async fn live_records_of_the_scope_are_read_and_written() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    session.run("insert into crm.customers (external_key, region) values (' EU-3 ', 'EU')").await;
    session.run("update crm.customers set name = 'x'").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 EU-3");
    let changed =
        "select string_agg(external_key, ' ' order by external_key) from crm.customers where name = 'x'";
    assert_eq!(sales.admin.text(changed, &[]).await, "EU-1 EU-2 EU-3");
}

#[tokio::test]
async fn records_cannot_cross_the_scope() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let before = sales.state().await;
    for statement in [
        "insert into crm.customers (region) values ('US')",
        "insert into crm.customers (name) values ('nowhere')",
        "insert into crm.customers (external_key, region) values ('new', 'US') on conflict do nothing",
        "update crm.customers set region = 'US' where external_key = 'EU-1'",
        "update crm.customers set region = null",
        "update crm.customers set region = 'US', deleted_at = now() where external_key = 'EU-1'",
        "insert into crm.customers (external_key, region) values ('US-1', 'EU')
           on conflict (external_key) where deleted_at is null and external_key is not null do update set name = 'x'",
        "insert into crm.customers (external_key, region) values ('EU-1', 'EU')
           on conflict (external_key) where deleted_at is null and external_key is not null do update set region = 'US'",
        "merge into crm.customers c using (values ('EU-1')) v (k) on c.external_key = v.k when matched then update set region = 'US'",
        "merge into crm.customers c using (values ('US-1')) v (k) on c.external_key = v.k when not matched then insert (region) values ('US')",
    ] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.state, "42501", "{statement}: {error}");
    }
    for statement in [
        "update crm.customers set region = 'EU' where external_key = 'US-1' returning id",
        "update crm.customers set deleted_at = null where _released_key = 'EU-0' returning id",
        "update crm.customers set deleted_at = now() where region = 'US' returning id",
        "select id from crm.customers where external_key like 'US%' for update",
        "insert into crm.customers (external_key, region) values ('US-1', 'EU') on conflict do nothing returning id",
    ] {
        assert!(session.rows(statement, &[]).await.is_empty(), "{statement}");
    }
    assert_eq!(sales.state().await, before);
}

#[tokio::test]
async fn scope_on_updated_at_checks_the_new_row() {
    let sales = Sales::new().await;
    let before = sales.admin.text("select to_jsonb(clock_timestamp()) #>> '{}'", &[]).await;
    let changed = |operator| json!({"field": "updated_at", "operator": operator, "value": before});
    let within = |operator| json!({"or": [of_region("EU"), changed(operator)]});
    let leave = "update crm.customers set region = 'US' where external_key = 'EU-1'";
    for (operator, is_allowed) in [("gt", true), ("lt", false)] {
        let (_, session) = sales.clerk("read, update", &within(operator)).await;
        let id = sales.id("EU-1").await;
        let patch = format!(r#"select keyed.patch_record('{id}', '{{"attributes": {{"region": "US"}}}}')"#);
        for statement in [leave, &patch] {
            session.run("begin").await;
            let state = session.attempt(statement, &[]).await.err().map(|error| error.state);
            session.run("rollback").await;
            assert_eq!(state.as_deref(), (!is_allowed).then_some("42501"), "{operator}: {statement}");
        }
    }
}

#[tokio::test]
async fn direct_deletion_works_in_the_scope() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    session.run("update crm.customers set deleted_at = now() where external_key = 'EU-1'").await;
    assert_eq!(seen(&session).await, "EU-2");
    session.run("begin; update crm.customers set deleted_at = '2001-01-01' where true").await;
    assert_eq!(selected(&session).await, "", "nor in the deleting transaction");
    session.run("commit").await;
    let left = "select string_agg(external_key, ' ' order by external_key) from crm.customers where deleted_at is null";
    assert_eq!(sales.admin.text(left, &[]).await, "US-1 US-2");
    let when = "select bool_and(deleted_at > now() - interval '1 hour') from crm.customers where _released_key = 'EU-2'";
    assert_eq!(sales.admin.text(when, &[]).await, "t", "the caller cannot choose the time of a deletion");
}

#[tokio::test]
async fn delete_privilege_alone_allows_deletion_in_the_scope() {
    let sales = Sales::new().await;
    let (_, session) = sales.clerk("read, delete", &of_region("EU")).await;
    session.run("update crm.customers set deleted_at = now() where external_key in ('EU-1', 'US-1')").await;
    let error = session.error("update crm.customers set name = 'x' where external_key = 'EU-2'", &[]).await;
    assert_eq!(error.state, "42501");
    assert_eq!(seen(&session).await, "EU-2");
    let left = "select string_agg(external_key, ' ' order by external_key) from crm.customers where deleted_at is null";
    assert_eq!(sales.admin.text(left, &[]).await, "EU-2 US-1 US-2");
}

#[tokio::test]
async fn rows_cannot_be_removed() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let before = sales.state().await;
    for statement in ["delete from crm.customers", "delete from crm.customers where external_key = 'US-1'"] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{statement}");
        assert!(error.hint.contains("deleted_at"), "{}", error.hint);
    }
    assert_eq!(session.error("truncate crm.customers", &[]).await.state, "42501");
    assert_eq!(sales.state().await, before);
}

/// Permissive policies are combined with OR: a policy that allows a role to restore a record must not allow it to
/// delete one.
#[tokio::test]
async fn update_and_delete_scopes_are_separate() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("update", &of_region("EU")).await;
    sales.database.grant_within(&role, "crm.customers", "delete", &of_region("US")).await;
    sales.database.grant(&role, "crm.customers", "read").await;
    let before = sales.state().await;
    for statement in [
        // A record that the role may only delete cannot be updated by moving it into the update scope.
        "update crm.customers set region = 'EU', name = 'stolen' where external_key = 'US-1'",
        "update crm.customers set region = 'EU'",
        // A record that the role may only update cannot be deleted by moving it into the delete scope.
        "update crm.customers set region = 'US', deleted_at = now() where external_key = 'EU-1'",
        "update crm.customers set name = 'x' where external_key = 'US-1'",
        "update crm.customers set deleted_at = now() where external_key = 'EU-1'",
        // Nor can it be updated in the same statement that deletes it.
        "update crm.customers set name = 'stolen', deleted_at = now() where external_key = 'US-1'",
        "insert into crm.customers (external_key, region) values ('US-1', 'EU')
           on conflict (external_key) where deleted_at is null and external_key is not null do update set region = 'EU'",
    ] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.state, "42501", "{statement}: {error}");
    }
    assert_eq!(sales.state().await, before);
    session.run("update crm.customers set name = 'x' where external_key = 'EU-1'").await;
    session.run("update crm.customers set deleted_at = now() where external_key = 'US-1'").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-2");
}

#[tokio::test]
async fn functions_and_sql_read_the_same_writes() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    session.run("begin; insert into crm.customers (external_key, region) values ('EU-5', 'EU')").await;
    session.rows("select keyed.upsert_by_key('crm.customers', 'EU-6', '{\"region\": \"EU\"}')", &[]).await;
    session.rows("select keyed_http.delete_by_key('2', 'EU-1')", &[]).await;
    assert_eq!(seen(&session).await, "EU-2 EU-5 EU-6");
    session.run("rollback").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
}

#[tokio::test]
async fn blind_update_writes_only_visible_records() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    sales.database.grant(&role, "crm.customers", "update, delete").await;
    session.run("update crm.customers set name = 'x'").await;
    session.run("update crm.customers set deleted_at = now()").await;
    let american = "select string_agg(external_key || ' ' || name, ', ' order by external_key)
                    from crm.customers where deleted_at is null";
    assert_eq!(sales.admin.text(american, &[]).await, "US-1 Customer US-1, US-2 Customer US-2");
}

#[tokio::test]
async fn user_trigger_writes_another_template_like_plain_sql() {
    let sales = Sales::new().await;
    sales
        .admin
        .run(
            "create function public.cheer() returns trigger language plpgsql as $$ begin
               update crm.customers set mood = 7 where company = new.id and deleted_at is null; return null; end $$;
             create trigger cheer after update on crm.companies for each row execute function public.cheer();
             create function public.refer() returns trigger language plpgsql as $$ begin
               update crm.customers set company = '00000000-0000-8000-8000-000000000000' where company = new.id; return null; end $$",
        )
        .await;
    let points = &format!("select count(*) from {SERIES} where value = 7");
    // By a function of keyed, as by a plain statement: the metric's points are written with its column.
    for (write, expected) in [
        ("select keyed.upsert_by_key('crm.companies', 'C-EU', '{\"name\": \"Acme 2\"}')", "2"),
        ("update crm.companies set name = 'Globex 2' where external_key = 'C-US'", "4"),
    ] {
        sales.admin.run(write).await;
        assert_eq!(sales.admin.text(points, &[]).await, expected, "{write}");
    }
    let moods = "select string_agg(distinct mood::text, ' ') from crm.customers where deleted_at is null";
    assert_eq!(sales.admin.text(moods, &[]).await, "7");
    sales
        .admin
        .run(
            "create trigger refer after update on crm.companies for each row execute function public.refer()",
        )
        .await;
    let error = sales
        .admin
        .error("select keyed.upsert_by_key('crm.companies', 'C-EU', '{\"name\": \"Acme 3\"}')", &[])
        .await;
    assert_eq!(error.state, "23503", "{error}");
}
