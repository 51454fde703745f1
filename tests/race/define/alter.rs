//! Template changes during reads and writes of records.

use crate::{Waiting, first_row};
use harness::{Database, Service, Session};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinSet;

/// Changes of a template that do not affect the attribute `visits`.
const CHANGES: [&str; 4] = [
    r#"select keyed.alter_template('crm.customers', '{"rename": {"name": "title"}}')"#,
    r#"select keyed.alter_template('crm.customers', '{"drop": ["name"]}')"#,
    r#"select keyed.alter_template('crm.customers', '{"attributes": [{"slug": "note", "type": "string"}]}')"#,
    "alter table crm.customers drop column name",
];

/// Reads and writes of a record that use only `visits`.
const STATEMENTS: [&str; 7] = [
    "select keyed.upsert_by_key('crm.customers', 'A-1', '{\"visits\": 2}')",
    "select keyed.upsert_by_key('crm.customers', 'A-2', '{\"visits\": 2}')",
    "select keyed.create_record('crm.customers', '{\"visits\": 2}')",
    "select keyed.patch_record($1, '{\"attributes\": {\"visits\": 2}}')",
    "select keyed.replace_attributes($1, '{\"visits\": 2}')",
    "select keyed.get_record($1)",
    "select keyed.delete_record($1)",
];

/// A customer's id, and a session that has cached the current template.
async fn prepared(database: &Database) -> (Session, String) {
    let session = database.session().await;
    let upsert =
        "select id from keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Ada\", \"visits\": 1}')";
    let id = session.text(upsert, &[]).await;
    for statement in STATEMENTS {
        session.rows(&format!("begin; {statement}; rollback"), &[&id]).await;
    }
    (session, id)
}

#[tokio::test]
async fn waiting_request_uses_the_new_definition() {
    for change in CHANGES {
        let database = Database::with_crm().await;
        let (first, observer) = (database.session().await, database.session().await);
        for statement in STATEMENTS {
            let (session, id) = prepared(&database).await;
            first.run("begin").await;
            first.run(change).await;
            let waiting = Waiting::start(session, &observer, statement, &[&id]).await;
            first.run("commit").await;
            if let Err(error) = waiting.outcome().await {
                // At worst, the request gets a retryable error.
                assert_eq!(error.state, "40001", "{statement} after {change}: {error}");
            }
            // Restores the original template for the next statement.
            first.run("select keyed.drop_template('crm.customers', true)").await;
            first.run("select keyed.create_template('crm', 'customers', '[{\"slug\": \"name\", \"type\": \"string\"}, {\"slug\": \"visits\", \"type\": \"number\"}]')").await;
        }
    }
}

#[tokio::test]
async fn change_of_a_template_waits_for_writes() {
    let database = Database::with_crm().await;
    let (writer, observer) = (database.session().await, database.session().await);
    writer.run("begin; select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Ada\"}')").await;
    let rename = CHANGES[0];
    let waiting = Waiting::start(database.session().await, &observer, rename, &[]).await;
    writer.run("commit").await;
    first_row(&waiting.outcome().await.expect("a change"));
    assert_eq!(observer.text("select title from crm.customers", &[]).await, "Ada");
}

#[tokio::test]
async fn template_change_under_load_causes_no_failure() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "6"), ("KEYED_POOL_WAIT", "30")]).await;
    let over = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for caller in 0..6 {
        let (url, key, over) = (
            service.proxy.url("/v1/entities/template/customers/by-key"),
            service.proxy.key().to_owned(),
            Arc::clone(&over),
        );
        callers.spawn(async move {
            let client = reqwest::Client::builder().no_proxy().build().expect("a client");
            let (mut done, mut failures) = (0, Vec::new());
            while !over.load(Ordering::Relaxed) {
                let body =
                    json!({"external_key": format!("K-{caller}"), "attributes": {"visits": {"$inc": 1}}});
                let request = if done % 2 == 0 {
                    client.put(&url).json(&body)
                } else {
                    client.get(format!("{url}?key=K-{caller}"))
                };
                let response = request
                    .bearer_auth(&key)
                    .header("x-service-project-id", "crm")
                    .send()
                    .await
                    .expect("a response");
                done += 1;
                if ![200, 201].contains(&response.status().as_u16()) {
                    failures.push(response.text().await.unwrap_or_default());
                }
            }
            (done, failures)
        });
    }
    for round in 0..12 {
        let path = "/templates/customers";
        service
            .patch(path, json!({"attributes": [{"slug": format!("extra_{round}"), "type": "string"}]}))
            .await
            .expect(200);
        service
            .patch(path, json!({"rename": {format!("extra_{round}"): format!("more_{round}")}}))
            .await
            .expect(200);
        service.patch(path, json!({"drop": [format!("more_{round}")]})).await.expect(200);
    }
    over.store(true, Ordering::Relaxed);
    let reported = callers.join_all().await;
    let failures: Vec<&String> = reported.iter().flat_map(|reported| &reported.1).collect();
    assert!(
        failures.is_empty(),
        "{} of {} requests failed: {}",
        failures.len(),
        reported.iter().map(|reported| reported.0).sum::<usize>(),
        failures[0]
    );
}

#[tokio::test]
async fn readers_of_a_view_wait_for_changes_of_its_template_without_deadlock() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"visits": 1}');
               select keyed.save_view('crm.customers', 'busy', '{"filters": [{"field": "visits", "operator": "gt", "value": 0}]}');
               select keyed.save_view('crm.customers', 'of_acme', '{"filters": [{"field": "company.name", "operator": "empty"}]}')"#,
        )
        .await;
    let over = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for reader in 0..4 {
        let (session, over) = (database.session().await, Arc::clone(&over));
        readers.spawn(async move {
            let statements = [
                "select count(*) from crm.customers__busy",
                "select jsonb_array_length(keyed.search('crm.customers', '{\"view\": \"busy\"}') -> 'records')",
                "select count(*) from crm.customers__of_acme",
                "select count(*) from crm.customers__of_acme join crm.customers__busy using (id)",
            ];
            let mut done = 0;
            while !over.load(Ordering::Relaxed) {
                assert_eq!(session.text(statements[(reader + done) % 4], &[]).await, "1");
                done += 1;
            }
            done
        });
    }
    for round in 0..8 {
        for change in [
            format!(r#"{{"attributes": [{{"slug": "extra_{round}", "type": "string"}}]}}"#),
            format!(r#"{{"rename": {{"extra_{round}": "more_{round}"}}}}"#),
            format!(r#"{{"drop": ["more_{round}"]}}"#),
        ] {
            session.rows("select keyed.alter_template('crm.customers', $1)", &[&change]).await;
        }
    }
    over.store(true, Ordering::Relaxed);
    assert!(readers.join_all().await.iter().sum::<usize>() > 20);
}
