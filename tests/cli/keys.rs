//! API keys on the command line.

use crate::{keyed, keyed_as};
use harness::{Database, Proxy};

#[tokio::test]
async fn key_is_printed_once_and_works_until_revoked() {
    let database = Database::with_crm().await;
    let proxy = Proxy::start(&database).await;
    let created = keyed(&database, &["keys", "create", "--role", "keyed_admin", "--label", "erp sync"]);
    assert!(created.err.contains("shown only once"), "{}", created.err);
    let key = created.expect();
    let key = key.trim_end();
    assert_eq!(proxy.request("GET", "/v1/me").key(key).send().await.expect(200)["key"]["label"], "erp sync");

    let listed = keyed(&database, &["keys", "list", "--json"]);
    assert!(!listed.out.contains(key), "a key is shown once only");
    let listed = listed.json();
    let entry = listed.as_array().and_then(|keys| keys.last()).expect("the key is listed").clone();
    assert_eq!((&entry["role"], &entry["label"]), (&"keyed_admin".into(), &"erp sync".into()));
    assert_eq!(
        (&entry["projects"], &entry["revoked_at"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );

    let id = entry["id"].to_string();
    keyed(&database, &["keys", "revoke", &id]).expect();
    proxy.request("GET", "/v1/me").key(key).send().await.expect_error(401, "unauthorized");
    let again = keyed(&database, &["keys", "revoke", &id]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains(&format!("no valid key has the id {id}")), "{}", again.err);

    let other =
        keyed(&database, &["keys", "create", "--role", "keyed_admin", "--json"]).json()["id"].to_string();
    let both = keyed(&database, &["keys", "revoke", &other, &id]);
    assert_eq!(both.code, Some(1));
    let reason = format!("revoked {other}: no valid key has the id {id}");
    assert!(both.err.contains(&reason), "{}", both.err);
}

#[tokio::test]
async fn key_is_limited_to_projects_and_a_time() {
    let database = Database::with_crm().await;
    let role = database.create_role("importer").await;
    let created = keyed(
        &database,
        &[
            "keys",
            "create",
            "--role",
            &role,
            "--project",
            "crm",
            "--expires-at",
            "2099-01-31T12:00:00Z",
            "--json",
        ],
    )
    .json();
    let listed = keyed(&database, &["keys", "list", "--json"]).json();
    let entry = listed.as_array().and_then(|keys| keys.last()).expect("the key is listed");
    assert_eq!(entry["id"], created["id"]);
    assert_eq!(entry["role"], role.as_str());
    assert_eq!(entry["projects"], serde_json::json!(["crm"]));
    assert_eq!(entry["expires_at"], "2099-01-31T12:00:00+00:00");
    let table = keyed(&database, &["keys", "list"]).expect();
    assert!(table.lines().any(|line| line.contains(&role) && line.contains("crm")), "{table}");
}

#[tokio::test]
async fn failed_key_creation_reports_the_reason() {
    let database = Database::with_crm().await;
    for (arguments, reason) in [
        (&["--role", "nobody_at_all"][..], "does not exist"),
        (&["--role", "keyed_admin", "--project", "nowhere"], r#"project "nowhere" does not exist"#),
        (&["--role", "keyed_admin", "--expires-at", "2001-01-01"], "in the past"),
        (&["--role", "keyed_admin", "--expires-at", "soon"], "soon"),
    ] {
        let outcome = keyed(&database, &[&["keys", "create"], arguments].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(outcome.err.contains(reason), "{}", outcome.err);
    }
}

#[tokio::test]
async fn administrator_needs_no_superuser() {
    let database = Database::with_crm().await;
    let role = database.create_role("dba").await;
    database.session().await.run(&format!("grant keyed_admin to {role}")).await;
    let key = keyed_as(&database, &role, &["keys", "create", "--role", &role, "--project", "crm"]).expect();
    assert!(key.starts_with("keyed_"), "{key}");
    keyed_as(&database, &role, &["keys", "list"]).expect();
}

#[tokio::test]
async fn superuser_key_causes_a_warning() {
    let database = Database::with_crm().await;
    let plain = keyed(&database, &["keys", "create", "--role", "keyed_admin"]);
    assert!(!plain.err.contains("Warning"), "{}", plain.err);
    let superuser = database.session().await.text("select session_user", &[]).await;
    let mighty = keyed(&database, &["keys", "create", "--role", &superuser]);
    assert!(mighty.err.contains("is a superuser"), "{}", mighty.err);
    mighty.expect();
}
