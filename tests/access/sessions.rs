//! Cached privileges and keys of a session are never older than its last invalidation.

use crate::sales::{Sales, of_region, seen};

#[tokio::test]
async fn membership_revoked_during_a_read_is_not_cached() {
    let sales = Sales::new().await;
    let behind = serde_json::json!({"field": "company.region", "operator": "eq", "value": "EU"});
    let (european, _) = sales.clerk("read", &behind).await;
    let (american, _) = sales.clerk("read", &of_region("US")).await;
    let login = sales.database.create_role("both").await;
    sales.admin.run(&format!("grant {european}, {american} to {login}")).await;
    let session = sales.database.session_as(&login).await;
    // The scope through a reference waits for the table of companies, after the memberships have been read.
    let blocker = sales.database.session().await;
    blocker.run("begin; lock table crm.companies in access exclusive mode").await;
    let count = "select keyed.search('crm.customers', '{\"count\": \"exact\"}') ->> 'total'";
    let (first, ()) = tokio::join!(session.text(count, &[]), async {
        sales.admin.until_blocked(1).await;
        sales.admin.run(&format!("revoke {american} from {login}")).await;
        blocker.run("commit").await;
    });
    assert!(["2", "4"].contains(&first.as_str()), "{first}");
    assert_eq!(session.text(count, &[]).await, "2");
    assert_eq!(seen(&session).await, "EU-1 EU-2");
}

#[tokio::test]
async fn key_revoked_during_a_fixed_snapshot_is_denied_immediately() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("read", &of_region("EU")).await;
    let keys = [sales.database.api_key(&role, &["crm"]).await, sales.database.api_key(&role, &["crm"]).await];
    let session = sales.database.session_as("keyed_proxy").await;
    let authenticate = "select keyed.authenticate(sha256(convert_to($1, 'UTF8')))";
    for isolation in ["repeatable read", "serializable"] {
        // A key that the session has cached, and one that it has not.
        session.rows(authenticate, &[&keys[0]]).await;
        for key in &keys {
            session
                .run(&format!("begin isolation level {isolation}; select from pg_class where oid = 0"))
                .await;
            sales.admin.run("update keyed_state.api_key set revoked_at = now()").await;
            assert_eq!(session.error(authenticate, &[key]).await.codes(), ("28000", "unauthorized"));
            session.run("rollback").await;
            sales.admin.run("update keyed_state.api_key set revoked_at = null").await;
            session.run(&format!("begin isolation level {isolation}")).await;
            session.rows(authenticate, &[key]).await;
            session.run("rollback").await;
        }
    }
}

#[tokio::test]
async fn revocation_takes_effect_during_a_fixed_snapshot() {
    let sales = Sales::new().await;
    let hidden = sales.id("US-1").await;
    for isolation in ["repeatable read", "serializable"] {
        for is_known in [true, false] {
            let (role, session) = sales.member().await;
            sales.database.grant(&role, "crm.customers", "read, create, update").await;
            let search = "select string_agg(r ->> 'external_key', ' ' order by r ->> 'external_key')
                          from jsonb_array_elements(keyed.search('crm.customers') -> 'records') r";
            let read = format!("select keyed.get_record('{hidden}')");
            let write = "select keyed.upsert_by_key('crm.customers', 'US-1', '{\"amount\": 2}')";
            if is_known {
                assert_eq!(session.text(search, &[]).await, "EU-1 EU-2 US-1 US-2");
            }
            let begin =
                format!("begin isolation level {isolation}; select from pg_class where oid = 0; savepoint s");
            let case = format!("{isolation}, known: {is_known}");
            session.run(&begin).await;
            sales
                .database
                .grant_within(&role, "crm.customers", "read, create, update", &of_region("EU"))
                .await;
            assert_eq!(session.text(search, &[]).await, "EU-1 EU-2", "{case}");
            assert_eq!(session.error(&read, &[]).await.codes(), ("P0002", "not_found"), "{case}");
            session.run("rollback to s").await;
            assert!(["42501", "23505"].contains(&session.error(write, &[]).await.state.as_str()), "{case}");
            session.run("rollback; begin isolation level repeatable read; savepoint s").await;
            assert_eq!(session.text(search, &[]).await, "EU-1 EU-2", "{case}");
            session.run("rollback").await;
            session.run(&begin).await;
            sales.database.revoke(&role, "crm.customers").await;
            for statement in [search, &read, write] {
                assert_eq!(session.error(statement, &[]).await.state, "42501", "{case}: {statement}");
                session.run("rollback to s").await;
            }
            session.run("rollback").await;
        }
    }
    assert_eq!(sales.admin.text("select amount from crm.customers where id = $1", &[&hidden]).await, "1");
}

#[tokio::test]
async fn key_follows_its_renamed_role_and_ends_with_it() {
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
    assert_eq!(session.error(authenticate, &[&key]).await.codes(), ("28000", "unauthorized"));
    sales.admin.run(&format!("drop role {role}")).await;
}
