//! Rules that every object of keyed follows, whatever is defined and granted.

use crate::sales::{Sales, of_region};
use harness::customers::HISTORY;
use serde_json::json;

/// A database with objects of every kind that create policies and functions.
async fn with_grants() -> Sales {
    let sales = Sales::new().await;
    let behind = json!([{"field": "company.region", "operator": "eq", "value": "EU"},
                        {"field": "company", "operator": "neq", "value": {"external_key": "C-US"}}]);
    let (role, _) = sales.clerk("read, create, update, delete", &behind).await;
    let standard = json!({"field": "created_at", "operator": "not-empty"});
    sales.database.grant_within(&role, "crm", "read, delete", &standard).await;
    let (other, _) = sales.clerk("read, update", &of_region("EU")).await;
    sales.database.grant(&other, "crm", "define").await;
    sales.admin.run("select keyed.create_template('crm', 'tree', '[{\"slug\": \"up\", \"type\": \"reference\", \"template\": \"tree\"}, {\"slug\": \"n\", \"type\": \"metric\"}]')").await;
    let view = json!({"filters": [behind[0]], "sort": "company"}).to_string();
    sales.admin.rows("select keyed.save_view('crm.customers', 'european', $1)", &[&view]).await;
    let endpoint = json!({"slug": "shop", "external_key": "$.id"}).to_string();
    sales.admin.rows("select keyed.create_inbound_endpoint('crm.customers', $1)", &[&endpoint]).await;
    sales.admin.run("select keyed.create_project('other'); select keyed.create_template('other', 'things', '[{\"slug\": \"a\", \"type\": \"string\"}]')").await;
    sales
}

const OURS: &str = "('keyed', 'keyed_http', 'keyed_state', 'keyed_scope', 'crm', 'other')";

/// Each rule, and a query that finds its violations.
fn rules() -> [(&'static str, String); 14] {
    [
        (
            "a table has row-level security",
            format!("select c.oid::regclass from pg_class c where c.relnamespace::regnamespace::text in {OURS}
                     and c.relkind in ('r', 'p') and not c.relrowsecurity"),
        ),
        (
            "row-level security without a policy for administrators",
            format!("select c.oid::regclass from pg_class c where c.relnamespace::regnamespace::text in {OURS}
                     and c.relkind in ('r', 'p') and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'keyed_admin')"),
        ),
        (
            "a view asks with the rights of its reader",
            format!("select c.oid::regclass from pg_class c where c.relnamespace::regnamespace::text in {OURS} and c.relkind in ('v', 'm')
                     and not coalesce('security_invoker=true' = any (c.reloptions), false)"),
        ),
        (
            "no table is a part of another",
            format!("select i.inhrelid::regclass from pg_inherits i join pg_class c on c.oid = i.inhrelid
                     where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text in {OURS}"),
        ),
        (
            "a function with its owner's rights has a pinned path, and not everybody may call it",
            format!("select p.oid::regprocedure from pg_proc p where p.pronamespace::regnamespace::text in {OURS} and p.prosecdef
                     and (not coalesce(p.proconfig::text ~ 'search_path=pg_catalog, pg_temp', false)
                          or exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0))"),
        ),
        (
            "a function that asks who is asking is neither immutable nor run by workers",
            "select p.oid::regprocedure from pg_proc p where p.pronamespace::regnamespace::text in ('keyed', 'keyed_http')
             and p.provolatile = 'i' and p.proname <> 'normalize_key'
             -- A function that only an index can call does not ask for the role.
             and not 'internal'::regtype = any (p.proargtypes)".to_owned(),
        ),
        (
            "a policy calls functions of ours that are stable",
            "select p.polname, f.oid::regprocedure from pg_policy p join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid
               and d.refclassid = 'pg_proc'::regclass join pg_proc f on f.oid = d.refobjid
             where f.pronamespace::regnamespace::text like 'keyed%' and f.provolatile <> 's'".to_owned(),
        ),
        (
            "a function of a policy is called once, within SELECT, or asks only for its grant",
            "select p.polname, e from pg_policy p, lateral (values (pg_get_expr(p.polqual, p.polrelid)), (pg_get_expr(p.polwithcheck, p.polrelid))) v (e)
             where regexp_replace(e, '(SELECT +keyed_scope\\.\\w+\\(\\)|keyed\\.is_being_deleted\\(id\\)|keyed\\.is_granted\\(\\d+\\))', '', 'g') ~ 'keyed\\w*\\.\\w+\\('".to_owned(),
        ),
        (
            "what a policy looks up elsewhere it looks up by a function",
            "select p.polname, p.polrelid::regclass from pg_policy p where p.polname like 'keyed\\_%' and p.polname not in ('keyed_admin', 'keyed_record')
             and exists (select from pg_depend d where d.classid = 'pg_policy'::regclass and d.objid = p.oid
                         and d.refclassid = 'pg_class'::regclass and d.refobjid <> p.polrelid)".to_owned(),
        ),
        (
            "a policy of a grant is to its role alone",
            "select p.polname, p.polrelid::regclass from pg_policy p where p.polname ~ '^keyed_(read|create|update|delete)_'
             and (p.polroles = '{0}' or not p.polpermissive)".to_owned(),
        ),
        (
            "a policy of a grant ends with its grant",
            "select p.polname, e from pg_policy p, lateral (values (pg_get_expr(p.polqual, p.polrelid)), (pg_get_expr(p.polwithcheck, p.polrelid))) v (e)
             where p.polname ~ '^keyed_(read|create|update|delete)_[0-9]+$' and e is not null
             and not starts_with(e, format('(keyed.is_granted(%s) AND ', substring(p.polname from '[0-9]+$')))".to_owned(),
        ),
        (
            "everything belongs to keyed_owner",
            format!("select c.oid::regclass::text from pg_class c where c.relnamespace::regnamespace::text in {OURS}
                       and c.relowner <> 'keyed_owner'::regrole and c.relkind not in ('c', 'i')
                       -- The views of the extension belong to who installed it.
                       and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
                     union all select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'keyed_scope'::regnamespace
                       and p.proowner <> 'keyed_owner'::regrole
                     union all select n.nspname from pg_namespace n where n.nspname in ('crm', 'other', 'keyed_state', 'keyed_scope')
                       and n.nspowner <> 'keyed_owner'::regrole"),
        ),
        (
            "nothing of the state is everybody's",
            "select c.oid::regclass::text from pg_class c, aclexplode(c.relacl) a
               where a.grantee = 0 and c.relnamespace::regnamespace::text in ('keyed_state', 'keyed_scope', 'crm', 'other')
             union all select n.nspname from pg_namespace n, aclexplode(n.nspacl) a
               where a.grantee = 0 and n.nspname in ('keyed_state', 'keyed_scope', 'crm', 'other')
             union all select p.oid::regprocedure::text from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
               where a.grantee = 0 and p.pronamespace::regnamespace::text in ('keyed_state', 'keyed_scope')".to_owned(),
        ),
        (
            "keyed_owner may not log in and has no members",
            "select rolname from pg_roles where rolname = 'keyed_owner' and (rolcanlogin or rolsuper or rolbypassrls or rolcreaterole)
             union all select member::regrole::name from pg_auth_members where roleid = 'keyed_owner'::regrole".to_owned(),
        ),
    ]
}

#[tokio::test]
async fn objects_follow_the_safety_rules() {
    let sales = with_grants().await;
    for (rule, query) in rules() {
        let broken = sales.admin.rows(&query, &[]).await;
        assert!(broken.is_empty(), "{rule}: {broken:?}");
    }
}

#[tokio::test]
async fn safety_rules_detect_violations() {
    let sales = with_grants().await;
    // Never committed, because all databases of the server share its roles.
    sales
        .admin
        .run(
            "begin;
             create table crm.bare (); create view crm.loose as select 1; create table crm.part () inherits (crm.bare);
             create function keyed_scope.loose() returns int language sql security definer as 'select 1';
             create function keyed.who() returns name language sql immutable as 'select current_user';
             grant execute on function keyed.who() to public;
             create policy keyed_read_99 on crm.customers for select using (keyed.who() = name and exists (select from crm.bare));
             create role keeper_of_lint; grant keyed_owner to keeper_of_lint",
        )
        .await;
    for (rule, query) in rules() {
        assert!(!sales.admin.rows(&query, &[]).await.is_empty(), "a violation is not detected: {rule}");
    }
    sales.admin.run("rollback").await;
}

#[tokio::test]
async fn grant_adds_no_further_privilege() {
    let sales = with_grants().await;
    let (role, session) = sales.member().await;
    sales.database.grant_within(&role, "crm.customers", "read", &of_region("EU")).await;
    let held = "select string_agg(distinct a.privilege_type, ' ') from pg_class c, aclexplode(c.relacl) a where a.grantee = $1::regrole and c.oid = 'crm.customers'::regclass";
    assert_eq!(sales.admin.text(held, &[&role]).await, "SELECT");
    for table in ["crm.companies", "crm.tree", "other.things", HISTORY] {
        let error = session.error(&format!("select from {table}"), &[]).await;
        assert_eq!(error.state, "42501", "{table}");
    }
    sales.database.revoke(&role, "crm.customers").await;
    let left = "select count(*) from pg_shdepend where refobjid = $1::regrole and dbid <> 0";
    assert_eq!(sales.admin.text(left, &[&role]).await, "0", "no object depends on a role without grants");
}
