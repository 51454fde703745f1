//! Database connections are shared fairly among callers.

use harness::{Database, Relay, Service, Session, until};
use serde_json::json;

/// Six of eight connections are not pipelined, and one of these six stays free for other callers.
const POOL: [(&str, &str); 4] = [
    ("KEYED_POOL_SIZE", "8"),
    ("KEYED_POOL_WAIT", "2"),
    ("KEYED_REQUEST_TIMEOUT", "600"),
    ("KEYED_METRICS_LISTEN", "127.0.0.1:0"),
];

/// Waits until this many statements of the proxy wait for a lock.
async fn blocked(session: &Session, count: usize) {
    let statement = "select count(*) from pg_stat_activity where datname = current_database() \
                     and usename = 'keyed_proxy' and wait_event_type = 'Lock'";
    session.until(statement, &count.to_string()).await;
}

/// A role with all privileges on customers and companies, and its keys.
async fn writer<const N: usize>(service: &Service, name: &str) -> [String; N] {
    let role = service.database.create_role(name).await;
    for template in ["crm.customers", "crm.companies"] {
        for right in ["read", "create"] {
            service.database.grant(&role, template, right).await;
        }
    }
    let mut keys = [const { String::new() }; N];
    for key in &mut keys {
        *key = service.database.api_key(&role, &["crm"]).await;
    }
    keys
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_one_role_leave_connections_for_others() {
    let service = Service::start_with(&POOL).await;
    let busy: [String; 3] = writer(&service, "busy").await;
    let [other]: [String; 1] = writer(&service, "other").await;
    let (session, observer) = (service.session().await, service.session().await);
    session.run("begin; lock table crm.customers in access exclusive mode").await;
    let write = |key: &str, template: &str| {
        let path = format!("/v1/entities/template/{template}");
        let attributes = json!({"attributes": {"name": "Ada"}});
        service.proxy.request("POST", &path).key(key).json(&attributes).send()
    };
    let waiting: Vec<_> =
        busy.iter().cycle().take(5).map(|key| tokio::spawn(write(key, "customers"))).collect();
    blocked(&observer, 5).await;
    let response = write(&busy[0], "companies").await;
    assert!(!response.header("retry-after").is_empty());
    response.expect_error(429, "rate_limited");
    write(&other, "companies").await.expect(201);
    let rejected =
        service.proxy.metrics().await.sum("keyed_http_rejected_total", &[("reason", "role_connections")]);
    assert_eq!(rejected, 1.0);
    session.run("rollback").await;
    for request in waiting {
        request.await.expect("the request ends").expect(201);
    }
    write(&busy[0], "companies").await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unresponsive_database_is_a_server_error() {
    let database = Database::with_crm().await;
    let relay = Relay::before(database.cluster());
    let url = relay.url("keyed_proxy", database.name());
    let settings = [&POOL[..], &[("KEYED_DATABASE_URL", &url)]].concat();
    let service = Service::over(database, &settings).await;
    service.upsert("K-1", json!({"name": "Ada"})).await.expect(201);
    relay.hold_responses();
    let requests: Vec<_> = (0..12)
        .map(|number| {
            let attributes = json!({"attributes": {"name": format!("Ada {number}")}});
            let request = service.proxy.request("POST", "/v1/entities/template/customers").json(&attributes);
            tokio::spawn(async move { request.send().await })
        })
        .collect();
    // Four requests wait for the database, the others for a connection.
    until("eight are rejected", async || requests.iter().filter(|it| it.is_finished()).count() == 8).await;
    relay.release_responses();
    for request in requests {
        let response = request.await.expect("the request ends");
        if response.status != 201 {
            response.expect_error(503, "unavailable");
        }
    }
}
