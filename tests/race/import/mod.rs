//! Imports with concurrent writers.

mod mirror;

use crate::assert_no_deadlock;
use harness::{Database, Service};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const KEYS: usize = 3000;

/// A file with all keys, in a different order for each number.
fn file(number: usize) -> String {
    let mut keys: Vec<usize> = (0..KEYS).collect();
    keys.sort_by_key(|key| ((key + 1) * (number * 2 + 1) * 2_654_435_761) % 1_000_003);
    let rows: String = keys.iter().map(|key| format!("k{key:05},n{number}\n")).collect();
    format!("external_key,name\n{rows}")
}

fn send(service: &Service, query: &str, number: usize) -> impl Future<Output = harness::Response> + use<> {
    let path = format!("/v1/entities/template/customers/import?{query}");
    service.proxy.request("POST", &path).body("text/csv", file(number)).send()
}

async fn assert_each_key_once(service: &Service) {
    let session = service.session().await;
    let counts =
        "select count(*) || ' ' || count(distinct external_key) from crm.customers where deleted_at is null";
    assert_eq!(session.text(counts, &[]).await, format!("{KEYS} {KEYS}"));
}

#[tokio::test]
async fn concurrent_imports_create_no_duplicate() {
    for query in ["on_error=skip", "on_error=abort"] {
        let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
        let mut imports = JoinSet::new();
        for number in 0..3 {
            imports.spawn(send(&service, query, number));
        }
        let reports: Vec<Value> =
            imports.join_all().await.into_iter().map(|response| response.expect(200)).collect();
        let created: u64 = reports.iter().filter_map(|report| report["created"].as_u64()).sum();
        assert_eq!(created, KEYS as u64, "{reports:?}");
        assert_each_key_once(&service).await;
        assert_no_deadlock(&service.database);
    }
}

#[tokio::test]
async fn import_completes_during_batches_over_the_same_keys() {
    for (query, number) in [("on_error=skip", 1), ("on_error=abort", 2)] {
        let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
        let mut imports = JoinSet::new();
        imports.spawn(send(&service, query, number));
        let mut batches = JoinSet::new();
        for batch in 0..20 {
            let operations: Vec<Value> = (0..50)
                .map(|step| {
                    let key = format!("k{:05}", (batch * 97 + step * 59) % KEYS);
                    json!({"op": "upsert", "template": "customers", "external_key": key, "attributes": {"name": "b"}})
                })
                .collect();
            let body = json!({"atomic": true, "conflict": "wait", "operations": operations});
            batches.spawn(service.proxy.request("POST", "/v1/entities/batch").json(&body).send());
        }
        for response in imports.join_all().await {
            assert_eq!(response.expect(200)["failed"], 0);
        }
        let batches = batches.join_all().await;
        if query == "on_error=skip" {
            assert!(batches.iter().all(|response| response.status == 200));
            assert_no_deadlock(&service.database);
        } else {
            // The transaction of the whole file holds locks that others wait for, so they may get retryable errors.
            let reported =
                |response: &harness::Response| response.status == 503 && response.body["retryable"] == true;
            assert!(
                batches.iter().all(|response| response.status == 200 || reported(response)),
                "{batches:?}"
            );
        }
        assert_each_key_once(&service).await;
    }
}

#[tokio::test]
async fn update_does_not_create_a_deleted_record() {
    let service = Service::start_with(&[("KEYED_POOL_WAIT", "30")]).await;
    for key in ["a", "b", "c"] {
        service.upsert(key, json!({"name": "old", "visits": 1})).await.expect(201);
    }
    // One statement writes plain values for all rows; increments need one for each row.
    let lines = |change: Value| -> String {
        ["a", "b", "c"]
            .map(|key| json!({"external_key": key, "attributes": change}).to_string() + "\n")
            .concat()
    };
    for (key, change) in [("a", json!({"name": "new"})), ("b", json!({"visits": {"$inc": 1}}))] {
        let other = service.session().await;
        other.run("begin").await;
        other
            .run(&format!("select keyed.delete_record(id) from crm.customers where external_key = '{key}'"))
            .await;
        let path = "/v1/entities/template/customers/import?on_error=skip&mode=update";
        let import = service.proxy.request("POST", path).body("application/x-ndjson", lines(change)).send();
        let import = tokio::spawn(import);
        let watcher = service.session().await;
        watcher.until_blocked(1).await;
        other.run("commit").await;
        let report = import.await.expect("a response").expect(200);
        assert_eq!((&report["created"], report["failed"].as_u64() > Some(0)), (&json!(0), true), "{report}");
        let message = report["errors"].to_string();
        assert!(message.contains(&format!("has the key \\\"{key}\\\"")), "{report}");
    }
    let left = "select string_agg(concat_ws('=', external_key, name, visits), ' ' order by external_key) \
                from crm.customers where deleted_at is null";
    assert_eq!(service.session().await.text(left, &[]).await, "c=new=2");
}

#[tokio::test]
async fn timed_out_import_names_the_blocking_one() {
    let database = Database::with_crm().await;
    let (first, second) = (database.session().await, database.session().await);
    let template = "(select id::text from keyed_state.template where slug = 'customers')";
    let options = r#"{"format": "ndjson", "is_whole": true}"#;
    let import = &format!("select keyed_http.import_rows({template}, '{options}', '')");
    let find = &format!("select keyed_http.find_import({template})");
    first.run(&format!("begin; {import}")).await;
    second.run("set lock_timeout = '50ms'").await;
    let error = second.error(import, &[]).await;
    assert_eq!(error.codes(), ("55006", "import_in_progress"), "{error}");
    let login = first.text("select session_user::text", &[]).await;
    assert!(error.message.starts_with(&format!("{login} has been importing a file since 20")), "{error}");
    // The earlier lock timeout is restored, and the locks are still held.
    assert_eq!(second.text("show lock_timeout", &[]).await, "50ms");
    first.run("commit").await;
    second.run(&format!("begin; {import}; {import}")).await;
    let holder = first.text(find, &[]).await;
    assert!(holder.contains(&format!("\"process\":{}", second.process().await)), "{holder}");
    second.run("commit").await;
    let error = first.error(find, &[]).await;
    assert_eq!(error.state, "P0002", "{error}");
}
