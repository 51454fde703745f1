//! Requests with `wait`.

use super::{MEASURED, cursor, next_cursor, until_listening};
use harness::Service;
use serde_json::json;
use tokio::join;

#[tokio::test]
async fn waiting_request_returns_the_change() {
    let service = Service::start_with(&[MEASURED]).await;
    let after = cursor(&service).await;
    for path in
        [format!("/changes?after={after}&wait=60&include=record&numbers=string"), "/changes?wait=60".into()]
    {
        let write = async {
            until_listening(&service, 1).await;
            service.upsert("W-1", json!({"visits": 1.1, "name": path.as_str()})).await
        };
        let (page, _) = join!(service.get(&path), write);
        let page = page.expect(200);
        assert_eq!(page["changes"][0]["external_key"], "W-1", "{page}");
        if path.contains("record") {
            assert_eq!(page["changes"][0]["record"]["attributes"]["visits"], "1.1");
        }
        until_listening(&service, 0).await;
    }
}

#[tokio::test]
async fn changes_of_other_templates_do_not_complete_a_waiting_request() {
    let service = Service::start_with(&[MEASURED]).await;
    let after = cursor(&service).await;
    let of_companies = service.get("/changes?template=companies").await.expect(200);
    let path = format!("/changes?template=companies&wait=60&after={}", next_cursor(&of_companies));
    let write = async {
        until_listening(&service, 1).await;
        service.upsert("W-1", json!({"name": "Ada"})).await.expect(201);
        service.get(&format!("/changes?wait=60&after={after}")).await.expect(200);
        service
            .post(
                "/entities/template/companies",
                json!({"external_key": "C-1", "attributes": {"name": "Acme"}}),
            )
            .await
    };
    let (page, _) = join!(service.get(&path), write);
    assert_eq!(page.expect(200)["changes"][0]["external_key"], "C-1");
}

#[tokio::test]
async fn request_returns_after_its_wait_or_immediately_with_changes() {
    let service = Service::start().await;
    let page = service.get("/changes?wait=1").await.expect(200);
    assert_eq!((&page["changes"], &page["has_more"]), (&json!([]), &json!(false)));
    service.upsert("W-1", json!({"name": "Ada"})).await.expect(201);
    let page = service.get(&format!("/changes?wait=60&after={}", next_cursor(&page))).await.expect(200);
    assert_eq!(page["changes"][0]["external_key"], "W-1");
    let head = service.proxy.request("HEAD", "/v1/changes?wait=60").send().await;
    assert_eq!(head.status, 200, "it does not wait");
}

#[tokio::test]
async fn invalid_wait_is_rejected() {
    let service = Service::start().await;
    for wait in ["61", "-1", "0.5", "x", ""] {
        service.get(&format!("/changes?wait={wait}")).await.expect_error(422, "invalid_value");
    }
    service.get("/changes?wait=60&after=forged").await.expect_error(422, "invalid_value");
    service.get("/changes?wait=60&template=none").await.expect_error(404, "not_found");
    let stream = service.proxy.request("GET", "/v1/changes?wait=1").header("accept", "text/event-stream");
    stream.send().await.expect_error(422, "invalid_value");
    let unnamed = service.proxy.request("GET", "/v1/changes?wait=1&template=1").without_project();
    unnamed.send().await.expect_error(400, "project_required");
}

#[tokio::test]
async fn key_revoked_during_the_wait_is_denied() {
    let service = Service::start_with(&[MEASURED]).await;
    let key = service.database.api_key("keyed_admin", &["crm"]).await;
    let request = service.proxy.request("GET", "/v1/changes?wait=60").key(&key).without_project();
    let revoke = async {
        until_listening(&service, 1).await;
        let id = key.split('_').nth(1).expect("a number");
        service.session().await.run(&format!("select keyed.revoke_api_key({id})")).await;
        service.upsert("W-1", json!({"name": "Ada"})).await.expect(201);
    };
    let (rejected, ()) = join!(request.send(), revoke);
    rejected.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn drain_ends_waiting_requests() {
    let service = Service::start_with(&[MEASURED, ("KEYED_DRAIN", "600")]).await;
    let stop = async {
        until_listening(&service, 1).await;
        service.proxy.request_shutdown();
    };
    let (page, ()) = join!(service.get("/changes?wait=60"), stop);
    assert_eq!(page.header("connection"), "close");
    assert_eq!(page.expect(200)["changes"], json!([]));
}
