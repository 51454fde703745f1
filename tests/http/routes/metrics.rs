//! Routes at …/metrics/{slug}.

use harness::{Service, id_of};
use serde_json::{Value, json};

/// A customer with a point at each of the hours 0 to 9, and the path of the series.
async fn with_points() -> (Service, String) {
    let service = Service::start().await;
    let points: Value =
        (0..10).map(|hour| json!({"at": format!("2024-02-29T0{hour}:00:00Z"), "value": hour})).collect();
    let record = service.create(json!({"attributes": {"mood": points}})).await;
    let path = format!("/entities/{}/metrics/mood", id_of(&record));
    (service, path)
}

fn values(page: &Value) -> Vec<i64> {
    page["points"].as_array().into_iter().flatten().filter_map(|point| point["value"].as_i64()).collect()
}

#[tokio::test]
async fn series_is_returned_oldest_first() {
    let (service, path) = with_points().await;
    let page = service.get(&path).await.expect(200);
    assert_eq!(values(&page), (0..10).collect::<Vec<_>>());
    assert_eq!(page["points"][3], json!({"at": "2024-02-29T03:00:00Z", "value": 3}));
    assert_eq!(page["next_cursor"], Value::Null);
    let span = service.get(&format!("{path}?from=2024-02-29T02:00:00Z&to=2024-02-29T06:00:00%2B01:00")).await;
    assert_eq!(values(&span.expect(200)), [2, 3, 4]);
}

#[tokio::test]
async fn series_is_aggregated_in_buckets() {
    let (service, path) = with_points().await;
    for (aggregate, expected) in [
        ("min", [0, 4, 8]),
        ("max", [3, 7, 9]),
        ("sum", [6, 22, 17]),
        ("count", [4, 4, 2]),
        ("last", [3, 7, 9]),
    ] {
        let page = service.get(&format!("{path}?bucket=4h&aggregate={aggregate}")).await.expect(200);
        assert_eq!(values(&page), expected, "{aggregate}");
    }
    let average = service.get(&format!("{path}?bucket=4h")).await.expect(200);
    assert_eq!(average["points"][0], json!({"at": "2024-02-29T00:00:00Z", "value": 1.5}));
}

#[tokio::test]
async fn pages_of_a_series_follow_their_cursor() {
    let (service, path) = with_points().await;
    let (mut seen, mut query) = (Vec::new(), "limit=3".to_owned());
    loop {
        let page = service.get(&format!("{path}?{query}")).await.expect(200);
        seen.extend(values(&page));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("limit=3&cursor={}", harness::encode(cursor));
    }
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
}

#[tokio::test]
async fn invalid_series_request_is_rejected() {
    let (service, path) = with_points().await;
    for query in [
        "from=yesterday",
        "to=2024-02-29",
        "bucket=1w",
        "bucket=0h",
        "bucket=",
        "aggregate=avg",
        "bucket=1h&aggregate=median",
        "limit=0",
        "limit=10001",
        "limit=x",
        "cursor=x",
        "cursor=1.x",
    ] {
        service.get(&format!("{path}?{query}")).await.expect_error(422, "invalid_value");
    }
    service.get(&format!("{path}?since=1")).await.expect_error(400, "malformed_request");
    for slug in ["name", "nothing", "external_key", "%20"] {
        let response = service.get(&path.replace("mood", slug)).await;
        response.expect_error(422, "unknown_attribute");
    }
}

#[tokio::test]
async fn points_are_replaced_and_deleted() {
    let (service, path) = with_points().await;
    let wrong = json!({"points": [{"at": "2024-02-29T09:00:00Z", "value": 0.5}]});
    let corrected = service.put(&path, wrong.clone()).await.expect(200);
    let latest = json!({"at": "2024-02-29T09:00:00Z", "value": 0.5});
    assert_eq!(corrected, json!({"deleted": 1, "added": 1, "latest": latest}));
    let range = json!({"points": [], "from": "2024-02-29T02:00:00Z", "to": "2024-02-29T09:00:00Z"});
    assert_eq!(service.put(&path, range).await.expect(200)["deleted"], 7);
    let left = service.get(&path).await.expect(200);
    assert_eq!(left["points"].as_array().map(Vec::len), Some(3));
    let deleted = service.delete(&format!("{path}?at=2024-02-29T10:00:00%2B01:00")).await.expect(200);
    assert_eq!(
        deleted,
        json!({"deleted": 1, "added": 0, "latest": {"at": "2024-02-29T01:00:00Z", "value": 1}})
    );
    let record = path.strip_suffix("/metrics/mood").expect("a path");
    assert_eq!(service.get(record).await.expect(200)["attributes"]["mood"], 1);
    let all = service.delete(&format!("{path}?from=0001-01-01T00:00:00Z")).await.expect(200);
    assert_eq!((&all["deleted"], &all["latest"]), (&json!(2), &Value::Null));
    for (body, code) in [
        (json!({}), "invalid_value"),
        (json!({"points": []}), "invalid_value"),
        (json!({"points": [1]}), "invalid_value"),
        (json!({"points": [], "at": "2024-02-29T10:00:00Z"}), "unknown_field"),
    ] {
        service.put(&path, body).await.expect_error(422, code);
    }
    service.delete(&path).await.expect_error(422, "invalid_value");
    service.delete(&format!("{path}?since=1")).await.expect_error(400, "malformed_request");
    let stale = service.proxy.request("PUT", &format!("/v1{path}")).header("If-Match", "\"0\"").json(&wrong);
    stale.send().await.expect_error(412, "precondition_failed");
}

#[tokio::test]
async fn repeated_correction_gets_the_stored_response() {
    let (service, path) = with_points().await;
    let send = async || {
        let request = service.proxy.request("DELETE", &format!("/v1{path}?at=2024-02-29T09:00:00Z"));
        request.header("Idempotency-Key", "once").send().await.expect(200)
    };
    let first = send().await;
    assert_eq!((&first["deleted"], send().await), (&json!(1), first.clone()));
}
