//! API keys for projects of several shards.

use super::{Two, create_project};
use serde_json::{Value, json};

#[tokio::test]
async fn key_is_valid_on_the_shards_of_its_projects() {
    let two = Two::start().await;
    create_project(two.shards.database(3), "other").await;
    let role = two.shards.database(0).create_role("erp").await;
    for (shard, target) in [(0, "crm"), (3, "art"), (3, "other")] {
        two.shards.database(shard).grant(&role, target, "read").await;
    }
    let body = json!({"role": role, "projects": ["art", "crm"], "label": "both", "expires_at": "2999-12-31T23:59:59Z"});
    let made = two.proxy.request("POST", "/v1/api-keys").json(&body).send().await.expect(201);
    assert_eq!((&made["projects"], &made["label"]), (&json!(["art", "crm"]), &json!("both")));
    assert_eq!(made["unavailable_shards"], Value::Null);
    let key = made["key"].as_str().expect("the key");
    let get = async |project: &str| {
        two.proxy.request("GET", "/v1/templates").key(key).project(project).send().await
    };
    get("crm").await.expect(200);
    get("art").await.expect(200);
    get("other").await.expect_error(404, "not_found");

    let path = format!("/v1/api-keys/{}", made["id"]);
    two.proxy.request("DELETE", &path).send().await.expect(204);
    get("crm").await.expect_error(401, "unauthorized");
    get("art").await.expect_error(401, "unauthorized");
    two.proxy.request("DELETE", "/v1/api-keys/16777215").send().await.expect_error(404, "not_found");
}

#[tokio::test]
async fn revocation_reports_shards_where_the_key_stays_valid() {
    let two = Two::start().await;
    let body = json!({"role": "keyed_admin", "projects": ["crm", "art"]});
    let made = two.proxy.request("POST", "/v1/api-keys").json(&body).send().await.expect(201);
    let key = made["key"].as_str().expect("the key");
    let path = format!("/v1/api-keys/{}", made["id"]);
    for (shard, other) in [(0, "art"), (3, "crm")] {
        let limited = two.shards.api_key("keyed_admin", &[(shard, &[])]).await;
        let response = two.proxy.request("DELETE", &path).key(&limited).send().await;
        if shard == 0 {
            let problem = response.expect_error(403, "forbidden");
            let detail = problem["detail"].as_str().expect("a detail");
            assert!(detail.contains("may still be valid on shard 3"), "{detail}");
            two.proxy.request("GET", "/v1/templates").key(key).project(other).send().await.expect(200);
            continue;
        }
        // Shard 0 issued the key. This key cannot find out that it is revoked there.
        let problem = response.expect_error(403, "forbidden");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("may still be valid on shard 0"), "{detail}");
    }
    for project in ["crm", "art"] {
        let read = two.proxy.request("GET", "/v1/templates").key(key).project(project).send().await;
        read.expect_error(401, "unauthorized");
    }
    // A key of one shard needs no other.
    let limited = two.shards.api_key("keyed_admin", &[(3, &[])]).await;
    let single = two.shards.api_key("keyed_admin", &[(3, &["art"])]).await;
    let id = single.split('_').nth(1).expect("an id");
    two.proxy.request("DELETE", &format!("/v1/api-keys/{id}")).key(&limited).send().await.expect(204);
}

#[tokio::test]
async fn key_without_projects_is_valid_on_all_shards() {
    let two = Two::start().await;
    let body = json!({"role": "keyed_admin"});
    let made = two.proxy.request("POST", "/v1/api-keys").json(&body).send().await.expect(201);
    let key = made["key"].as_str().expect("the key");
    for project in ["crm", "art"] {
        two.proxy.request("GET", "/v1/templates").key(key).project(project).send().await.expect(200);
    }
    assert_eq!(made["projects"], Value::Null);
}

#[tokio::test]
async fn completing_a_key_is_idempotent() {
    let two = Two::start().await;
    let key = two.shards.api_key("keyed_admin", &[(0, &["crm"])]).await;
    let body =
        json!({"role": "keyed_admin", "projects": ["crm", "art"], "label": "issued by a test", "key": key});
    for _ in 0..2 {
        let completed = two.proxy.request("POST", "/v1/api-keys").json(&body).send().await.expect(200);
        assert_eq!((&completed["key"], &completed["projects"]), (&json!(key), &json!(["crm", "art"])));
    }
    two.proxy.request("GET", "/v1/templates").key(&key).project("art").send().await.expect(200);
    let other = json!({"role": "keyed_admin", "projects": ["crm", "art"], "label": "another", "key": key});
    two.proxy.request("POST", "/v1/api-keys").json(&other).send().await.expect_error(409, "conflict");
    for key in [json!("x"), json!(key)] {
        let body = json!({"role": "keyed_admin", "projects": ["crm"], "key": key});
        let problem = two
            .proxy
            .request("POST", "/v1/api-keys")
            .json(&body)
            .send()
            .await
            .expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], "/key");
    }
}

#[tokio::test]
async fn rejected_key_is_on_no_shard() {
    let two = Two::start().await;
    for (body, pointer) in [
        (json!({"role": "nobody here", "projects": ["crm", "art"]}), "/role"),
        (json!({"role": "keyed_admin", "projects": ["crm", "art", "moon"]}), "/projects/2"),
        (json!({"role": "keyed_admin", "projects": []}), "/projects"),
        (json!({"role": "keyed_admin", "projects": "crm"}), "/projects"),
        (json!({"roles": "keyed_admin"}), "/roles"),
    ] {
        let answer = two.proxy.request("POST", "/v1/api-keys").json(&body).send().await;
        assert_eq!((answer.status, &answer.body["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
    }
    // Shard 3 does not know the key of this administrator.
    let limited = two.shards.api_key("keyed_admin", &[(0, &[])]).await;
    let body = json!({"role": "keyed_admin"});
    let denied = two.proxy.request("POST", "/v1/api-keys").key(&limited).json(&body).send().await;
    let problem = denied.expect_error(403, "forbidden");
    assert_eq!(problem["detail"], "your API key is not valid on shard 3");
    let of_art = two.shards.api_key("keyed_admin", &[(3, &[])]).await;
    let denied = two.proxy.request("POST", "/v1/api-keys").key(&of_art).json(&body).send().await;
    let problem = denied.expect_error(403, "forbidden");
    assert_eq!(problem["detail"], "your API key is not valid on shard 0");
    let body = json!({"role": "keyed_admin", "projects": ["crm", "art"]});
    let denied = two.proxy.request("POST", "/v1/api-keys").key(&limited).json(&body).send().await;
    denied.expect_error(403, "forbidden");
    for shard in [0, 3] {
        let session = two.shards.database(shard).session().await;
        let valid = "select count(*) from keyed_state.api_key where revoked_at is null and label is distinct from 'issued by a test'";
        assert_eq!(session.text(valid, &[]).await, "0", "shard {shard}");
    }
    let role = two.shards.database(0).create_role("clerk").await;
    let key = two.shards.api_key(&role, &[(0, &[]), (3, &[])]).await;
    for projects in [json!(["crm", "art"]), json!(["moon"]), Value::Null] {
        let body = json!({"role": role, "projects": projects});
        let denied = two.proxy.request("POST", "/v1/api-keys").key(&key).json(&body).send().await;
        denied.expect_error(403, "forbidden");
    }
}
