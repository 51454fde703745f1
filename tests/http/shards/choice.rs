//! The shard of a request.

use super::{Two, create_project};
use harness::id_of;
use serde_json::{Value, json};

#[tokio::test]
async fn project_header_chooses_the_shard() {
    let two = Two::start().await;
    two.upsert("crm", "A-1").await;
    two.upsert("art", "A-1").await;
    for (shard, schema) in [(0, "crm"), (3, "art")] {
        let session = two.shards.database(shard).session().await;
        assert_eq!(session.text(&format!("select count(*) from {schema}.customers"), &[]).await, "1");
    }
    for project in ["art", "50331648"] {
        let path = "/v1/entities/template/customers/by-key?key=A-1";
        let record = two.proxy.request("GET", path).project(project).send().await.expect(200);
        assert!(record["template_id"].as_str().is_some_and(|id| id.starts_with("39321")), "{record}");
    }
    let unknown = two.proxy.request("GET", "/v1/templates").project("moon").send().await;
    unknown.expect_error(404, "not_found");
}

#[tokio::test]
async fn ids_in_the_path_choose_the_shard() {
    let two = Two::start().await;
    let record = two.upsert("art", "A-1").await;
    let id = id_of(&record);
    let read = async |path: &str| two.proxy.request("GET", path).send().await.expect(200);
    let record = read(&format!("/v1/entities/{id}")).await;
    let template = record["template_id"].as_str().expect("a text").to_owned();
    assert_eq!(read(&format!("/v1/templates/{template}")).await["project"], "art");
    let found = read(&format!("/v1/entities/template/{template}/by-key?key=A-1")).await;
    assert_eq!(found["id"], id);
    let search = two.proxy.request("POST", &format!("/api/v1/entities/search/{template}"));
    let found = search.json(&json!({})).send().await.expect(200);
    assert_eq!(found["records"].as_array().map(Vec::len), Some(1));
    let changes = read(&format!("/v1/changes?after=start&template={template}")).await;
    assert_eq!(changes["changes"][0]["id"], id);
}

#[tokio::test]
async fn record_of_another_project_is_not_found() {
    let two = Two::start().await;
    let record = two.upsert("art", "A-1").await;
    let path = format!("/v1/entities/{}", id_of(&record));
    let other = two.proxy.request("GET", &path).project("crm").send().await;
    other.expect_error(404, "not_found");
    // The key of crm is not known on shard 3.
    let key = two.shards.api_key("keyed_admin", &[(0, &["crm"])]).await;
    for _ in 0..3 {
        two.proxy.request("GET", &path).key(&key).send().await.expect_error(404, "not_found");
        let other = two.proxy.request("GET", "/v1/templates").key(&key).project("art").send().await;
        other.expect_error(404, "not_found");
    }
    let own = two.proxy.request("GET", "/v1/templates").key(&key).send().await.expect(200);
    assert_eq!(own["templates"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn key_without_a_project_leads_to_its_home_shard() {
    let two = Two::start().await;
    let key = two.shards.api_key("keyed_admin", &[(3, &["art"])]).await;
    assert!(key.starts_with("keyed_503316"), "{key}");
    two.upsert("art", "A-1").await;
    let path = "/v1/entities/template/customers/by-key?key=A-1";
    two.proxy.request("GET", path).key(&key).send().await.expect(200);
}

#[tokio::test]
async fn invalid_key_is_unauthorized_on_every_shard() {
    let two = Two::start().await;
    let key = two.shards.api_key("keyed_admin", &[(3, &["art"])]).await;
    let revoked =
        two.proxy.request("DELETE", &format!("/v1/api-keys/{}", key.split('_').nth(1).expect("an id")));
    revoked.send().await.expect(204);
    for (key, project) in [(key.as_str(), "art"), (key.as_str(), "crm"), ("keyed_1_x", "art"), ("x", "crm")] {
        let answer = two.proxy.request("GET", "/v1/templates").key(key).project(project).send().await;
        answer.expect_error(401, "unauthorized");
    }
    two.proxy
        .request("GET", "/v1/templates")
        .without_key()
        .project("art")
        .send()
        .await
        .expect_error(401, "unauthorized");
}

#[tokio::test]
async fn delivery_goes_to_the_shard_of_its_token() {
    let two = Two::start().await;
    let endpoint = json!({
        "slug": "orders", "template": "customers", "external_key": "$.id", "mapping": {"name": "$.name"}, "signed": false,
    });
    let made = two.proxy.request("POST", "/v1/inbound-endpoints").project("art").json(&endpoint);
    let made = made.send().await.expect(201);
    let token = made["token"].as_str().expect("a token");
    assert!(token.starts_with("in_50331648_"), "{token}");
    let deliver = two.proxy.request("POST", &format!("/v1/inbound/{token}")).without_key();
    deliver.json(&json!({"id": "A-1", "name": "Ada"})).send().await.expect(200);
    let path = "/v1/entities/template/customers/by-key?key=A-1";
    two.proxy.request("GET", path).project("art").send().await.expect(200);
    // By its id, an endpoint needs no project.
    let path = "/v1/inbound-endpoints/50331648/deliveries";
    let deliveries = two.proxy.request("GET", path).send().await.expect(200);
    assert_eq!(deliveries["deliveries"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn new_project_is_found_by_its_first_request() {
    let two = Two::start().await;
    create_project(two.shards.database(3), "later").await;
    two.upsert("later", "A-1").await;
    // Issued before the project existed.
    let templates = two.proxy.request("GET", "/v1/templates").project("later").send().await.expect(200);
    assert_eq!(templates["templates"][0]["project"], "later");
}

#[tokio::test]
async fn project_of_two_shards_is_a_conflict_by_slug_only() {
    let two = Two::start().await;
    create_project(two.shards.database(3), "twice").await;
    create_project(two.shards.database(0), "twice").await;
    let problem =
        two.proxy.request("GET", "/v1/templates").project("twice").send().await.expect_error(409, "conflict");
    assert_eq!(problem["detail"], "the project twice is on shards 0 and 3");
    let id = two.shards.database(3).session().await;
    let id = id.text("select id from keyed_state.project where slug = 'twice'", &[]).await;
    let found = two.proxy.request("GET", "/v1/templates").project(&id).send().await.expect(200);
    assert_eq!(found["templates"][0]["project"], "twice");
    let examined = two.proxy.request("GET", "/v1/doctor").send().await.expect(200);
    let findings = examined["findings"].as_array().expect("findings");
    let is_named = |finding: &Value| finding["message"] == "the project twice is on shards 0 and 3";
    assert!(findings.iter().any(is_named), "{findings:?}");
    let wrong = two.proxy.request("GET", "/v1/templates").key("keyed_1_x").project("twice").send().await;
    wrong.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn grant_goes_to_the_shard_of_its_target() {
    let two = Two::start().await;
    let role = two.shards.database(3).create_role("clerk").await;
    let grant = json!({"role": role, "target": "art.customers", "privileges": ["read"]});
    two.proxy.request("PUT", "/v1/grants").json(&grant).send().await.expect(200);
    let path = format!("/v1/grants?role={role}&target=art.customers");
    let listed = two.proxy.request("GET", &path).send().await.expect(200);
    assert_eq!(listed["grants"].as_array().map(Vec::len), Some(1));
    two.proxy.request("DELETE", &path).send().await.expect(204);
}

#[tokio::test]
async fn reference_into_another_shard_is_rejected_with_its_shard() {
    let two = Two::start().await;
    let target = two.upsert("art", "A-1").await;
    let session = two.shards.database(0).session().await;
    session
        .run(
            r#"select keyed.create_template('crm', 'orders',
            '[{"slug": "customer", "type": "reference", "template": "customers"}]')"#,
        )
        .await;
    let body = json!({"attributes": {"customer": id_of(&target)}});
    let answer =
        two.proxy.request("POST", "/v1/entities/template/orders").project("crm").json(&body).send().await;
    let problem = answer.expect_error(422, "reference_not_found");
    assert!(problem.to_string().contains("belongs to shard 3"), "{problem}");
}
