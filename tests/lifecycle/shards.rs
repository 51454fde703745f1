//! One of several shards stops, or does not respond in time, while the others serve.

use harness::{Cluster, Database, Durability, Proxy, Relay, Shards, until};
use serde_json::{Value, json};
use std::sync::Arc;

/// The project `crm` on shard 0, and `art` on shard 3, which has a server of its own.
async fn shards() -> Shards {
    let art = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await;
    let shards = Shards::of(vec![(0, Database::new().await), (3, art)]);
    for (number, project) in [(0, "crm"), (3, "art")] {
        let database = shards.database(number);
        database.become_shard(number).await;
        let session = database.session().await;
        session.run(&format!("select keyed.create_project('{project}', '{project}')")).await;
        let attributes = r#"[{"slug": "name", "type": "string"}]"#;
        session.run(&format!("select keyed.create_template('{project}', 'customers', '{attributes}')")).await;
    }
    shards
}

async fn status(proxy: &Proxy, project: &str) -> u16 {
    proxy.request("GET", "/v1/templates").project(project).send().await.status
}

async fn unavailable_shards(proxy: &Proxy, path: &str) -> Value {
    proxy.request("GET", path).send().await.expect(200)["unavailable_shards"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_shard_is_named_and_leaves_the_others() {
    let shards = shards().await;
    let proxy = shards.start().await;
    assert_eq!((status(&proxy, "crm").await, status(&proxy, "art").await), (200, 200));
    let cluster = Arc::clone(shards.database(3).cluster());
    tokio::task::block_in_place(|| cluster.stop());

    for project in ["art", "50331648"] {
        let response = proxy.request("GET", "/v1/templates").project(project).send().await;
        let problem = response.expect_error(503, "unavailable");
        assert_eq!(problem["unavailable_shards"], json!([3]));
        assert!(
            problem["detail"].as_str().is_some_and(|detail| detail.starts_with("shard 3: ")),
            "{problem}"
        );
    }
    assert_eq!(status(&proxy, "crm").await, 200);
    for path in ["/v1/me", "/v1/projects"] {
        assert_eq!(unavailable_shards(&proxy, path).await, json!([3]), "{path}");
    }
    let examined = proxy.request("GET", "/v1/doctor").send().await.expect(200);
    assert_eq!((&examined["healthy"], &examined["unavailable_shards"]), (&json!(false), &json!([3])));
    until("/readyz names the shard", async || unavailable_shards(&proxy, "/readyz").await == json!([3]))
        .await;

    tokio::task::block_in_place(|| cluster.start_again());
    until("the shard serves", async || status(&proxy, "art").await == 200).await;
    until("/readyz names no shard", async || unavailable_shards(&proxy, "/readyz").await == Value::Null)
        .await;
    assert_eq!(unavailable_shards(&proxy, "/v1/projects").await, Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_is_completed_and_revoked_after_a_shard_was_down() {
    let shards = shards().await;
    let proxy = shards.start().await;
    assert_eq!(status(&proxy, "art").await, 200);
    let cluster = Arc::clone(shards.database(3).cluster());
    tokio::task::block_in_place(|| cluster.stop());

    let mut body = json!({"role": "keyed_admin", "projects": ["art", "crm"], "label": "both"});
    let made = proxy.request("POST", "/v1/api-keys").json(&body).send().await.expect(201);
    assert_eq!(made["unavailable_shards"], json!([3]));
    let key = made["key"].as_str().expect("the key").to_owned();
    let with_key = async |project: &str| {
        proxy.request("GET", "/v1/templates").key(&key).project(project).send().await.status
    };
    assert_eq!(with_key("crm").await, 200);

    tokio::task::block_in_place(|| cluster.start_again());
    until("the shard serves", async || status(&proxy, "art").await == 200).await;
    assert_eq!(with_key("art").await, 404, "the shard lacks the key");
    body["key"] = json!(key);
    let completed = proxy.request("POST", "/v1/api-keys").json(&body).send().await.expect(200);
    assert_eq!((&completed["id"], &completed["unavailable_shards"]), (&made["id"], &Value::Null));
    until("the key is valid", async || with_key("art").await == 200).await;

    tokio::task::block_in_place(|| cluster.stop());
    let path = format!("/v1/api-keys/{}", made["id"]);
    let problem = proxy.request("DELETE", &path).send().await.expect_error(503, "unavailable");
    assert_eq!(problem["unavailable_shards"], json!([3]));
    assert_eq!(with_key("crm").await, 401);
    tokio::task::block_in_place(|| cluster.start_again());
    until("the shard serves", async || status(&proxy, "art").await == 200).await;
    proxy.request("DELETE", &path).send().await.expect(204);
    assert_eq!((with_key("crm").await, with_key("art").await), (401, 401));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_starts_without_a_shard() {
    let shards = shards().await;
    let of_both = shards.api_key("keyed_admin", &[(3, &["art"]), (0, &["crm"])]).await;
    let administrator = shards.administrator().await;
    let cluster = Arc::clone(shards.database(3).cluster());
    tokio::task::block_in_place(|| cluster.stop());
    let proxy = Proxy::start_sharded(&shards.setting(), &[], &administrator).await;

    assert_eq!(status(&proxy, "crm").await, 200);
    // The shard that issued the key cannot say whether it is valid.
    let own = proxy.request("GET", "/v1/templates").key(&of_both).project("crm").send().await;
    own.expect(200);
    // It may be on the shard that did not respond.
    let unknown = proxy.request("GET", "/v1/templates").project("art").send().await;
    let problem = unknown.expect_error(503, "unavailable");
    assert_eq!(problem["unavailable_shards"], json!([3]));
    let project = json!({"slug": "later"});
    proxy.request("POST", "/v1/projects").json(&project).send().await.expect_error(503, "unavailable");

    tokio::task::block_in_place(|| cluster.start_again());
    until("the project is found", async || status(&proxy, "art").await == 200).await;
    proxy.request("POST", "/v1/projects").json(&project).send().await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_to_a_silent_shard_leave_room_for_the_others() {
    let shards = shards().await;
    let silent = shards.database(3);
    let relay = Relay::before(silent.cluster());
    let entries = [
        format!("0={}", shards.database(0).cluster().url("keyed_proxy", shards.database(0).name())),
        format!("3={}", relay.url("keyed_proxy", silent.name())),
    ];
    // A tenth of the request timeout is the deadline of requests to all shards.
    let settings =
        [("KEYED_MAX_REQUESTS", "8"), ("KEYED_REQUEST_TIMEOUT", "20"), ("KEYED_STATEMENT_TIMEOUT", "15")];
    let administrator = shards.administrator().await;
    let proxy = Proxy::start_sharded(&entries.join(" "), &settings, &administrator).await;
    assert_eq!((status(&proxy, "crm").await, status(&proxy, "art").await), (200, 200));

    relay.hold_responses();
    let ask = || tokio::spawn(proxy.request("GET", "/v1/templates").project("art").send());
    // A half of all requests in flight may wait for the shard: the others do not.
    let sent: Vec<_> = (0..8).map(|_| ask()).collect();
    until("its requests in flight are used up", async || sent.iter().any(|it| it.is_finished())).await;
    for _ in 0..8 {
        assert_eq!(status(&proxy, "crm").await, 200);
    }
    assert_eq!(unavailable_shards(&proxy, "/v1/projects").await, json!([3]));
    relay.release_responses();
    let mut rejected = 0;
    for request in sent {
        let response = request.await.expect("the request ends");
        if response.text.contains("shard 3: the service has reached its maximum number of requests in flight")
        {
            rejected += 1;
        }
    }
    assert_eq!(rejected, 4);
    until("the shard serves", async || status(&proxy, "art").await == 200).await;
}
