//! Calls that catch errors of their statements do not catch cancellations and timeouts of the session.

use crate::Waiting;
use harness::{Database, Session};
use serde_json::json;

const DELIVER: &str = "select keyed_http.deliver(sha256(convert_to($1, 'UTF8')), null, null, null, $2)";

/// Calls that wait for the transaction of [`hold`], each in a subtransaction of its own.
async fn calls(session: &Session) -> Vec<(&'static str, Vec<String>)> {
    let endpoint =
        json!({"slug": "shop", "external_key": "$.id", "signed": false, "mapping": {"name": "$.name"}});
    let create = "select keyed.create_inbound_endpoint('crm.customers', $1) ->> 'token'";
    let token = session.text(create, &[&endpoint.to_string()]).await;
    let operations = json!([{"op": "upsert", "template": "crm.customers", "external_key": "held"},
                            {"op": "upsert", "template": "crm.customers", "external_key": "free"}]);
    let options = json!({"format": "csv", "header": ["external_key", "name"], "delimiter": ","}).to_string();
    let payload = json!({"id": "held", "name": "Ada"}).to_string();
    vec![
        ("select used from keyed.quota_usage('crm') where name = 'live_records'", vec![]),
        ("select * from keyed.checksums()", vec![]),
        ("select keyed.upsert_by_key('crm.customers', 'held')", vec![]),
        ("select keyed.batch($1)", vec![operations.to_string()]),
        ("select keyed.batch($1, true)", vec![operations.to_string()]),
        (
            "select keyed_http.import_rows(t.id::text, $1, $2) from keyed_state.template t where t.slug = 'customers'",
            vec![options, "held,Ada\nfree,Bob\n".to_owned()],
        ),
        (DELIVER, vec![token, payload.clone()]),
        (
            "select keyed.dry_run_inbound(1, $1)",
            vec![json!({"payload": {"id": "held", "name": "Ada"}}).to_string()],
        ),
    ]
}

/// Creates a record that no other session sees yet, and locks a table exclusively.
async fn hold(session: &Session) {
    session
        .run(
            "begin; select keyed.upsert_by_key('crm.customers', 'held'); \
             lock table crm.companies in access exclusive mode",
        )
        .await;
}

#[tokio::test]
async fn canceled_call_raises_and_returns_no_result() {
    let database = Database::with_crm().await;
    let (holder, observer) = (database.session().await, database.session().await);
    let calls = calls(&observer).await;
    hold(&holder).await;
    for (statement, strings) in &calls {
        let strings: Vec<&str> = strings.iter().map(String::as_str).collect();
        let waiting = Waiting::start(database.session().await, &observer, statement, &strings).await;
        observer.text("select pg_cancel_backend($1)", &[&waiting.process]).await;
        match waiting.outcome().await {
            Ok(rows) => panic!("`{statement}` was canceled, but returned {rows:?}"),
            Err(error) => assert_eq!(error.state, "57014", "`{statement}`: {error}"),
        }
    }
    holder.run("rollback").await;
    let written = "select count(*) from crm.customers";
    assert_eq!(observer.text(written, &[]).await, "0");
}

#[tokio::test]
async fn lock_timeout_raises_and_returns_no_result() {
    let database = Database::with_crm().await;
    let (holder, session) = (database.session().await, database.session().await);
    let calls = calls(&session).await;
    hold(&holder).await;
    session.run("set lock_timeout = '10ms'").await;
    for (statement, strings) in &calls {
        let strings: Vec<&str> = strings.iter().map(String::as_str).collect();
        let error = session.error(statement, &strings).await;
        assert_eq!(error.state, "55P03", "`{statement}`: {error}");
    }
    holder.run("rollback").await;
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "0");
}
