//! A change of privileges, or of objects that they depend on, applies to the next statement.

use crate::sales::{Sales, of_region, seen};
use harness::Session;
use serde_json::{Value, json};

/// Whether both entry points deny access.
async fn is_locked_out(session: &Session) -> bool {
    let search = session.attempt("select keyed.search('crm.customers')", &[]).await;
    let select = session.attempt("select from crm.customers", &[]).await;
    let sees_none = select.is_ok_and(|rows| !rows.is_empty());
    search.is_err_and(|error| error.state == "42501") && !sees_none
}

fn behind() -> Value {
    json!({"filters": [{"field": "company.region", "operator": "eq", "value": "EU"}]})
}

#[tokio::test]
async fn change_of_a_grant_applies_immediately() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    sales.database.grant_within(&role, "crm.customers", "read", &of_region("US")).await;
    assert_eq!(seen(&session).await, "US-1 US-2");
    assert_eq!(sales.admin.text("select keyed.revoke_access($1, 'crm.customers')", &[&role]).await, "1");
    assert!(is_locked_out(&session).await);
    sales.database.grant(&role, "crm", "read").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-1 US-2");
    sales.admin.run(&format!("begin; select keyed.revoke_access('{role}', 'crm'); rollback")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-1 US-2");
}

#[tokio::test]
async fn change_of_a_membership_applies_immediately() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    let (other, _) = sales.clerk("read", &of_region("US")).await;
    let login = session.text("select current_user", &[]).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    sales.admin.run(&format!("grant {other} to {login}")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-1 US-2");
    sales.admin.run(&format!("revoke {role} from {login}")).await;
    assert_eq!(seen(&session).await, "US-1 US-2");
    sales.admin.run(&format!("revoke {other} from {login}")).await;
    assert!(is_locked_out(&session).await);
    sales.admin.run(&format!("grant keyed_admin to {login}")).await;
    assert_eq!(crate::sales::found(&session, json!({})).await, "EU-1 EU-2 US-1 US-2");
    sales.admin.run(&format!("revoke keyed_admin from {login}")).await;
    assert!(is_locked_out(&session).await);
}

#[tokio::test]
async fn role_without_inheritance_keeps_its_own_grants() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    let login = session.text("select current_user", &[]).await;
    sales.database.grant_within(&login, "crm.customers", "read", &of_region("US")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-1 US-2");
    sales.stop_inheriting(&login, &[&role]).await;
    assert_eq!(seen(&session).await, "US-1 US-2");
}

#[tokio::test]
async fn direct_revoke_applies_to_functions() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, create, update, delete", &of_region("EU")).await;
    let id = sales.id("EU-1").await;
    for (privilege, statement) in [
        ("insert", "select keyed.create_record('crm.customers', '{\"region\": \"EU\"}')"),
        ("update", "select keyed.patch_record($1, '{}')"),
        ("delete", "select keyed.delete_record($1)"),
        ("select", "select keyed.get_record($1)"),
    ] {
        session.rows(&format!("begin; {statement}; rollback"), &[&id]).await;
        sales.admin.run(&format!("revoke {privilege} on crm.customers from {role}")).await;
        assert_eq!(session.error(statement, &[&id]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
}

#[tokio::test]
async fn scope_follows_renamed_attributes() {
    let sales = Sales::new().await;
    let (_, plain) = sales.clerk("read, update", &of_region("EU")).await;
    let (_, far) = sales.clerk("read, update", &behind()).await;
    for rename in [
        "select keyed.alter_attribute('crm.customers', 'region', '{\"slug\": \"area\"}')",
        "select keyed.alter_attribute('crm.companies', 'region', '{\"slug\": \"zone\"}')",
        "select keyed.alter_attribute('crm.customers', 'company', '{\"slug\": \"firm\"}')",
        // The released slug is now used by another attribute.
        "select keyed.add_attribute('crm.customers', '{\"slug\": \"region\", \"type\": \"string\"}')",
        "select keyed.add_attribute('crm.companies', '{\"slug\": \"region\", \"type\": \"string\"}')",
        "update crm.customers set region = 'EU'",
        "update crm.companies set region = 'EU'",
    ] {
        sales.admin.run(rename).await;
        for session in [&plain, &far] {
            assert_eq!(seen(session).await, "EU-1 EU-2", "{rename}");
        }
    }
    let fields = "select string_agg(distinct scope::text, ' ') from keyed.list_access()";
    let fields = sales.admin.text(fields, &[]).await;
    assert!(
        fields.contains("\"area\"") && fields.contains("\"firm.zone\"") && !fields.contains("region"),
        "{fields}"
    );
    let moved = "select keyed.upsert_by_key('crm.customers', 'EU-1', '{\"area\": \"US\"}')";
    assert_eq!(plain.error(moved, &[]).await.codes(), ("42501", "forbidden"));
    sales.admin.run("update crm.companies set zone = 'US'").await;
    assert_eq!(seen(&far).await, "");
}

#[tokio::test]
async fn attribute_name_in_a_value_is_not_renamed() {
    let sales = Sales::new().await;
    sales.admin.run("update crm.customers set name = 'region' where external_key = 'US-1'").await;
    let (_, session) =
        sales.clerk("read", &json!({"field": "name", "operator": "eq", "value": "region"})).await;
    sales.admin.run("select keyed.alter_attribute('crm.customers', 'region', '{\"slug\": \"area\"}')").await;
    assert_eq!(seen(&session).await, "US-1");
}

#[tokio::test]
async fn attribute_used_by_a_scope_cannot_be_dropped() {
    let sales = Sales::new().await;
    let (_, session) = sales.clerk("read", &of_region("EU")).await;
    let (other, far) = sales.clerk("read", &behind()).await;
    let tier = json!({"field": "tier", "operator": "in", "value": "gold,silver"});
    let (_, golden) = sales.clerk("read", &tier).await;
    for statement in [
        "select keyed.drop_attribute('crm.customers', 'region')",
        "select keyed.drop_attribute('crm.customers', 'company')",
        "select keyed.drop_attribute('crm.companies', 'region')",
        "select keyed.alter_attribute('crm.customers', 'tier', '{\"options\": [\"gold\", \"bronze\"]}')",
    ] {
        let error = sales.admin.error(statement, &[]).await;
        assert_eq!(error.codes().1, "conflict", "{statement}: {error}");
        let reported = error.message.clone();
        assert!(reported.contains("scope of role"), "{statement} is rejected because of a scope: {reported}");
        assert_eq!(seen(&session).await, "EU-1 EU-2");
        assert_eq!(seen(&far).await, "EU-1 EU-2");
        assert_eq!(seen(&golden).await, "EU-1 EU-2 US-1 US-2");
    }
    sales.database.revoke(&other, "crm.customers").await;
    sales.admin.run("select keyed.drop_attribute('crm.companies', 'region')").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
}

#[tokio::test]
async fn dropped_template_loses_its_grants() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, create, update, delete", &behind()).await;
    let functions = "select count(*) from pg_proc where pronamespace = 'keyed_scope'::regnamespace";
    assert_ne!(sales.admin.text(functions, &[]).await, "0");
    let error = sales.admin.error("select keyed.drop_template('crm.companies')", &[]).await;
    assert_eq!(error.codes().1, "conflict", "{error}");
    sales.admin.run("select keyed.delete_record(id) from crm.customers where deleted_at is null").await;
    sales.admin.run("select keyed.drop_template('crm.customers')").await;
    assert_eq!(sales.admin.text(functions, &[]).await, "0");
    assert_eq!(sales.admin.text("select count(*) from keyed.list_access()", &[]).await, "0");
    let again =
        "select keyed.create_template('crm', 'customers', '[{\"slug\": \"region\", \"type\": \"string\"}]')";
    sales.admin.run(again).await;
    sales.admin.run("select keyed.create_record('crm.customers', '{\"region\": \"EU\"}', 'EU-1')").await;
    assert!(is_locked_out(&session).await, "a template of the same name is another");
    sales.database.grant(&role, "crm.customers", "read").await;
    assert_eq!(seen(&session).await, "EU-1");
}

#[tokio::test]
async fn replaced_grant_leaves_no_function() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("read, update, delete", &behind()).await;
    let functions = "select count(*) from pg_proc where pronamespace = 'keyed_scope'::regnamespace";
    let policies =
        "select count(*) from pg_policies where policyname ~ '^keyed_(read|create|update|delete)_'";
    let count = sales.admin.text(functions, &[]).await;
    sales.database.grant_within(&role, "crm.customers", "read, update, delete", &behind()).await;
    assert_eq!(sales.admin.text(functions, &[]).await, count);
    sales.database.grant(&role, "crm.customers", "update").await;
    sales.database.revoke(&role, "crm.customers").await;
    assert_eq!(sales.admin.text(functions, &[]).await, "0");
    assert_eq!(sales.admin.text(policies, &[]).await, "0");
}

#[tokio::test]
async fn dropped_role_leaves_no_inconsistency() {
    let sales = Sales::new().await;
    let scope = json!({"field": "external_key", "operator": "like", "value": "EU"});
    let (other, session) = sales.member().await;
    sales.database.grant_within(&other, "crm", "read", &scope).await;
    sales.admin.run("create role shortlived").await;
    sales.database.grant_within("shortlived", "crm", "read, create", &scope).await;
    sales.database.grant_within("shortlived", "crm.customers", "read", &behind()).await;
    assert_eq!(
        sales.admin.error("drop role shortlived", &[]).await.state,
        "2BP01",
        "the dependent objects are reported"
    );
    sales.admin.run("drop owned by shortlived; drop role shortlived").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    sales
        .admin
        .run("select keyed.create_template('crm', 'later', '[{\"slug\": \"a\", \"type\": \"string\"}]')")
        .await;
    sales.admin.run("select keyed.alter_attribute('crm.companies', 'region', '{\"slug\": \"zone\"}')").await;
    sales.admin.run("select keyed.create_record('crm.later', '{}', 'EU-L')").await;
    assert_eq!(session.text("select external_key from crm.later", &[]).await, "EU-L");
    sales.admin.run("select * from keyed.list_access()").await;
}

#[tokio::test]
async fn renamed_role_keeps_its_grants() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    sales.admin.run(&format!("alter role {role} rename to {role}_new")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    let listed = "select role from keyed.list_access()";
    assert_eq!(sales.admin.text(listed, &[]).await, format!("{role}_new"));
    sales.admin.run(&format!("alter role {role}_new rename to {role}")).await;
}
