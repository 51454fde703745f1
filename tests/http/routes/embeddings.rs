//! Vectors over HTTP: PUT, DELETE, and as a member of a record's body.

use harness::customers::VECTORS;
use harness::{Service, id_of, similar, vector};
use serde_json::{Value, json};

async fn first_numbers(service: &Service) -> String {
    let sql =
        &format!("select string_agg((embedding::real[])[1]::text, ' ' order by record_id) from {VECTORS}");
    service.session().await.text(sql, &[]).await
}

#[tokio::test]
async fn vector_is_put_and_deleted() {
    let service = Service::start().await;
    let record = service.create(json!({})).await;
    let path = format!("/entities/{}/embedding", id_of(&record));
    let response = service.put(&path, json!({"vector": similar(0.5)})).await;
    assert_eq!((response.status, response.text.as_str()), (204, ""));
    assert_eq!(first_numbers(&service).await, "0.5");
    // The deletion of a missing vector succeeds.
    for _ in 0..2 {
        assert_eq!(service.delete(&path).await.status, 204);
        assert_eq!(first_numbers(&service).await, "");
    }
}

#[tokio::test]
async fn record_is_written_with_its_vector() {
    let service = Service::start().await;
    let record = service.create(json!({"embedding": similar(0.1)})).await;
    assert!(record.get("embedding").is_none(), "{record}");
    let body = json!({"external_key": "A", "embedding": similar(0.2)});
    service.put("/entities/template/customers/by-key", body.clone()).await.expect(201);
    assert_eq!(first_numbers(&service).await, "0.1 0.2");
    service.put("/entities/template/customers/by-key", body).await.expect(200);
    service
        .patch(&format!("/entities/{}", id_of(&record)), json!({"embedding": similar(0.3)}))
        .await
        .expect(200);
    assert_eq!(first_numbers(&service).await, "0.3 0.2");
    let operation = json!({"op": "upsert", "template": "customers", "external_key": "A", "embedding": null});
    service.post("/entities/batch", json!({"operations": [operation]})).await.expect(200);
    assert_eq!(first_numbers(&service).await, "0.3");
    // PUT replaces attributes, and nothing else.
    let path = format!("/entities/{}", id_of(&record));
    service.put(&path, json!({"attributes": {}})).await.expect(200);
    assert_eq!(first_numbers(&service).await, "0.3");
    service.put(&path, json!({"attributes": {}, "embedding": null})).await.expect_error(422, "unknown_field");
}

#[tokio::test]
async fn invalid_vector_is_rejected_with_its_pointer() {
    let service = Service::start().await;
    let record = service.create(json!({})).await;
    let path = format!("/entities/{}/embedding", id_of(&record));
    let with = |index: usize, value: Value| {
        let mut vector = vector(&[(0, 1.0)]);
        vector[index] = value;
        vector
    };
    for (vector, code, pointer) in [
        (json!(vec![1; 767]), "vector_dimension", "/vector"),
        (json!(vec![1; 769]), "vector_dimension", "/vector"),
        (json!([]), "vector_dimension", "/vector"),
        (with(3, json!("1")), "invalid_value", "/vector/3"),
        (with(767, Value::Null), "invalid_value", "/vector/767"),
        (with(0, json!(1e39)), "invalid_value", "/vector/0"),
        (vector(&[(0, 1e38), (1, 1e38)]), "invalid_value", "/vector"),
        (vector(&[(0, 1e-30)]), "invalid_value", "/vector"),
        (vector(&[]), "invalid_value", "/vector"),
        (Value::Null, "invalid_value", "/vector"),
        (json!("[1]"), "invalid_value", "/vector"),
    ] {
        let problem = service.put(&path, json!({"vector": vector})).await.expect_error(422, code);
        assert_eq!(problem["errors"][0]["pointer"], pointer);
    }
    service.put(&path, json!({})).await.expect_error(422, "invalid_value");
    service
        .put(&path, json!({"vector": similar(0.5), "model": "x"}))
        .await
        .expect_error(422, "unknown_field");
    service.send_text("PUT", &path, "[").await.expect_error(400, "malformed_request");
    assert_eq!(first_numbers(&service).await, "");
}

#[tokio::test]
async fn vector_of_a_missing_deleted_or_malformed_id_is_not_found() {
    let service = Service::start().await;
    let record = service.create(json!({})).await;
    service.delete(&format!("/entities/{}", id_of(&record))).await;
    for id in [id_of(&record), "00000000-0000-8000-8000-000000000002", "x"] {
        let path = format!("/entities/{id}/embedding");
        service.put(&path, json!({"vector": similar(0.5)})).await.expect_error(404, "not_found");
        service.delete(&path).await.expect_error(404, "not_found");
    }
}
