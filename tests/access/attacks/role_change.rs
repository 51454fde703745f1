//! A role change during a statement never mixes the privileges of two roles.

use crate::sales::{Sales, of_region};
use harness::Session;
use serde_json::json;

/// Sets the role from within a statement: at run time, and during planning.
const SWITCH: &str = "
    create function pg_temp.late(name text) returns boolean language sql volatile as
      $$ select pg_catalog.set_config('role', name, true) is not null $$;
    create function pg_temp.early(name text) returns boolean language plpgsql immutable as
      $$ begin return pg_catalog.set_config('role', name, true) is not null; end $$";

/// A session with three roles: the first reads all of Europe, the second one customer of the US, and the third nothing.
async fn member_of_three(sales: &Sales) -> (Session, [String; 3]) {
    let (login, session) = sales.member().await;
    let session_login = session.text("select current_user", &[]).await;
    sales.database.grant_within(&login, "crm.customers", "read", &of_region("EU")).await;
    sales.database.grant(&login, "crm.customers", "update").await;
    let one = sales.database.create_role("one").await;
    let key = json!({"field": "external_key", "operator": "eq", "value": "US-2"});
    sales.database.grant_within(&one, "crm.customers", "read, update, create", &key).await;
    let none = sales.database.create_role("none").await;
    sales.admin.run(&format!("grant {one}, {none} to {session_login}")).await;
    session.run(SWITCH).await;
    (session, [session_login, one, none])
}

#[tokio::test]
async fn role_change_within_an_update_exposes_no_other_row() {
    let sales = Sales::new().await;
    let (session, roles) = member_of_three(&sales).await;
    for role in &roles[1..] {
        for switch in ["late", "early"] {
            for condition in ["external_key = 'US-1'", "true", "deleted_at is null"] {
                // Without a filter, the statement reads nothing, so no read policy applies.
                for update in ["name = 'stolen'", "region = 'EU', name = 'stolen'", "deleted_at = now()"] {
                    let attack = format!(
                        "begin; update crm.customers set {update} where pg_temp.{switch}('{role}') and {condition}; commit"
                    );
                    let _ = session.attempt(&attack, &[]).await;
                    let _ = session.attempt("rollback", &[]).await;
                    let stolen = "select count(*) from crm.customers where name = 'stolen' \
                                  and external_key is distinct from 'US-2' or deleted_at is not null and _released_key not like '%-0'";
                    assert_eq!(sales.admin.text(stolen, &[]).await, "0", "{attack}");
                }
            }
        }
    }
}

#[tokio::test]
async fn policy_of_another_role_does_not_allow_writes() {
    let sales = Sales::new().await;
    let (session, roles) = member_of_three(&sales).await;
    let none = &roles[2];
    let switch = format!("pg_catalog.set_config('role', '{none}', true) is not null");
    let error = session
        .error(
            &format!("begin; update crm.customers set name = 'x' where external_key = 'EU-1' and {switch}"),
            &[],
        )
        .await;
    assert_eq!(error.state, "42501", "{error}");
    session.run("rollback").await;
    // A policy and privileges created directly do not count as a grant either.
    sales
        .admin
        .run(&format!(
            "grant select, insert, update on crm.customers to {none}; grant usage on schema crm to {none};
             create policy by_hand on crm.customers to {none} using (true) with check (true)"
        ))
        .await;
    session.run(&format!("set role {none}")).await;
    for attack in
        ["update crm.customers set name = 'x'", "insert into crm.customers (external_key) values ('new')"]
    {
        let error = session.error(attack, &[]).await;
        assert_eq!(error.state, "42501", "{attack}: {error}");
    }
}

#[tokio::test]
async fn insert_uses_the_privileges_of_the_writing_role() {
    let sales = Sales::new().await;
    let (session, roles) = member_of_three(&sales).await;
    let create = sales.database.create_role("maker").await;
    sales.database.grant_within(&create, "crm.customers", "create", &of_region("EU")).await;
    sales.admin.run(&format!("grant {create} to {}", roles[0])).await;
    for role in &roles[1..] {
        let attack = format!(
            "begin; set local role {create}; \
             insert into crm.customers (external_key, region) select 'NEW', 'EU' where pg_temp.late('{role}')"
        );
        let error = session.error(&attack, &[]).await;
        assert_eq!(error.state, "42501", "{attack}: {error}");
        session.run("rollback").await;
    }
    session
        .run(&format!(
            "set role {create}; insert into crm.customers (external_key, region) values ('NEW', 'EU')"
        ))
        .await;
}
