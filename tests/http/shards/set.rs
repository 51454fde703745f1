//! Databases that are not the shards that the settings say.

use super::{Two, create_project};
use harness::{Database, Proxy, Shards};
use serde_json::{Value, json};

async fn proxy_of(databases: Vec<(u8, Database)>, key: &str) -> (Proxy, Shards) {
    let shards = Shards::of(databases);
    (Proxy::start_sharded(&shards.setting(), &[], key).await, shards)
}

#[tokio::test]
async fn database_with_another_number_is_not_used() {
    let databases = (Database::new().await, Database::new().await, Database::new().await);
    databases.0.become_shard(0).await;
    databases.1.become_shard(3).await;
    create_project(&databases.0, "crm").await;
    let key = databases.0.api_key("keyed_admin", &[]).await;
    // One has another number, one is not a shard.
    let (proxy, _shards) = proxy_of(vec![(0, databases.0), (4, databases.1), (5, databases.2)], &key).await;
    let ready = proxy.request("GET", "/readyz").send().await.expect(200);
    assert_eq!(ready["unavailable_shards"], json!([4, 5]));
    proxy.request("GET", "/v1/templates").project("crm").send().await.expect(200);
    for (shard, reason) in [(4, "and it is shard 3"), (5, "and it is not a shard")] {
        let template = (shard << 17) + 1;
        let path = format!("/v1/templates/{template}");
        let problem = proxy.request("GET", &path).send().await.expect_error(503, "unavailable");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.starts_with(&format!("shard {shard}: ")) && detail.contains(reason), "{detail}");
    }
    let log = proxy.log();
    assert!(log.contains("KEYED_SHARDS has this database as shard 4, and it is shard 3"), "{log}");
}

#[tokio::test]
async fn reload_takes_new_urls_and_keeps_the_set_of_shards() {
    let shards = Shards::new(&[0, 3]).await;
    create_project(shards.database(3), "art").await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    let write = |text: &str| std::fs::write(file.path(), text).expect("the file is accessible");
    write(&shards.setting());
    let key = shards.administrator().await;
    let path = file.path().to_str().expect("letters").to_owned();
    let proxy = Proxy::start_with_settings(&[("KEYED_SHARDS_FILE", &path)], &key).await;
    proxy.request("GET", "/v1/templates").project("art").send().await.expect(200);

    write(&shards.setting().replace("\n3=", "\n7="));
    proxy.signal("HUP");
    let rejection = "has other shards than before, which needs a restart";
    harness::until("the log has the rejection", async || proxy.log().contains(rejection)).await;
    let url = format!("{}?application_name=renamed", shards.setting());
    write(&url);
    proxy.signal("HUP");
    let session = shards.database(3).session().await;
    harness::until("connections have the new name", async || {
        proxy.request("GET", "/v1/templates").project("art").send().await.expect(200);
        let count = "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'renamed'";
        session.text(count, &[]).await != "0"
    })
    .await;
}

#[tokio::test]
async fn problem_of_a_shard_has_its_request_id_and_route() {
    let two = Two::start_with(&[("KEYED_LOG_FORMAT", "json")]).await;
    let id = "0192f0c1-2222-7abc-8def-0123456789ab";
    let path = "/v1/entities/template/customers/by-key?key=none";
    let response = two.proxy.request("GET", path).project("art").header("x-request-id", id).send().await;
    assert_eq!(response.header("x-request-id"), id);
    response.expect_error(404, "not_found");
    let lines = two.proxy.access_log(id).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["route"], "/v1/entities/template/{template}/by-key");
    assert_eq!(lines[0]["project"], "art");
    let id = "all-shards";
    two.proxy.request("GET", "/v1/projects").header("x-request-id", id).send().await.expect(200);
    let lines = two.proxy.access_log(id).await;
    assert_eq!((lines.len(), &lines[0]["route"]), (1, &Value::from("/v1/projects")), "{lines:?}");
    assert_eq!(lines[0]["role"], "keyed_admin");
}
