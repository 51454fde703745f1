//! Interrupted imports and exports.

use futures_util::stream;
use harness::customers::HISTORY;
use harness::{Database, PATIENCE, Service, Session};
use std::time::Duration;

/// The number of open transactions of the proxy.
const OPEN: &str = "select count(*) from pg_stat_activity where usename = 'keyed_proxy' \
                    and datname = current_database() and xact_start is not null";

/// Waits until an import has written something: visible if each chunk is a transaction, or an open transaction if the
/// file is one.
async fn until_written(session: &Session, query: &str) {
    let written = match query {
        "on_error=abort" => {
            "select exists (select from pg_locks l join pg_stat_activity a using (pid) where l.mode = 'RowExclusiveLock'
             and l.relation = 'crm.customers'::regclass and a.datname = current_database())"
        }
        _ => "select exists (select from crm.customers)",
    };
    session.until(written, "t").await;
}

/// A file with this many rows, after which its sender sends nothing more.
fn endless(rows: usize) -> reqwest::Body {
    let chunks = stream::unfold(0, move |number| async move {
        if number >= rows {
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
        let header = if number == 0 { "external_key,name\n" } else { "" };
        let lines: String = (number..number + 100).map(|key| format!("k{key},n\n")).collect();
        Some((Ok::<_, std::io::Error>(format!("{header}{lines}")), number + 100))
    });
    reqwest::Body::wrap_stream(chunks)
}

#[tokio::test]
async fn disconnected_import_leaves_whole_chunks() {
    let service = Service::start().await;
    let session = service.session().await;
    for (query, accept) in
        [("on_error=abort", "*/*"), ("on_error=abort", "application/x-ndjson"), ("on_error=skip", "*/*")]
    {
        let path = format!("/v1/entities/template/customers/import?{query}");
        let request =
            service.proxy.request("POST", &path).header("accept", accept).body("text/csv", endless(10_000));
        let sending = tokio::spawn(request.send());
        until_written(&session, query).await;
        assert!(!sending.is_finished(), "it should still wait for rows");
        sending.abort();
        session.until(OPEN, "0").await;
        let there: usize =
            session.text("select count(*) from crm.customers", &[]).await.parse().expect("a number");
        match query {
            "on_error=abort" => assert_eq!(there, 0),
            _ => assert!(there > 0 && there.is_multiple_of(2000), "{there} rows are there"),
        }
    }
    let torn = &format!(
        "select count(*) from crm.customers c where not exists (select from {HISTORY} h where h.record_id = c.id)"
    );
    assert_eq!(session.text(torn, &[]).await, "0");
}

#[tokio::test]
async fn disconnect_ends_the_export() {
    let service = Service::start().await;
    let session = service.session().await;
    session.run("insert into crm.customers (external_key, name) select 'k' || n, repeat('x', 1000) from generate_series(1, 20000) n").await;
    let mut response =
        service.proxy.request("GET", "/v1/entities/template/customers/export").response().await;
    assert!(response.chunk().await.expect("a chunk").is_some());
    assert_eq!(session.text(OPEN, &[]).await, "1");
    drop(response);
    session.until(OPEN, "0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_server_keeps_whole_chunks() {
    let service = Service::over(Database::new_durable().await.add_crm().await, &[]).await;
    for query in ["on_error=abort", "on_error=skip"] {
        let path = format!("/v1/entities/template/customers/import?{query}");
        let sending = service.proxy.request("POST", &path).body("text/csv", endless(1_000_000)).send();
        let sending = tokio::spawn(sending);
        until_written(&service.session().await, query).await;
        tokio::task::block_in_place(|| service.database.cluster().kill());
        let response = tokio::time::timeout(PATIENCE, sending).await.expect("a response").expect("sent");
        assert_eq!(response.status, 503, "{}", response.text);
        tokio::task::block_in_place(|| service.database.cluster().start_again());
        let session = service.session().await;
        let there: usize =
            session.text("select count(*) from crm.customers", &[]).await.parse().expect("a number");
        match query {
            "on_error=abort" => assert_eq!(there, 0),
            _ => assert!(there > 0 && there.is_multiple_of(2000), "{there} rows are there"),
        }
        let torn = &format!(
            "select count(*) from crm.customers c where (select count(*) from {HISTORY} h where h.record_id = c.id) <> 1"
        );
        assert_eq!(session.text(torn, &[]).await, "0");
    }
}
