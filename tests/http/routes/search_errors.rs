//! Invalid searches: each error has its pointer.

use crate::routes::search::{PATH, five};
use harness::Response;
use serde_json::{Value, json};

/// Asserts that the response has one error, with this code and pointer.
#[track_caller]
fn expect_error_at(response: Response, code: &str, pointer: &str) {
    let error = response.expect_error(422, code);
    assert_eq!(error["errors"][0]["pointer"], pointer, "{error}");
    assert_eq!(error["errors"].as_array().map(Vec::len), Some(1), "{error}");
    assert_eq!(error["retryable"], false, "{error}");
}

#[tokio::test]
async fn errors_of_a_search_have_pointers() {
    let service = five().await;
    for (body, code, pointer) in [
        (
            json!({"filters": [{"field": "visits", "operator": "like", "value": "1"}]}),
            "operator_not_allowed",
            "/filters/0/operator",
        ),
        (
            json!({"filters": [{"field": "external_key", "operator": "gt", "value": "A"}]}),
            "operator_not_allowed",
            "/filters/0/operator",
        ),
        (
            json!({"filters": [{"field": "external_key", "operator": "lt", "value": "A"}]}),
            "operator_not_allowed",
            "/filters/0/operator",
        ),
        (
            json!({"filters": [{"field": "external_key", "operator": "between", "value": "A,B"}]}),
            "operator_not_allowed",
            "/filters/0/operator",
        ),
        (
            json!({"filters": [{"field": "nothing", "operator": "eq", "value": "1"}]}),
            "unknown_field",
            "/filters/0/field",
        ),
        (
            json!({"filters": [{"field": "visits", "operator": "eq", "value": "x"}]}),
            "invalid_value",
            "/filters/0/value",
        ),
        (json!({"filter_groups": [[], []]}), "invalid_value", "/filter_groups/0"),
        (json!({"filters": "visits"}), "invalid_value", "/filters"),
        (json!({"sort": "nothing"}), "unknown_field", "/sort"),
        (json!({"limit": 0}), "invalid_value", "/limit"),
        (json!({"limit": -1}), "invalid_value", "/limit"),
        (json!({"limit": 1_000_000_000}), "invalid_value", "/limit"),
        (json!({"limit": "x"}), "invalid_value", "/limit"),
        (json!({"fields": ["nothing"]}), "unknown_field", "/fields/0"),
        (json!({"facets": ["nothing"]}), "unknown_field", "/facets/0"),
        (json!({"count": "all"}), "invalid_value", "/count"),
        (json!({"verbose": "yes"}), "invalid_value", "/verbose"),
        (json!({"time_zone": "Mars/Olympus"}), "invalid_value", "/time_zone"),
        (json!({"attribute_key": "label"}), "invalid_value", "/attribute_key"),
        (json!({"filter": []}), "unknown_field", "/filter"),
        (json!({"filters": [], "a/b~c": 1}), "unknown_field", "/a~1b~0c"),
        (json!({"page": 2}), "unknown_field", "/page"),
    ] {
        let response = service.post(PATH, body.clone()).await;
        if body == json!({"filter_groups": [[], []]}) {
            let error = response.expect_error(422, code);
            let pointers: Vec<&Value> =
                error["errors"].as_array().into_iter().flatten().map(|problem| &problem["pointer"]).collect();
            assert_eq!(pointers, ["/filter_groups/0", "/filter_groups/1"]);
        } else {
            expect_error_at(response, code, pointer);
        }
    }
    let error = service
        .post(PATH, json!({"filters": [{"field": "external_key", "operator": "gt", "value": "A"}]}))
        .await;
    let error = error.expect_error(422, "operator_not_allowed");
    let accepted = "eq, neq, in, not-in, like, not-like, empty, not-empty";
    assert!(error["detail"].as_str().is_some_and(|detail| detail.ends_with(accepted)), "{error}");
}

#[tokio::test]
async fn non_object_body_is_malformed() {
    let service = five().await;
    service.proxy.request("POST", &format!("/v1{PATH}")).send().await.expect_error(400, "malformed_request");
    for body in [
        "",
        " ",
        "{",
        "[]",
        "null",
        "1",
        "\"x\"",
        "{} {}",
        "{\"filters\": [}",
        "{\"filters\": [{\"field\": \"name\", \"operator\": \"eq\", \"value\": NaN}]}",
        "{\"a\u{0}\": 1}",
    ] {
        service.send_text("POST", PATH, body).await.expect_error(400, "malformed_request");
    }
    let deep = format!("{{\"filter_groups\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    service.send_text("POST", PATH, deep).await.expect_error(422, "invalid_value");
    for query in ["?limit=1", "?cursor=x", "?filters=[]", "?x"] {
        service.post(&format!("{PATH}{query}"), json!({})).await.expect_error(400, "malformed_request");
    }
    let request = service.proxy.request("POST", &format!("/v1{PATH}")).body("text/plain", "{}");
    request.send().await.expect_error(415, "unsupported_media_type");
    for method in ["GET", "PUT", "PATCH", "DELETE"] {
        let response = service.proxy.request(method, &format!("/v1{PATH}")).json(&json!({})).send().await;
        assert_eq!(response.status, 405, "{method}: {}", response.text);
    }
    service.post(PATH, json!({})).await.expect(200);
}
