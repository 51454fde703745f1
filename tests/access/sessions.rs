//! What a session remembers of rights and keys is never older than what it has been told.

use crate::sales::{Sales, of_region, seen};
use std::time::Duration;

#[tokio::test]
async fn a_membership_that_ends_while_rights_are_read_does_not_count_afterwards() {
    let sales = Sales::new().await;
    let behind = serde_json::json!({"field": "company.region", "operator": "eq", "value": "EU"});
    let (european, _) = sales.clerk("read", &behind).await;
    let (american, _) = sales.clerk("read", &of_region("US")).await;
    let login = sales.database.create_role("both").await;
    sales.admin.run(&format!("grant {european}, {american} to {login}")).await;
    let session = sales.database.session_as(&login).await;
    // The scope behind a reference waits for the companies, when memberships have been read already.
    let blocker = sales.database.session().await;
    blocker.run("begin; lock table crm.companies in access exclusive mode").await;
    let count = "select keyed.search('crm.customers', '{\"count\": \"exact\"}') ->> 'total'";
    let (first, ()) = tokio::join!(session.text(count, &[]), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        sales.admin.run(&format!("revoke {american} from {login}")).await;
        blocker.run("commit").await;
    });
    assert!(["2", "4"].contains(&first.as_str()), "{first}");
    assert_eq!(session.text(count, &[]).await, "2");
    assert_eq!(seen(&session).await, "EU-1 EU-2");
}

#[tokio::test]
async fn a_key_revoked_during_a_fixed_snapshot_is_refused_after_it() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("read", &of_region("EU")).await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    let session = sales.database.session_as("keyed_proxy").await;
    let authenticate = "select keyed.authenticate(sha256(convert_to($1, 'UTF8')))";
    session.run("begin isolation level repeatable read; select count(*) from pg_class where oid = 0").await;
    sales.admin.run("select keyed.revoke_api_key(1)").await;
    session.rows(authenticate, &[&key]).await;
    session.run("commit").await;
    assert_eq!(session.refusal(authenticate, &[&key]).await.is(), ("28000", "unauthorized"));
}

#[tokio::test]
async fn a_key_follows_its_role_through_a_change_of_name_and_ends_with_it() {
    let sales = Sales::new().await;
    let role = format!("renamed_{}", sales.database.name());
    sales.admin.run(&format!("create role {role}")).await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    let session = sales.database.session_as("keyed_proxy").await;
    let authenticate = "select keyed.authenticate(sha256(convert_to($1, 'UTF8')))";
    sales.admin.run(&format!("alter role {role} rename to {role}_2")).await;
    session.rows(authenticate, &[&key]).await;
    let listed = "select role from keyed.list_api_keys()";
    assert_eq!(sales.admin.text(listed, &[]).await, format!("{role}_2"));
    sales.admin.run(&format!("drop role {role}_2; create role {role}")).await;
    assert_eq!(session.refusal(authenticate, &[&key]).await.is(), ("28000", "unauthorized"));
    sales.admin.run(&format!("drop role {role}")).await;
}
