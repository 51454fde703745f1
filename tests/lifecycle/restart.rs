//! PostgreSQL stops and starts while the proxy runs; the proxy is stopped.

use harness::{Cluster, Database, Durability, Service, until};
use serde_json::json;
use std::sync::Arc;

/// A service with its own server.
async fn alone(settings: &[(&str, &str)]) -> Service {
    let database = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    Service::over(database, settings).await
}

/// Waits until the proxy reports the failure. It caches its readiness for a second.
async fn readiness(service: &Service, status: u16) {
    let ask = async || service.proxy.request("GET", "/readyz").send().await.status == status;
    until(&format!("/readyz answers {status}"), ask).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_get_503_while_postgresql_is_down() {
    let service = alone(&[("KEYED_POOL_SIZE", "4")]).await;
    service.upsert("K", json!({"name": "Ada"})).await.expect(201);
    let cluster = Arc::clone(service.database.cluster());
    for _ in 0..2 {
        tokio::task::block_in_place(|| cluster.stop());
        for response in [
            service.by_key("K").await,
            service.upsert("K", json!({"name": "Bea"})).await,
            service.get("/templates").await,
        ] {
            assert!(response.header("retry-after").parse::<u32>().is_ok(), "{response:?}");
            let body = response.expect_error(503, "unavailable");
            assert_eq!(body["retryable"], true);
        }
        service.proxy.request("GET", "/healthz").send().await.expect(200);
        readiness(&service, 503).await;

        tokio::task::block_in_place(|| cluster.start_again());
        until("the proxy finds the server", async || service.by_key("K").await.status == 200).await;
        for _ in 0..30 {
            service.upsert("K", json!({"visits": {"$inc": 1}})).await.expect(200);
            service.by_key("K").await.expect(200);
        }
        readiness(&service, 200).await;
    }
    assert_eq!(service.by_key("K").await.expect(200)["attributes"]["visits"], 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restart_between_requests_causes_no_failure() {
    let service = alone(&[("KEYED_POOL_SIZE", "4")]).await;
    service.upsert("K", json!({"name": "Ada"})).await.expect(201);
    let warm = (0..8).map(|_| tokio::spawn(service.proxy.request("GET", "/v1/templates").send()));
    for request in warm.collect::<Vec<_>>() {
        request.await.expect("the request ends").expect(200);
    }
    let tag = service.by_key("K").await.header("etag").to_owned();
    let cluster = Arc::clone(service.database.cluster());
    tokio::task::block_in_place(|| {
        cluster.stop();
        cluster.start_again();
    });
    for _ in 0..20 {
        let response = service.by_key("K").await;
        assert_eq!(response.header("etag"), tag, "an unchanged record keeps its tag");
        response.expect(200);
    }
    service.upsert("K", json!({"name": "Bea"})).await.expect(200);
}

/// A database in which writing a customer waits for an advisory lock.
async fn with_waiting_writes(service: &Service) {
    service.session().await.run(
        "create function crm.wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
         create trigger zz_wait before insert on crm.customers for each row execute function crm.wait()",
    ).await;
}

/// Without this line in its log, a proxy has closed all connections in time.
const CUT_OFF: &str = "some requests were interrupted";

#[tokio::test]
async fn stopping_proxy_finishes_requests_and_exits_with_0() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "8")]).await;
    with_waiting_writes(&service).await;
    let holder = service.session().await;
    holder.run("select pg_advisory_lock(1)").await;
    let requests: Vec<_> = (0..4)
        .map(|number| {
            let body = json!({"external_key": format!("K-{number}")});
            tokio::spawn(service.proxy.request("POST", "/v1/entities/template/customers").json(&body).send())
        })
        .collect();
    holder.until_blocked(4).await;
    let Service { mut proxy, database } = service;
    proxy.request_shutdown();
    until("the proxy stops", async || proxy.log().contains("stopping")).await;
    holder.run("select pg_advisory_unlock(1)").await;
    let status = proxy.ended().await;
    assert_eq!(status.code(), Some(0), "{status}");
    assert!(!proxy.log().contains(CUT_OFF), "{}", proxy.log());
    for request in requests {
        request.await.expect("the request ends").expect(201);
    }
    assert_eq!(database.session().await.text("select count(*) from crm.customers", &[]).await, "4");
}

#[tokio::test]
async fn idle_proxy_stops_immediately() {
    let service = Service::start().await;
    service.get("/templates").await.expect(200);
    let Service { mut proxy, database: _database } = service;
    proxy.request_shutdown();
    assert_eq!(proxy.ended().await.code(), Some(0));
    assert!(!proxy.log().contains(CUT_OFF), "an idle connection delayed it: {}", proxy.log());
}
