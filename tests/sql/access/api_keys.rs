//! API keys: issue, lookup by hash, and rejection.

use harness::{Database, Session, until};

pub(super) async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

pub(super) async fn attempt(session: &Session, key: &str) -> Result<(), String> {
    let authenticate = "select keyed.authenticate(sha256($1::bytea))";
    match session.attempt(authenticate, &[key]).await {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{} {}", error.state, error.message)),
    }
}

#[tokio::test]
async fn key_starts_with_its_id_and_only_its_hash_is_stored() {
    let (_database, session) = crm().await;
    let key = session.text("select keyed.issue_api_key('keyed_admin', array['crm'], 'nightly')", &[]).await;
    let number = session.text("select id from keyed_state.api_key", &[]).await;
    let secret =
        key.strip_prefix(&format!("keyed_{number}_")).expect("the prefix that secret scanners search for");
    assert!(secret.len() >= 43 && secret.chars().all(|it| it.is_ascii_alphanumeric()), "{secret}");
    assert!(attempt(&session, &key).await.is_ok());
    let stored = session.text("select to_jsonb(k) from keyed_state.api_key k", &[]).await;
    assert!(!stored.contains(secret), "{stored}");
    let row = "select role, label, created_by, projects, revoked_at is null and expires_at is null from keyed_state.api_key";
    let expected = ["keyed_admin", "nightly", "postgres", "{1}", "t"].map(|value| Some(value.to_owned()));
    assert_eq!(session.rows(row, &[]).await, [expected.to_vec()]);
}

#[tokio::test]
async fn keys_are_unique() {
    let (_database, session) = crm().await;
    let keys = "select count(distinct keyed.issue_api_key('keyed_admin')) from generate_series(1, 50)";
    assert_eq!(session.text(keys, &[]).await, "50");
}

#[tokio::test]
async fn invalid_keys_get_the_same_error() {
    let (database, session) = crm().await;
    let expired = database.api_key("keyed_admin", &[]).await;
    assert_eq!(attempt(&session, &expired).await, Ok(()));
    // The expiry is compared with the clock, even if the session has cached the key.
    session.run("update keyed_state.api_key set expires_at = clock_timestamp() + interval '1 second'").await;
    until("the key expires", async || attempt(&session, &expired).await.is_err()).await;
    let role = format!("leaver_{}", database.name());
    session.run(&format!("create role {role}")).await;
    let revoked = database.api_key(&role, &[]).await;
    let orphaned = database.api_key(&role, &[]).await;
    session.run("select keyed.revoke_api_key(2)").await;
    session.run(&format!("drop role {role}")).await;
    let unknown = orphaned.replace("keyed_3_", "keyed_3_1");
    let expected = attempt(&session, "").await;
    assert!(expected.as_ref().is_err_and(|error| error.starts_with("28000")), "{expected:?}");
    for key in
        ["x", "keyed_1_x", &unknown, &revoked, &expired, &orphaned, &format!("{orphaned} "), "' or '1' = '1"]
    {
        assert_eq!(attempt(&session, key).await, expected, "{key}");
    }
    for hash in ["null", "''::bytea", "'\\x00'::bytea"] {
        let error = session.error(&format!("select keyed.authenticate({hash})"), &[]).await;
        assert_eq!(error.codes(), ("28000", "unauthorized"), "{hash}");
    }
}

#[tokio::test]
async fn revoked_key_is_denied_in_sessions_that_used_it() {
    let (database, session) = crm().await;
    let key = database.api_key("keyed_admin", &[]).await;
    let others = [database.session_as("keyed_proxy").await, database.session_as("keyed_proxy").await];
    for other in &others {
        assert_eq!(attempt(other, &key).await, Ok(()));
    }
    session.run("begin").await;
    assert_eq!(session.text("select keyed.revoke_api_key(1)", &[]).await, "t");
    assert_eq!(attempt(&others[0], &key).await, Ok(()), "revoked before its commit");
    session.run("commit").await;
    for other in &others {
        assert!(attempt(other, &key).await.is_err_and(|error| error.starts_with("28000")));
    }
    assert_eq!(session.text("select keyed.revoke_api_key(1)", &[]).await, "f");
    assert_eq!(session.text("select keyed.revoke_api_key(99)", &[]).await, "f");
}

#[tokio::test]
async fn key_changed_by_direct_sql_applies_to_all_sessions() {
    let (database, session) = crm().await;
    let key = database.api_key("keyed_admin", &[]).await;
    let other = database.session_as("keyed_proxy").await;
    assert_eq!(attempt(&other, &key).await, Ok(()));
    session.run("update keyed_state.api_key set expires_at = now()").await;
    assert!(attempt(&other, &key).await.is_err());
    session.run("update keyed_state.api_key set expires_at = null").await;
    assert_eq!(attempt(&other, &key).await, Ok(()));
    session.run("delete from keyed_state.api_key").await;
    assert!(attempt(&other, &key).await.is_err());
}

#[tokio::test]
async fn key_is_not_issued_for_missing_roles_or_projects() {
    let (_database, session) = crm().await;
    for (arguments, pointer) in [
        ("'nobody_here'", "/role"),
        ("''", "/role"),
        ("null", "/role"),
        ("'keyed_admin', array['nothing']", "/projects/0"),
        ("'keyed_admin', array['crm', 'nothing']", "/projects/1"),
        ("'keyed_admin', array[]::text[]", "/projects"),
        ("'keyed_admin', array[null]", "/projects"),
        ("'keyed_admin', null, repeat('x', 201)", "/label"),
        ("'keyed_admin', null, E'a\\nb'", "/label"),
        ("'keyed_admin', null, 'x', now() - interval '1 day'", "/expires_at"),
        ("'keyed_admin', null, 'x', '-infinity'", "/expires_at"),
        ("'keyed_admin', null, 'x', 'infinity'", "/expires_at"),
        ("'keyed_admin', null, 'x', '10000-01-01Z'", "/expires_at"),
    ] {
        let error = session.error(&format!("select keyed.issue_api_key({arguments})"), &[]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec![pointer]),
            "{arguments}"
        );
    }
    let infinite =
        session.error("select keyed.issue_api_key('keyed_admin', null, 'x', 'infinity')", &[]).await;
    assert!(infinite.message.contains("expires_at must be a time of the years 0001 to 9999"), "{infinite}");
    assert_eq!(infinite.hint, "Omit expires_at for a key that does not expire.");
    assert_eq!(session.text("select count(*) from keyed_state.api_key", &[]).await, "0");
}

#[tokio::test]
async fn only_administrators_issue_and_revoke_keys() {
    let (database, session) = crm().await;
    let (clerk, admin) = (database.create_role("clerk").await, database.create_role("admin").await);
    session.run(&format!("grant keyed_admin to {admin}")).await;
    let (clerk, admin) = (database.session_as(&clerk).await, database.session_as(&admin).await);
    admin.run("select keyed.issue_api_key('keyed_admin')").await;
    for statement in ["select keyed.issue_api_key(current_user)", "select keyed.revoke_api_key(1)"] {
        assert_eq!(clerk.error(statement, &[]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
    admin
        .run("select id, role, projects, label, created_at, expires_at, revoked_at from keyed_state.api_key")
        .await;
    for statement in [
        "select hash from keyed_state.api_key",
        "select from keyed_state.api_key where hash is not null",
        "update keyed_state.api_key set revoked_at = null",
        "delete from keyed_state.api_key",
        "insert into keyed_state.api_key (role, hash, created_by) values ('postgres', sha256('x'), 'x')",
    ] {
        assert_eq!(admin.error(statement, &[]).await.state, "42501", "{statement}");
    }
    admin.run("select keyed.revoke_api_key(1)").await;
}

#[tokio::test]
async fn list_of_keys_contains_no_secret() {
    let (database, session) = crm().await;
    let (clerk, admin) = (database.create_role("clerk").await, database.create_role("admin").await);
    session.run(&format!("grant keyed_admin to {admin}; select keyed.create_project('shop')")).await;
    session.run("select keyed.issue_api_key('keyed_admin', array['shop', 'crm'], 'two'), keyed.issue_api_key('keyed_admin')").await;
    session.run("select keyed.revoke_api_key(2)").await;
    let admin = database.session_as(&admin).await;
    let list = "select to_jsonb(k) from keyed.list_api_keys() k order by id";
    let rows = admin.rows(list, &[]).await;
    let keys: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| serde_json::from_str(row[0].as_deref().unwrap_or_default()).expect("JSON"))
        .collect();
    assert_eq!(
        (&keys[0]["projects"], &keys[1]["projects"]),
        (&serde_json::json!(["crm", "shop"]), &serde_json::Value::Null)
    );
    assert_eq!((keys[0]["revoked_at"].is_null(), keys[1]["revoked_at"].is_string()), (true, true));
    assert!(keys.iter().all(|key| key.get("hash").is_none() && key["label"].is_string()), "{keys:?}");
    assert_eq!(database.session_as(&clerk).await.error(list, &[]).await.state, "42501");
}

#[tokio::test]
async fn only_the_proxy_login_authenticates_keys() {
    let (database, session) = crm().await;
    let key = database.api_key("keyed_admin", &[]).await;
    let (clerk, admin) = (database.create_role("clerk").await, database.create_role("admin").await);
    session.run(&format!("grant keyed_admin to {admin}")).await;
    let deliver = "select keyed_http.deliver(sha256('in_x'), null, null, null, '{}')";
    for role in [&clerk, &admin] {
        let session = database.session_as(role).await;
        assert!(attempt(&session, &key).await.is_err_and(|error| error.starts_with("42501")), "{role}");
        assert_eq!(session.error(deliver, &[]).await.state, "42501", "{role}");
    }
    let proxy = database.session_as("keyed_proxy").await;
    assert_eq!(attempt(&proxy, &key).await, Ok(()));
    assert_eq!(proxy.error(deliver, &[]).await.codes(), ("P0002", "not_found"));
    // Dropping the grant or the extension revokes it.
    for again in ["migrate", "init"] {
        session
            .run("revoke execute on function keyed.authenticate, keyed_http.deliver from keyed_proxy")
            .await;
        assert!(attempt(&proxy, &key).await.is_err_and(|error| error.starts_with("42501")));
        session.run(&format!("select keyed.{again}()")).await;
        assert_eq!(attempt(&proxy, &key).await, Ok(()), "{again}");
    }
}

#[tokio::test]
async fn server_roles_get_no_key_grant_or_endpoint() {
    let (_database, session) = crm().await;
    for role in ["pg_read_all_data", "pg_monitor", "keyed_proxy"] {
        for statement in [
            "select keyed.issue_api_key($1::name)",
            "select keyed.grant_access($1::name, 'crm', '{read}')",
            "select keyed.create_inbound_endpoint('crm.customers', jsonb_build_object('slug', 'x', 'external_key', '$.id', 'role', $1))",
        ] {
            let error = session.error(statement, &[role]).await;
            assert_eq!(
                (error.codes(), error.pointers()),
                (("22023", "invalid_value"), vec!["/role"]),
                "{statement}"
            );
        }
    }
    assert_eq!(session.text("select count(*) from keyed_state.api_key", &[]).await, "0");
}
