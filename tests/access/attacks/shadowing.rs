//! Objects with the names of keyed's objects, created in schemas of the search path.

use crate::sales::{Sales, found, seen};
use serde_json::json;

const PLANTED: &str = "
    create temp table customers (id uuid, external_key text, region text, deleted_at timestamptz);
    create temp table companies (id uuid, region text, deleted_at timestamptz);
    create temp table access_grant (role regrole, scope jsonb); create temp table template (id int);
    create temp view pg_class as select * from pg_catalog.pg_class where false;
    create temp view pg_auth_members as select * from pg_catalog.pg_auth_members where false;
    create function evil.yes(text, text) returns boolean language sql immutable as 'select true';
    create function evil.yes(uuid, uuid) returns boolean language sql immutable as 'select true';
    create function evil.yes(text, text[]) returns boolean language sql immutable as 'select true';
    create operator evil.= (leftarg = text, rightarg = text, function = evil.yes);
    create operator evil.= (leftarg = uuid, rightarg = uuid, function = evil.yes);
    create function evil.now() returns timestamptz language sql as 'select ''infinity''::timestamptz';
    create function evil.left(text, integer) returns text language sql immutable as 'select ''EU''';
    create function evil.is_being_deleted(uuid) returns boolean language sql as 'select true';
    create function evil.pg_has_role(oid, oid, text) returns boolean language sql as 'select true';
    create function evil.pg_has_role(name, oid, text) returns boolean language sql as 'select true';
    create function evil.current_user() returns name language sql as 'select ''postgres''::name';
    create domain evil.text as pg_catalog.text; create domain evil.uuid as pg_catalog.uuid;
    create function evil.cast_it(evil.text) returns boolean language sql as 'select true'";

#[tokio::test]
async fn objects_with_shadowing_names_disclose_no_row() {
    let sales = Sales::new().await;
    sales.admin.run("create schema evil; grant all on schema evil to public").await;
    let scope = json!([{"field": "region", "operator": "eq", "value": "EU"},
                       {"field": "company.region", "operator": "eq", "value": "EU"},
                       {"field": "company", "operator": "eq", "value": {"external_key": "C-EU"}},
                       {"field": "created_at", "operator": "today"}]);
    let (role, session) = sales.clerk("read, update, delete", &scope).await;
    sales.database.grant(&role, "crm.companies", "read").await;
    session.run(PLANTED).await;
    for path in
        ["pg_temp, evil, pg_catalog", "evil, pg_temp, pg_catalog", "evil", "pg_temp", "\"$user\", public"]
    {
        session.run(&format!("set search_path = {path}")).await;
        let text = "select pg_catalog.string_agg(external_key, ' ' order by external_key) from crm.customers";
        assert_eq!(session.text(text, &[]).await, "EU-1 EU-2", "{path}");
        assert_eq!(found(&session, json!({"global_search": "customer"})).await, "EU-1 EU-2", "{path}");
        let hidden = sales.id("US-1").await;
        let error = session.error("select keyed.get_record($1)", &[&hidden]).await;
        assert_eq!(error.codes(), ("P0002", "not_found"), "{path}");
        session.run("begin; update crm.customers set name = 'x'; rollback").await;
    }
    // An administrator with a writable schema in the search path grants as intended.
    sales.admin.run("set search_path = evil, public").await;
    let (other, session) = sales.member().await;
    sales.database.grant_within(&other, "crm.customers", "read", &scope).await;
    sales
        .admin
        .rows("select keyed.grant_access($1, 'crm.customers', '{read}', $2)", &[&other, &scope.to_string()])
        .await;
    sales.admin.run("reset search_path").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
}

#[tokio::test]
async fn views_and_functions_run_with_the_privileges_of_their_owner() {
    let sales = Sales::new().await;
    sales.admin.run("create schema evil; grant all on schema evil to public").await;
    let session = sales.european("read, update").await;
    session
        .run(
            "create view evil.v as select * from crm.customers;
             create materialized view evil.m as select * from crm.customers;
             create function evil.f() returns setof crm.customers language sql security definer as 'select * from crm.customers';
             create table evil.t as select * from crm.customers",
        )
        .await;
    for source in ["evil.v", "evil.m", "evil.f()", "evil.t"] {
        let keys = format!("select string_agg(external_key, ' ' order by external_key) from {source}");
        assert_eq!(session.text(&keys, &[]).await, "EU-1 EU-2", "{source}");
    }
    session.run("update evil.v set name = 'x'").await;
    let changed =
        "select string_agg(external_key, ' ' order by external_key) from crm.customers where name = 'x'";
    assert_eq!(sales.admin.text(changed, &[]).await, "EU-1 EU-2");
}

/// Operators that return true for any operands.
const EQUAL: &str = "
    create function evil.yes(text, text) returns boolean language sql immutable as 'select true';
    create function evil.yes(smallint, integer) returns boolean language sql immutable as 'select true';
    create function evil.yes(oid, oid) returns boolean language sql immutable as 'select true';
    create operator evil.= (leftarg = text, rightarg = text, function = evil.yes);
    create operator evil.= (leftarg = smallint, rightarg = integer, function = evil.yes);
    create operator evil.= (leftarg = oid, rightarg = oid, function = evil.yes)";

#[tokio::test]
async fn waiting_ddl_does_not_cancel_other_sessions() {
    let sales = Sales::new().await;
    sales.admin.run("create schema evil; grant all on schema evil to public").await;
    let (role, session) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "define").await;
    session.run(EQUAL).await;
    let reader = sales.database.session().await;
    reader.run("begin; table crm.customers").await;
    sales.admin.run("select pg_advisory_lock(1)").await;
    let victim = sales.database.session().await;
    victim.run("begin; table crm.companies").await;
    let waiting =
        tokio::spawn(async move { victim.attempt("select pg_advisory_lock(1)", &[]).await.is_ok() });
    let blocked = "select count(*) from pg_locks where locktype = 'advisory' and not granted \
                   and database = (select oid from pg_database where datname = current_database())";
    sales.admin.until(blocked, "1").await;
    session.run("set search_path = evil, pg_catalog; set lock_timeout = '1s'").await;
    for dry_run in [false, true] {
        let change = format!(
            "select keyed.alter_template('crm.customers', '{{\"label\": \"x\"}}', dry_run => {dry_run})"
        );
        assert_eq!(session.error(&change, &[]).await.state, "55P03");
    }
    assert!(!waiting.is_finished());
    sales.admin.run("select pg_advisory_unlock(1)").await;
    assert!(waiting.await.expect("the task completes"), "the other session's statement was canceled");
}
