//! Requests for all shards.

use super::Two;
use serde_json::{Value, json};

fn slugs(projects: &Value) -> Vec<&str> {
    let projects = projects["projects"].as_array().expect("projects");
    projects.iter().filter_map(|project| project["slug"].as_str()).collect()
}

#[tokio::test]
async fn caller_has_the_projects_of_all_shards() {
    let two = Two::start().await;
    let projects = two.proxy.request("GET", "/v1/projects").send().await.expect(200);
    assert_eq!(slugs(&projects), ["art", "crm"]);
    assert_eq!(
        (&projects["projects"][0]["shard"], &projects["projects"][1]["shard"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(projects["unavailable_shards"], Value::Null);
    let me = two.proxy.request("GET", "/v1/me").send().await.expect(200);
    assert_eq!((&me["admin"], &me["projects"], &me["project"]), (&json!(true), &Value::Null, &Value::Null));
    assert_eq!(me["templates"].as_array().map(Vec::len), Some(2));

    let key = two.shards.api_key("keyed_admin", &[(3, &["art"]), (0, &["crm"])]).await;
    let me = two.proxy.request("GET", "/v1/me").key(&key).send().await.expect(200);
    assert_eq!((&me["projects"], &me["project"]), (&json!(["art", "crm"]), &Value::Null));
    let me = two.proxy.request("GET", "/v1/me").key(&key).project("crm").send().await.expect(200);
    assert_eq!((&me["projects"], &me["project"]), (&json!(["art", "crm"]), &json!("crm")));
    two.proxy.request("GET", "/v1/me").key(&key).project("moon").send().await.expect_error(404, "not_found");
}

#[tokio::test]
async fn key_of_one_shard_sees_nothing_of_the_others() {
    let two = Two::start().await;
    let key = two.shards.api_key("keyed_admin", &[(3, &["art"])]).await;
    let projects = two.proxy.request("GET", "/v1/projects").key(&key).send().await.expect(200);
    assert_eq!(slugs(&projects), ["art"]);
    let me = two.proxy.request("GET", "/v1/me").key(&key).send().await.expect(200);
    assert_eq!((&me["projects"], &me["project"]), (&json!(["art"]), &json!("art")));
    for path in ["/v1/me", "/v1/projects", "/v1/doctor"] {
        two.proxy.request("GET", path).key("keyed_50331650_x").send().await.expect_error(401, "unauthorized");
        two.proxy.request("GET", path).without_key().send().await.expect_error(401, "unauthorized");
        two.proxy.request("GET", &format!("{path}?x=1")).send().await.expect_error(400, "malformed_request");
        assert_eq!(two.proxy.request("TRACE", path).send().await.status, 405);
    }
}

#[tokio::test]
async fn project_is_created_on_the_named_or_the_emptiest_shard() {
    let two = Two::start().await;
    let create = async |body: Value| two.proxy.request("POST", "/v1/projects").json(&body).send().await;
    for (body, shard) in [
        (json!({"slug": "one", "shard": 3}), 3),
        (json!({"slug": "two"}), 0),
        (json!({"slug": "three", "shard": null}), 0),
    ] {
        create(body.clone()).await.expect(201);
        let session = two.shards.database(shard).session().await;
        let count = "select count(*) from keyed_state.project where slug = $1";
        let slug = body["slug"].as_str().expect("a slug");
        assert_eq!(session.text(count, &[slug]).await, "1", "{body}");
        // It is known at once.
        two.proxy.request("GET", "/v1/templates").project(slug).send().await.expect(200);
    }
    create(json!({"slug": "two"})).await.expect_error(409, "conflict");
    create(json!({"slug": "two", "shard": 3})).await.expect_error(409, "conflict");
    for shard in [json!(1), json!(128), json!("3"), json!(-1)] {
        let problem =
            create(json!({"slug": "four", "shard": shard})).await.expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], "/shard");
    }
    create(json!({"slug": "Four"})).await.expect_error(422, "invalid_slug");
    let role = two.shards.database(0).create_role("clerk").await;
    let key = two.shards.api_key(&role, &[(0, &[]), (3, &[])]).await;
    let denied = two.proxy.request("POST", "/v1/projects").key(&key).json(&json!({"slug": "five"}));
    denied.send().await.expect_error(403, "forbidden");
}

#[tokio::test]
async fn examination_covers_all_shards() {
    let two = Two::start().await;
    let examined = two.proxy.request("GET", "/v1/doctor").send().await.expect(200);
    let checks = examined["checks"].as_array().expect("checks");
    let of_shards = checks.iter().find(|check| check["name"] == "shards").expect("the check");
    assert_eq!(of_shards["sound"], true, "{examined}");
    let findings = examined["findings"].as_array().expect("findings");
    assert!(findings.iter().all(|finding| finding["shard"].is_number()), "{findings:?}");
}

#[tokio::test]
async fn metrics_name_the_shard_of_a_database() {
    let two = Two::start_with(&[("KEYED_METRICS_LISTEN", "127.0.0.1:0")]).await;
    two.upsert("art", "A-1").await;
    let text = two.proxy.metrics().await;
    for shard in ["0", "3"] {
        assert_eq!(text.sum("keyed_ready", &[("shard", shard)]), 1.0);
        assert_eq!(text.sum("keyed_measurements_up", &[("shard", shard)]), 1.0);
    }
}
