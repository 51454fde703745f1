//! Stored API keys and tokens: they cannot be used to authenticate, and each stays bound to its role.

use super::api_keys::{attempt, crm};

#[tokio::test]
async fn stored_hash_cannot_be_used_to_authenticate() {
    let (database, session) = crm().await;
    database.api_key("keyed_admin", &[]).await;
    let endpoint = r#"{"slug": "shop", "external_key": "$.id", "signed": false}"#;
    session.rows("select keyed.create_inbound_endpoint('crm.customers', $1)", &[endpoint]).await;
    for (table, column) in [("api_key", "hash"), ("inbound_endpoint", "token_hash")] {
        let stored = session.text(&format!("select {column} from keyed_state.{table}"), &[]).await;
        let error = session.error("select keyed.authenticate($1)", &[&stored]).await;
        assert_eq!(error.codes(), ("28000", "unauthorized"), "{table}");
        let deliver = "select keyed_http.deliver($1, null, null, null, '{}')";
        assert_eq!(session.error(deliver, &[&stored]).await.codes(), ("P0002", "not_found"), "{table}");
    }
}

#[tokio::test]
async fn migration_keeps_keys_and_tokens_valid() {
    let (database, session) = crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read, create, update").await;
    let key = database.api_key(&role, &["crm"]).await;
    let orphan = format!("leaver_{}", database.name());
    session.run(&format!("create role {orphan}")).await;
    let gone = database.api_key(&orphan, &[]).await;
    session.run(&format!("drop role {orphan}")).await;
    let endpoint =
        format!(r#"{{"slug": "shop", "external_key": "$.id", "signed": false, "role": "{role}"}}"#);
    let made = session.json("select keyed.create_inbound_endpoint('crm.customers', $1)", &[&endpoint]).await;
    let token = made["token"].as_str().expect("a token");
    // As in older versions: the hash of the displayed key, and only the OID of a role.
    session
        .rows("update keyed_state.api_key set hash = sha256(convert_to($1, 'UTF8')) where id = 1", &[&key])
        .await;
    session
        .rows("update keyed_state.api_key set hash = sha256(convert_to($1, 'UTF8')) where id = 2", &[&gone])
        .await;
    session
        .rows("update keyed_state.inbound_endpoint set token_hash = sha256(convert_to($1, 'UTF8'))", &[token])
        .await;
    session
        .run(
            "alter table keyed_state.api_key drop column role_name, drop column bound_in;
             alter table keyed_state.access_grant drop column role_name, drop column bound_in;
             alter table keyed_state.inbound_endpoint drop column role_name, drop column bound_in;
             delete from keyed_state.version where number in (14, 15)",
        )
        .await;
    let proxy = database.session_as("keyed_proxy").await;
    let deliver =
        "select (keyed_http.deliver(sha256(convert_to($1, 'UTF8')), null, null, null, '{\"id\": \"1\"}'))[1]";
    let early = proxy.error("select keyed.authenticate(sha256(convert_to($1, 'UTF8')))", &[&key]).await;
    assert!(early.hint.contains("keyed.migrate()"), "{early} {}", early.hint);
    assert!(proxy.error(deliver, &[token]).await.hint.contains("keyed.migrate()"));
    session.run("select keyed.migrate()").await;
    assert_eq!(attempt(&proxy, &key).await, Ok(()));
    assert!(attempt(&proxy, &gone).await.is_err_and(|error| error.starts_with("28000")));
    assert_eq!(proxy.text(deliver, &[token]).await, "200");
    let reader = database.session_as(&role).await;
    assert_eq!(
        reader.text("select keyed.search('crm.customers') #>> '{records,0,external_key}'", &[]).await,
        "1"
    );
}

#[tokio::test]
async fn reused_role_oid_gains_nothing_after_a_restore() {
    let (database, session) = crm().await;
    let leaver = format!("leaver_{}", database.name());
    let other = database.create_role("other").await;
    session.run(&format!("create role {leaver}")).await;
    let key = database.api_key(&leaver, &["crm"]).await;
    database.grant(&leaver, "crm.customers", "read, create, update").await;
    database.grant(&leaver, "crm", "define").await;
    let endpoint =
        format!(r#"{{"slug": "shop", "external_key": "$.id", "signed": false, "role": "{leaver}"}}"#);
    let made = session.json("select keyed.create_inbound_endpoint('crm.customers', $1)", &[&endpoint]).await;
    let token = made["token"].as_str().expect("a token");
    session.run(&format!("drop owned by {leaver}; drop role {leaver}")).await;
    // A dump contains the OID of a dropped role. A restore elsewhere would give it to the role that has this OID there.
    for table in ["api_key", "access_grant", "inbound_endpoint"] {
        let update =
            format!("update keyed_state.{table} set role = '{other}', bound_in = 'of another cluster'");
        session.run(&update).await;
    }
    let proxy = database.session_as("keyed_proxy").await;
    assert!(attempt(&proxy, &key).await.is_err_and(|error| error.starts_with("28000")));
    let deliver =
        "select (keyed_http.deliver(sha256(convert_to($1, 'UTF8')), null, null, null, '{\"id\": 1}'))[1]";
    assert_eq!(proxy.text(deliver, &[token]).await, "202");
    assert_eq!(
        session.text("select error ->> 'code' from keyed_state.inbound_delivery", &[]).await,
        "forbidden"
    );
    let unprivileged = database.session_as(&other).await;
    for statement in [
        "select keyed.search('crm.customers')",
        "select keyed.create_template('crm', 'mine')",
        "select keyed.add_attribute('crm.customers', '{\"slug\": \"mine\", \"type\": \"string\"}')",
    ] {
        assert_eq!(unprivileged.error(statement, &[]).await.state, "42501", "{statement}");
    }
    // The role gains nothing from a later template or from its own later grant either.
    session
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"number\"}]')")
        .await;
    database.grant(&other, "crm.companies", "read").await;
    session.run("select keyed.migrate()").await;
    for table in ["customers", "orders"] {
        assert_eq!(
            unprivileged.error(&format!("select from crm.{table}"), &[]).await.state,
            "42501",
            "{table}"
        );
    }
    assert!(attempt(&proxy, &key).await.is_err());
    for (list, orphans) in [("list_api_keys", "1"), ("list_access", "4")] {
        let named = format!("select count(*) from keyed.{list}() where orphaned and role = $1");
        assert_eq!(session.text(&named, &[&leaver]).await, orphans, "{list}");
    }
    let own = "select string_agg(target, ' ') from keyed.list_access() where not orphaned and role = $1";
    assert_eq!(session.text(own, &[&other]).await, "crm.companies");
    // New grants to the role, and revocations, take effect.
    session.run(&format!("select keyed.revoke_access('{other}', 'crm')")).await;
    database.grant(&other, "crm.customers", "read").await;
    unprivileged.run("select keyed.search('crm.customers')").await;
    assert_eq!(
        session.text(&format!("select keyed.revoke_access('{other}', 'crm.customers')"), &[]).await,
        "3"
    );
    assert_eq!(session.text("select count(*) from keyed.list_access() where orphaned", &[]).await, "0");
}

#[tokio::test]
async fn renamed_role_keeps_its_privileges() {
    let (database, session) = crm().await;
    let role = database.create_role("clerk").await;
    let key = database.api_key(&role, &["crm"]).await;
    let proxy = database.session_as("keyed_proxy").await;
    session.run(&format!("alter role {role} rename to {role}_x")).await;
    assert_eq!(attempt(&proxy, &key).await, Ok(()));
    // In another cluster, an OID with another role name is invalid.
    session.run("update keyed_state.api_key set bound_in = 'of another cluster'").await;
    assert!(attempt(&proxy, &key).await.is_err());
    session
        .run("update keyed_state.api_key set bound_in = keyed.binding(tableoid); select keyed.migrate()")
        .await;
    session.run("update keyed_state.api_key set bound_in = 'of another cluster'").await;
    assert_eq!(attempt(&proxy, &key).await, Ok(()), "its new name was written down");
    session.run(&format!("alter role {role}_x rename to {role}")).await;
}
