//! A standby is promoted while the proxy, whose URL contains both servers, waits for a primary that does not respond.

use harness::{Cluster, Database, Durability, Proxy, Relay, until};
use serde_json::{Value, json};
use std::sync::Arc;

/// A primary behind a relay, its standby, and a proxy that prefers the primary.
struct Pair {
    primary: Database,
    relay: Relay,
    standby: Arc<Cluster>,
    proxy: Proxy,
}

impl Pair {
    async fn new() -> Self {
        let primary = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
        let key = primary.api_key("keyed_admin", &[]).await;
        let relay = Relay::before(primary.cluster());
        let standby = tokio::task::block_in_place(|| primary.cluster().start_standby());
        let host = |url: String| {
            let rest = url.split_once('@').expect("a role").1;
            rest.split_once('/').expect("a database").0.to_owned()
        };
        let hosts =
            [relay.url("keyed_proxy", "none"), standby.url("keyed_proxy", "none")].map(host).join(",");
        let url =
            format!("postgresql://keyed_proxy@{hosts}/{}?target_session_attrs=read-write", primary.name());
        // The proxy sends the statement without waiting for the response to its preparation.
        let settings = [("KEYED_POOL_SIZE", "16"), ("KEYED_PREPARED_STATEMENTS", "false")];
        let proxy = Proxy::start_at(&url, &settings, &key).await.in_project("crm");
        Self { primary, relay, standby: Arc::new(standby), proxy }
    }

    async fn upsert(&self, key: &str, header: Option<&str>) -> (u16, Value) {
        upsert(&self.proxy, key, header).await
    }

    /// Waits until the standby has caught up, and promotes it. The old primary no longer responds.
    async fn fail_over(&self) {
        tokio::task::block_in_place(|| {
            self.standby.catch_up_with(self.primary.cluster());
            self.standby.promote();
        });
    }
}

fn upsert(proxy: &Proxy, key: &str, header: Option<&str>) -> impl Future<Output = (u16, Value)> + use<> {
    let mut request = proxy.request("PUT", "/v1/entities/template/customers/by-key");
    if let Some(header) = header {
        request = request.header("idempotency-key", header);
    }
    let response = request.json(&json!({"external_key": key, "attributes": {"name": key}})).send();
    async move {
        let response = response.await;
        (response.status, response.body)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suspended_primary_is_replaced_by_a_promoted_standby() {
    let pair = Pair::new().await;
    // Two connections are open.
    let (session, lock) = (pair.primary.session().await, pair.primary.session().await);
    lock.run("begin; lock crm.customers").await;
    let first = ["A", "B"].map(|key| tokio::spawn(upsert(&pair.proxy, key, None)));
    session.until_blocked(2).await;
    lock.run("commit").await;
    for request in first {
        assert_eq!(request.await.expect("the request gets a response").0, 201);
    }
    // New connections hang, too, like those to a suspended server.
    pair.relay.hold_responses();
    pair.relay.hold_connections();
    let plain = tokio::spawn(upsert(&pair.proxy, "plain", None));
    let once = tokio::spawn(upsert(&pair.proxy, "once", Some("once")));
    let both = "select count(*) from crm.customers where external_key in ('plain', 'once')";
    session.until(both, "2").await;
    pair.fail_over().await;

    let (status, problem) = plain.await.expect("the request gets a response");
    assert_eq!((status, &problem["outcome"], &problem["retryable"]), (503, &json!("unknown"), &json!(false)));
    // The proxy sends the request again, and the new primary recognizes it.
    let (status, record) = once.await.expect("the request gets a response");
    assert_eq!((status, &record["created"]), (201, &json!(true)), "{record}");
    assert_eq!(pair.upsert("D", None).await.0, 201);

    // The old primary still accepts writes. It gets none.
    pair.relay.release_connections();
    pair.relay.release_responses();
    let busy: Vec<_> = (0..20).map(|it| tokio::spawn(upsert(&pair.proxy, &format!("E{it}"), None))).collect();
    for request in busy {
        assert_eq!(request.await.expect("the request gets a response").0, 201);
    }
    let written = "select count(*) from crm.customers where external_key ~ '^[DE]'";
    assert_eq!(session.text(written, &[]).await, "0");
    let found = pair
        .standby
        .sql(pair.primary.name(), "select count(*) from crm.customers where external_key ~ '^[DE]'");
    assert_eq!(found, "21");
    assert!(pair.proxy.log().contains("host 2 of the database URL is the new primary"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn primary_of_an_older_timeline_is_not_used() {
    let pair = Pair::new().await;
    assert_eq!(pair.upsert("A", None).await.0, 201);
    // Both accept writes now. The first still responds, so the proxy has no reason to connect elsewhere.
    pair.fail_over().await;
    assert_eq!(pair.upsert("B", None).await.0, 201);
    // Then it does not respond for a moment.
    pair.relay.hold_responses();
    pair.relay.hold_connections();
    until("the new primary is known", async || pair.proxy.log().contains("is the new primary")).await;
    pair.relay.release_connections();
    pair.relay.release_responses();
    tokio::task::block_in_place(|| pair.standby.stop());
    // Nothing is written to the old primary, although the new one is down.
    let (status, problem) = pair.upsert("C", None).await;
    assert_eq!((status, &problem["retryable"]), (503, &json!(true)), "{problem}");
    assert!(
        pair.proxy.log().contains("on a timeline older than that of another primary"),
        "{}",
        pair.proxy.log()
    );
}
