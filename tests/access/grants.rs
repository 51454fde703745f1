//! Grants: a filter, for a role and its members, on a template or a project.

use crate::sales::{Sales, of_region, seen};
use harness::major_version;
use serde_json::json;

#[tokio::test]
async fn scope_accepts_all_forms_of_a_filter() {
    let sales = Sales::new().await;
    for (scope, expected) in [
        (of_region("EU"), "EU-1 EU-2"),
        (json!([of_region("EU"), {"field": "external_key", "operator": "neq", "value": "EU-1"}]), "EU-2"),
        (json!({"filters": [of_region("US")]}), "US-1 US-2"),
        (
            json!({"filter_groups": [[of_region("US")], [{"field": "external_key", "operator": "eq", "value": "EU-1"}]]}),
            "EU-1 US-1 US-2",
        ),
        (json!({"not": of_region("EU")}), "US-1 US-2"),
        (
            json!({"or": [of_region("EU"), {"field": "company.name", "operator": "starts-with", "value": "Glo"}]}),
            "EU-1 EU-2 US-1 US-2",
        ),
        (json!({"field": "company", "operator": "eq", "value": {"external_key": "C-US"}}), "US-1 US-2"),
        (json!({"field": "tier", "operator": "in", "value": "silver"}), ""),
        (json!({"field": "region", "operator": "empty"}), ""),
        (json!({"field": "region", "operator": "neq", "value": "EU"}), "US-1 US-2"),
    ] {
        let (_, session) = sales.clerk("read", &scope).await;
        assert_eq!(seen(&session).await, expected, "{scope}");
    }
}

#[tokio::test]
async fn null_matches_nothing_in_a_scope() {
    let sales = Sales::new().await;
    sales.admin.run("update crm.customers set region = null where external_key = 'US-2'").await;
    for (scope, expected) in [
        (json!({"field": "region", "operator": "neq", "value": "EU"}), "US-1 US-2"),
        (json!({"field": "region", "operator": "not-in", "value": ["EU", "US"]}), "US-2"),
        (json!({"field": "region", "operator": "not-like", "value": "E"}), "US-1 US-2"),
        (json!({"not": {"field": "region", "operator": "eq", "value": "EU"}}), "US-1 US-2"),
        (json!({"not": {"field": "region", "operator": "neq", "value": "EU"}}), "EU-1 EU-2"),
        (json!({"field": "company.region", "operator": "neq", "value": "US"}), "EU-1 EU-2"),
    ] {
        let (_, session) = sales.clerk("read", &scope).await;
        assert_eq!(seen(&session).await, expected, "{scope}");
    }
}

#[tokio::test]
async fn today_in_a_scope_is_the_current_utc_day() {
    let sales = Sales::new().await;
    for (key, moment) in [("EU-1", "0 days"), ("EU-2", "-1 day"), ("US-1", "1 day")] {
        let update = format!(
            "update crm.customers set due = (now() at time zone 'UTC')::date + interval '{moment}',
               seen = date_trunc('day', now(), 'UTC') + interval '{moment}' where external_key = '{key}'"
        );
        sales.admin.run(&update).await;
    }
    sales.admin.run("update crm.customers set seen = date_trunc('day', now(), 'UTC') + interval '24 hours' - interval '1 microsecond' where external_key = 'US-2'").await;
    for (field, expected) in [("due", "EU-1"), ("seen", "EU-1 US-2")] {
        let (_, session) = sales.clerk("read", &json!({"field": field, "operator": "today"})).await;
        for zone in ["UTC", "Pacific/Auckland", "America/New_York"] {
            session.run(&format!("set time zone '{zone}'")).await;
            assert_eq!(seen(&session).await, expected, "{field} in {zone}");
        }
    }
    let constants = "select count(*) from pg_policies where qual ~ 'due|seen' and qual !~ 'now\\(\\)'";
    assert_eq!(sales.admin.text(constants, &[]).await, "0", "no policy contains the day of its creation");
}

#[tokio::test]
async fn grants_by_role_membership_and_project_are_alternatives() {
    let sales = Sales::new().await;
    let (own, session) = sales.clerk("read", &of_region("EU")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    let login = session.text("select current_user", &[]).await;
    let one = json!({"field": "external_key", "operator": "eq", "value": "US-1"});
    sales.database.grant_within(&login, "crm.customers", "read", &one).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-1", "granted to the login itself");
    let (above, _) = sales.member().await;
    let other = json!({"field": "external_key", "operator": "eq", "value": "US-2"});
    sales.database.grant_within(&above, "crm.customers", "read", &other).await;
    sales.admin.run(&format!("grant {above} to {own}")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-1 US-2", "granted to an indirect role");
    sales.database.revoke(&own, "crm.customers").await;
    assert_eq!(seen(&session).await, "US-1 US-2");
    sales.database.grant(&above, "crm", "read").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-1 US-2", "on the project");
    sales.database.revoke(&above, "crm").await;
    assert_eq!(seen(&session).await, "US-1 US-2", "the grant on the template stays");
}

#[tokio::test]
async fn each_privilege_has_its_own_scope() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &json!({"field": "name", "operator": "not-empty"})).await;
    sales.database.grant_within(&role, "crm.customers", "update", &of_region("EU")).await;
    sales.database.grant_within(&role, "crm.customers", "create", &of_region("US")).await;
    let create = "select keyed.create_record('crm.customers', $1)";
    session.rows(create, &["{\"region\": \"US\", \"name\": \"x\"}"]).await;
    assert_eq!(session.error(create, &["{\"region\": \"EU\"}"]).await.codes(), ("42501", "forbidden"));
    let upsert = "select keyed.upsert_by_key('crm.customers', $1, $2)";
    session.rows(upsert, &["EU-1", "{\"name\": \"x\"}"]).await;
    for (key, attributes) in [
        ("US-1", "{\"name\": \"y\"}"),
        ("US-1", "{\"region\": \"US\", \"name\": \"y\"}"),
        ("new", "{\"region\": \"EU\"}"),
        ("EU-1", "{\"region\": \"US\"}"),
    ] {
        let error = session.error(upsert, &[key, attributes]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{key} {attributes}");
    }
    session.rows(upsert, &["US-9", "{\"region\": \"US\"}"]).await;
    assert_eq!(
        session.error("select keyed.delete_record(id) from crm.customers", &[]).await.codes(),
        ("42501", "forbidden")
    );
}

#[tokio::test]
async fn repeated_grant_replaces_only_its_scope() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, update", &of_region("EU")).await;
    sales.database.grant_within(&role, "crm.customers", "read", &of_region("US")).await;
    assert_eq!(seen(&session).await, "US-1 US-2");
    sales.database.grant(&role, "crm.customers", "read").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 US-1 US-2");
    let update = "select keyed.upsert_by_key('crm.customers', $1, '{\"name\": \"x\"}')";
    sales.database.grant_within(&role, "crm.customers", "create", &of_region("EU")).await;
    session.rows(update, &["EU-1"]).await;
    assert_eq!(session.error(update, &["US-1"]).await.codes(), ("42501", "forbidden"));
    let scopes = "select string_agg(privilege || ' ' || (scope is null), ', ' order by privilege) from keyed.list_access() where role = $1";
    assert_eq!(sales.admin.text(scopes, &[&role]).await, "create false, read true, update false");
}

#[tokio::test]
async fn project_scope_uses_standard_fields() {
    let sales = Sales::new().await;
    let (role, session) = sales.member().await;
    let grant = "select keyed.grant_access($1, $2, '{read}', $3)";
    for scope in
        [of_region("EU"), json!({"field": "company.external_key", "operator": "eq", "value": "C-EU"})]
    {
        let error = sales.admin.error(grant, &[&role, "crm", &scope.to_string()]).await;
        assert!(["unknown_field"].contains(&error.codes().1), "{error}");
    }
    let scope = json!({"field": "external_key", "operator": "like", "value": "EU"});
    sales.admin.rows(grant, &[&role, "crm", &scope.to_string()]).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    assert_eq!(session.text("select string_agg(external_key, ' ') from crm.companies", &[]).await, "C-EU");
}

#[tokio::test]
async fn new_template_has_the_grants_of_its_project() {
    let sales = Sales::new().await;
    let (role, session) = sales.member().await;
    let scope = json!({"field": "external_key", "operator": "like", "value": "EU"});
    sales.database.grant_within(&role, "crm", "read, create", &scope).await;
    sales
        .admin
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"number\"}]')")
        .await;
    sales.admin.run("select keyed.upsert_by_key('crm.orders', k) from unnest(array['EU-O', 'US-O']) k").await;
    assert_eq!(session.text("select string_agg(external_key, ' ') from crm.orders", &[]).await, "EU-O");
    session.rows("select keyed.create_record('crm.orders', '{}', 'EU-P')", &[]).await;
    let create = "select keyed.create_record('crm.orders', '{}', 'US-P')";
    assert_eq!(session.error(create, &[]).await.codes(), ("42501", "forbidden"));
    assert_eq!(
        session.error("insert into crm.orders (external_key) values ('US-P')", &[]).await.state,
        "42501"
    );
    session.run("insert into crm.orders (external_key) values ('EU-Q')").await;
}

#[tokio::test]
async fn member_without_inherit_has_no_privileges() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    let login = session.text("select current_user", &[]).await;
    sales.stop_inheriting(&login, &[&role]).await;
    assert_eq!(session.error("select from crm.customers", &[]).await.state, "42501");
    assert_eq!(session.error("select keyed.search('crm.customers')", &[]).await.state, "42501");
    session.run(&format!("set role {role}")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
}

#[tokio::test]
async fn membership_options_control_set_role_and_inheritance() {
    if major_version() < 16 {
        return; // Memberships have no options before PostgreSQL 16.
    }
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    let login = session.text("select current_user", &[]).await;
    sales.admin.run(&format!("grant {role} to {login} with inherit true, set false")).await;
    assert_eq!(seen(&session).await, "EU-1 EU-2");
    assert_eq!(session.error(&format!("set role {role}"), &[]).await.state, "42501");

    // A role that creates roles administers them, but gets no further privileges from them.
    let creator = sales.database.create_role("creator").await;
    sales
        .admin
        .run(&format!("alter role {creator} createrole; grant {role} to {creator} with inherit false"))
        .await;
    let made = format!("made_{creator}");
    let creates = sales.database.session_as(&creator).await;
    creates.run(&format!("create role {made}")).await;
    sales.database.grant(&made, "crm.customers", "read").await;
    assert_eq!(creates.error("select keyed.search('crm.customers')", &[]).await.state, "42501");
    assert_eq!(creates.error("select from crm.customers", &[]).await.state, "42501");
    sales.database.revoke(&made, "crm.customers").await;
    sales.admin.run(&format!("drop role {made}")).await;
}

#[tokio::test]
async fn invalid_grant_is_rejected() {
    let sales = Sales::new().await;
    let (role, clerk) = sales.member().await;
    let grant = "select keyed.grant_access($1, $2, $3::text[], $4::jsonb)";
    let region = of_region("EU").to_string();
    for (values, state) in [
        (["nobody", "crm", "{read}", &region], "22023"),
        (["keyed_admin", "crm", "{read}", &region], "22023"),
        (["keyed_proxy", "crm", "{read}", &region], "22023"),
        (["keyed_owner", "crm", "{read}", &region], "22023"),
        ([&role, "nowhere", "{read}", &region], "22023"),
        ([&role, "crm.nothing", "{read}", &region], "22023"),
        ([&role, "crm.customers", "{}", &region], "22023"),
        ([&role, "crm.customers", "{drop}", &region], "22023"),
        ([&role, "crm.customers", "{define}", &region], "22023"),
        ([&role, "crm.customers", "{read}", "{}"], "22023"),
        ([&role, "crm.customers", "{read}", "[]"], "22023"),
        ([&role, "crm.customers", "{read}", "{\"filters\": []}"], "22023"),
        (
            [&role, "crm.customers", "{read}", "{\"field\": \"nope\", \"operator\": \"eq\", \"value\": 1}"],
            "22023",
        ),
        ([&role, "crm.customers", "{read}", "{\"filters\": [], \"sort\": \"name\"}"], "22023"),
    ] {
        let error = sales.admin.error(grant, &values).await;
        assert_eq!(error.state, state, "{values:?}: {error}");
    }
    assert_eq!(sales.admin.text("select count(*) from keyed.list_access()", &[]).await, "0");
    for statement in [
        "select keyed.grant_access(current_user, 'crm', '{read}')",
        "select keyed.revoke_access(current_user, 'crm')",
        "select keyed.explain_access(keyed.new_id(2), current_user)",
        "select keyed.issue_api_key(current_user)",
        "select * from keyed.list_access()",
    ] {
        assert_eq!(clerk.error(statement, &[]).await.state, "42501", "{statement}");
    }
}
