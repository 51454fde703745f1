//! A grant that changes a scope takes effect immediately, does not wait for readers and discloses nothing.

use super::revocation::{READ, called, crm, reading};

#[tokio::test]
async fn scope_replacement_does_not_wait_for_readers() {
    for isolation in ["read committed", "repeatable read"] {
        let (database, administrator) = crm().await;
        let role = database.create_role("clerk").await;
        database.grant(&role, "crm.customers", "read, update").await;
        let reader = reading(&database, &role, isolation).await;
        let narrow = "select keyed.grant_access($1::name, 'crm.customers', '{read}', $2::jsonb)";
        administrator.rows(narrow, &[&role, &called("Ada").to_string()]).await;
        // The old policy is disabled; the new one waits for the table.
        for statement in [READ, "execute read"] {
            assert_eq!(reader.text(statement, &[]).await, "0", "{isolation}: {statement}");
        }
        let found = "select keyed.search('crm.customers', '{\"count\": \"exact\"}') ->> 'total'";
        assert_eq!(reader.text(found, &[]).await, "2", "{isolation}: functions change immediately");
        reader.run("commit").await;
        assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, "0");
        for statement in [READ, "execute read"] {
            assert_eq!(reader.text(statement, &[]).await, "2", "{isolation}: {statement}");
        }
        let change = "update crm.customers set name = name || ''";
        assert_eq!(
            reader.count(change, &[]).await.expect("access is allowed"),
            2,
            "the other privilege stays"
        );
    }
}

#[tokio::test]
async fn unchanged_scope_stays_in_force_during_a_grant() {
    let (database, administrator) = crm().await;
    let role = database.create_role("clerk").await;
    database.grant_within(&role, "crm.customers", "read", &called("Ada")).await;
    database.grant(&role, "crm.customers", "update").await;
    let reader = database.session_as(&role).await;
    reader.run("begin").await;
    assert_eq!(reader.text(READ, &[]).await, "2");
    let grant = "select keyed.grant_access($1::name, 'crm.customers', '{read,update}', $2::jsonb)";
    administrator.rows(grant, &[&role, &called("Ada").to_string()]).await;
    assert_eq!(reader.text(READ, &[]).await, "2", "its scope is unchanged");
    reader.run("commit").await;
    assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, "0");
    assert_eq!(
        reader.count("update crm.customers set name = name || ''", &[]).await.expect("access is allowed"),
        2
    );
}

#[tokio::test]
async fn grant_drops_policies_left_by_a_revocation() {
    let (database, administrator) = crm().await;
    let (role, other) = (database.create_role("clerk").await, database.create_role("other").await);
    database.grant(&role, "crm.customers", "read").await;
    let reader = database.session().await;
    reader.run(&format!("begin; {READ}")).await;
    administrator.rows(&format!("select keyed.revoke_access('{role}', 'crm.customers')"), &[]).await;
    reader.run("commit").await;
    let to = "select count(*) from pg_policies where tablename = 'customers' and roles = array[$1::name]";
    assert_eq!(administrator.text(to, &[&role]).await, "1", "the table was locked");
    database.grant(&other, "crm.customers", "read").await;
    assert_eq!(administrator.text(to, &[&role]).await, "0");
    assert_eq!(administrator.text(to, &[&other]).await, "1");
}

#[tokio::test]
async fn blocked_grant_times_out_with_a_hint() {
    let (database, administrator) = crm().await;
    let (role, other) = (database.create_role("clerk").await, database.create_role("other").await);
    database.grant(&other, "crm.companies", "read").await;
    administrator.run("set lock_timeout = '400ms'").await;
    let grant = format!("select keyed.grant_access('{role}', 'crm.customers', '{{read}}')");
    let (revoke, define) = (
        format!("select keyed.revoke_access('{other}', 'crm.companies')"),
        format!("select keyed.grant_access('{other}', 'crm.companies', '{{update}}')"),
    );
    for (open, what) in [(revoke.as_str(), "privileges"), (&define, "definitions"), (READ, "crm.customers")] {
        let holder = database.session().await;
        holder.run(&format!("begin; {open}")).await;
        let error = administrator.error(&grant, &[]).await;
        assert_eq!(error.codes(), ("55P03", "unavailable"), "{error}");
        assert!(error.message.contains(what), "{error}");
        assert!(error.hint.contains("pg_stat_activity"), "{error}");
        let given = "select has_table_privilege($1, 'crm.customers', 'select')
                       or exists (select from keyed.list_access() where role = $1)";
        assert_eq!(administrator.text(given, &[&role]).await, "f", "no partial write");
        holder.run("rollback").await;
    }
    administrator.run(&grant).await;
    assert_eq!(database.session_as(&role).await.text(READ, &[]).await, "5");
}

#[tokio::test]
async fn scope_replacement_times_out_on_a_locked_table() {
    let (database, administrator) = crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read, update").await;
    let holder = database.session_as(&role).await;
    holder.run("begin; lock table crm.customers in access exclusive mode").await;
    administrator.run("set lock_timeout = '400ms'").await;
    let narrow = "select keyed.grant_access($1::name, 'crm.customers', '{read}', $2::jsonb)";
    let error = administrator.error(narrow, &[&role, &called("Ada").to_string()]).await;
    assert_eq!(error.codes(), ("55P03", "unavailable"), "{error}");
    assert!(error.message.contains("crm"), "{error}");
    assert!(error.hint.contains("pg_stat_activity"), "{error}");
    assert_eq!(holder.text(READ, &[]).await, "5", "no partial write");
    let revoke = format!("select keyed.revoke_access('{role}', 'crm.customers')");
    assert_eq!(administrator.text(&revoke, &[]).await, "2");
    match holder.attempt(READ, &[]).await {
        Ok(rows) => assert_eq!(rows[0][0].as_deref(), Some("0")),
        Err(error) => assert_eq!(error.state, "42501"),
    }
}
