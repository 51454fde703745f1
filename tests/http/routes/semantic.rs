//! Semantic search over HTTP: status, headers and the form of the response.

use harness::{Database, Proxy, Response, Service, id_of, similar, vector};
use serde_json::{Value, json};

const PATH: &str = "/entities/semantic-search";

async fn ask(service: &Service, query: Value) -> Response {
    let mut body = json!({"query_vector": vector(&[(0, 1.0)]), "template_id": "customers"});
    for (name, value) in query.as_object().expect("members") {
        body[name] = value.clone();
    }
    service.post(PATH, body).await
}

#[tokio::test]
async fn response_lists_entities_with_similarity() {
    let service = Service::start().await;
    let record = service
        .create(json!({"external_key": "A", "attributes": {"name": "Ada"}, "embedding": similar(0.8)}))
        .await;
    service.create(json!({"attributes": {"name": "Bea"}})).await;
    let response = ask(&service, json!({"attribute_key": "slug"})).await;
    assert_eq!((response.header("x-search-exact"), response.header("x-search-exhausted")), ("true", "true"));
    assert_eq!(response.header("content-type"), "application/json");
    let found = response.expect(200);
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    assert_eq!(found[0]["similarity_score"], 0.8);
    let entity = &found[0]["entity"];
    assert_eq!(id_of(entity), id_of(&record));
    assert_eq!(entity["attribute_values"]["name"], json!({"value": "Ada"}));
    for name in ["template_id", "template_slug", "external_key"] {
        assert_eq!(entity[name], record[name]);
    }
}

#[tokio::test]
async fn headers_report_further_results() {
    let service = Service::start().await;
    for similarity in [0.9, 0.8, 0.7] {
        service.create(json!({"embedding": similar(similarity)})).await;
    }
    for (query, count, exhausted) in [
        (json!({"limit": 2}), 2, "false"),
        (json!({"limit": 3}), 3, "false"),
        (json!({"limit": 4}), 3, "true"),
        (json!({"limit": 2, "threshold": 0.85}), 1, "true"),
    ] {
        let response = ask(&service, query.clone()).await;
        assert_eq!(response.header("x-search-exhausted"), exhausted, "{query}");
        assert_eq!(response.expect(200).as_array().map(Vec::len), Some(count), "{query}");
    }
}

#[tokio::test]
async fn project_is_needed_only_for_template_slugs() {
    let service = Service::start().await;
    service.create(json!({"embedding": similar(0.5)})).await;
    for (template, status) in [(Value::Null, 200), (json!("2"), 200), (json!("customers"), 400)] {
        let body = json!({"query_vector": similar(1.0), "template_id": template});
        let request = service.proxy.request("POST", "/api/v1/entities/semantic-search").json(&body);
        let response = request.without_project().send().await;
        assert_eq!(response.status, status, "{}", response.text);
    }
}

#[tokio::test]
async fn invalid_request_is_rejected() {
    let service = Service::start().await;
    for (query, code, pointer) in [
        (json!({"query_vector": [1]}), "vector_dimension", "/query_vector"),
        (json!({"query_vector": vector(&[])}), "invalid_value", "/query_vector"),
        (json!({"query_vector": null}), "invalid_value", "/query_vector"),
        (json!({"limit": 201}), "invalid_value", "/limit"),
        (json!({"threshold": 2}), "invalid_value", "/threshold"),
        (json!({"sort": "name"}), "unknown_field", "/sort"),
        (
            json!({"filters": [{"field": "name", "operator": "gt", "value": "x"}]}),
            "operator_not_allowed",
            "/filters/0/operator",
        ),
    ] {
        let problem = ask(&service, query).await.expect_error(422, code);
        assert_eq!(problem["errors"][0]["pointer"], pointer);
    }
    ask(&service, json!({"template_id": "nothing"})).await.expect_error(404, "not_found");
    service.send_text("POST", PATH, "{").await.expect_error(400, "malformed_request");
    service.post(&format!("{PATH}?limit=5"), json!({})).await.expect_error(400, "malformed_request");
}

#[tokio::test]
async fn vectors_without_pgvector_are_rejected_with_a_hint() {
    let database = Database::with_crm().await;
    database.session().await.run("drop extension vector cascade").await;
    let proxy = Proxy::start(&database).await.in_project("crm");
    let ask = |method: &str, path: String, body: Value| {
        let request = proxy.request(method, &path).json(&body);
        async move { request.send().await }
    };
    let record = ask("POST", "/v1/entities/template/customers".to_owned(), json!({"attributes": {}})).await;
    let path = format!("/v1/entities/{}", id_of(&record.expect(201)));
    let search = json!({"query_vector": similar(1.0), "template_id": "customers"});
    for response in [
        ask("POST", "/v1/entities/semantic-search".to_owned(), search).await,
        ask("PUT", format!("{path}/embedding"), json!({"vector": similar(1.0)})).await,
    ] {
        let problem = response.expect_error(422, "invalid_value");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("pgvector")), "{problem}");
    }
    proxy.request("GET", &path).send().await.expect(200);
}
