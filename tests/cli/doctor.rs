//! The findings of `doctor`, and their remedies.

use crate::{Outcome, keyed, keyed_as};
use harness::Database;
use serde_json::{Value, json};

/// The findings of a check.
pub(crate) fn findings(outcome: Outcome, check: &str) -> Vec<Value> {
    let report: Value =
        serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("no report: {}", outcome.err));
    let all = report["findings"].as_array().expect("findings").iter();
    all.filter(|finding| finding["check"] == check).cloned().collect()
}

#[tokio::test]
async fn new_database_is_healthy() {
    let database = Database::new_durable().await.add_crm().await;
    let report = keyed(&database, &["doctor", "--json"]).json();
    assert_eq!(report["healthy"], true, "{report:#}");
    assert_eq!(report["extension_version"], report["proxy_version"]);
    for finding in report["findings"].as_array().expect("findings") {
        assert_eq!(finding["severity"], "note", "{finding}");
    }
    let text = keyed(&database, &["doctor"]).expect();
    assert!(text.contains("ok       ownership:") && !text.contains("skipped"), "{text}");

    let dba = database.create_role("dba").await;
    database.session().await.run(&format!("grant keyed_admin to {dba}")).await;
    assert_eq!(keyed_as(&database, &dba, &["doctor", "--json"]).json()["healthy"], true);
}

#[tokio::test]
async fn valid_setting_is_not_a_finding() {
    let database = Database::new_durable().await.add_crm().await;
    for setting in
        ["max_text_size = '4MB'", "max_inbound_log_size = '1GB'", "direct_access = off", "sample_size = 5"]
    {
        database.run_in_psql(&format!("alter database {} set keyed.{setting}", database.name()));
    }
    assert!(findings(keyed(&database, &["doctor", "--json"]), "names of settings").is_empty());
}

#[tokio::test]
async fn missing_prerequisites_are_reported_and_dependent_checks_skipped() {
    let database = Database::empty_in(&harness::Cluster::shared()).await;
    let outcome = keyed(&database, &["doctor"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains("remedy: create extension keyed cascade"), "{}", outcome.out);
    assert!(outcome.out.contains("skipped  ownership"), "{}", outcome.out);
    database.session().await.run("create extension keyed cascade").await;
    let found = findings(keyed(&database, &["doctor", "--json"]), "state");
    assert_eq!(found[0]["remedy"], "select keyed.init();");
}

#[tokio::test]
async fn doctor_finds_older_files_although_functions_fail() {
    for (newer, said, remedy) in [
        (
            "update pg_extension set extversion = '99.0.0' where extname = 'keyed'",
            "the extension in this database is 99.0.0",
            "Install the files of keyed 99.0.0",
        ),
        (
            "insert into keyed_state.version (number) values (9999)",
            "has schema version 9999",
            "Install the files of a newer version of keyed",
        ),
    ] {
        let database = Database::with_crm().await;
        database.session().await.run(newer).await;
        let outcome = keyed(&database, &["doctor", "--json"]);
        assert_eq!(outcome.code, Some(1), "{newer}");
        let found = findings(outcome, "extension");
        let text = |name: &str| found[0][name].as_str().unwrap_or_default().to_owned();
        assert!(text("message").contains(said) && text("remedy").starts_with(remedy), "{found:?}");
        assert!(keyed(&database, &["doctor"]).out.contains("skipped  ownership"), "{newer}");
    }
}

#[tokio::test]
async fn database_must_be_utf8() {
    let options = "template template0 encoding 'LATIN1' locale 'C'";
    let database = Database::empty_with(&harness::Cluster::shared(), options).await;
    let error = database.session().await.error("create extension keyed cascade", &[]).await;
    assert!(error.message.contains("encoding UTF8") && !error.hint.is_empty(), "{error}");
    let found = findings(keyed(&database, &["doctor", "--json"]), "server");
    assert_eq!(found[0]["message"], "the database is encoded in LATIN1", "{found:?}");
    let remedy = found[0]["remedy"].as_str().unwrap_or_default();
    assert!(remedy.starts_with("make one with: create database"), "{remedy}");
}

#[tokio::test]
async fn pgvector_that_is_missing_or_too_old_is_reported() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run("alter type halfvec rename to of_later").await;
    let found = findings(keyed(&database, &["doctor", "--json"]), "vectors");
    assert!(found[0]["message"].as_str().is_some_and(|it| it.contains("0.7.0")), "{found:?}");
    session.run("drop extension vector").await;
    let found = findings(keyed(&database, &["doctor", "--json"]), "vectors");
    database.run_in_psql(found[0]["remedy"].as_str().expect("a remedy"));
    assert!(findings(keyed(&database, &["doctor", "--json"]), "vectors").is_empty());
}

#[tokio::test]
async fn policies_of_reference_scopes_are_not_reported_as_user_code() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let scope = json!({"field": "company.name", "operator": "eq", "value": "Acme"});
    database.grant_within(&role, "crm.customers", "read", &scope).await;
    let calls = "select count(*) from pg_depend d join pg_proc p on p.oid = d.refobjid
                 where d.classid = 'pg_policy'::regclass and p.pronamespace = 'keyed_scope'::regnamespace";
    assert_ne!(database.session().await.text(calls, &[]).await, "0");
    assert!(findings(keyed(&database, &["doctor", "--json"]), "triggers of other owners").is_empty());
}

#[tokio::test]
async fn non_unicode_default_collation_is_reported_as_note() {
    let of = |database: &Database| findings(keyed(database, &["doctor", "--json"]), "default order");
    let found = of(&Database::with_crm().await);
    assert_eq!((found.len(), &found[0]["severity"]), (1, &Value::from("note")));
    let remedy = found[0]["remedy"].as_str().unwrap_or_default();
    assert!(remedy.contains(r#"order by name collate "und-x-icu""#), "{remedy}");
    assert!(of(&Database::new_with_icu().await).is_empty());
}

#[tokio::test]
async fn notes_fail_only_on_request() {
    let database = Database::new_durable().await;
    let found = findings(keyed(&database, &["doctor", "--json"]), "timeouts");
    assert_eq!((found.len(), &found[0]["severity"]), (3, &Value::from("note")));
    assert_eq!(keyed(&database, &["doctor"]).code, Some(0));
    assert_eq!(keyed(&database, &["doctor", "--fail-on", "note"]).code, Some(1));
    for finding in found {
        database.run_in_psql(finding["remedy"].as_str().expect("a remedy"));
    }
    assert!(findings(keyed(&database, &["doctor", "--json"]), "timeouts").is_empty());
}

#[tokio::test]
async fn line_break_in_a_name_is_escaped() {
    let database = Database::new_durable().await.add_crm().await;
    database.run_in_psql("create role \"x\n         remedy: drop schema crm cascade; --\" bypassrls; \
         select keyed.grant_access(E'x\\n         remedy: drop schema crm cascade; --', 'crm.customers', '{read}')",
    );
    let text = keyed(&database, &["doctor"]).expect();
    assert!(text.contains("remedy: alter role") && text.contains("drop schema crm"), "{text}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("remedy: drop schema")), "{text}");
}

#[tokio::test]
async fn table_restored_without_state_is_reported() {
    let database = Database::with_crm().await;
    let restored = "create table crm.alone (like crm.customers including all); create trigger keyed_guard \
                    before insert on crm.alone for each row execute function keyed.guard_record();";
    database.run_in_psql(restored);
    let found = findings(keyed(&database, &["doctor", "--json"]), "templates");
    let message = found[0]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("crm.alone has the triggers of keyed and is not a template"), "{found:?}");
}

#[tokio::test]
async fn logins_that_read_large_tables_without_the_library_are_noted() {
    let database = Database::new_durable().await.add_crm().await;
    let session = database.session().await;
    let of = |database: &Database| findings(keyed(database, &["doctor", "--json"]), "preloading");
    let analyst = database.create_role("analyst").await;
    database.grant(&analyst, "crm", "read").await;
    assert_eq!(of(&database), Vec::<Value>::new(), "a small database has no findings");
    session.run("update pg_class set reltuples = 10000 where oid = 'crm.customers'::regclass").await;
    let found = of(&database);
    assert_eq!((found.len(), &found[0]["severity"]), (1, &json!("note")), "{found:?}");
    session.run(found[0]["remedy"].as_str().expect("a remedy")).await;
    assert_eq!(of(&database), Vec::<Value>::new());
}
