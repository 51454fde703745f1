//! The size and lifetime of responses stored for an Idempotency-Key.

use harness::{Database, Response, Service};
use serde_json::json;

async fn create(service: &Service, key: &str) -> Response {
    let path = "/v1/entities/template/customers";
    service.proxy.request("POST", path).header("idempotency-key", key).json(&json!({})).send().await
}

#[tokio::test]
async fn full_idempotency_storage_rejects_before_writing() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(&format!("alter database \"{}\" set keyed.max_idempotency_size = '1MB'", database.name()))
        .await;
    let service = Service::over(database, &[]).await;
    let first = create(&service, "first").await;
    assert_eq!(first.status, 201);
    // The size of many responses, with a cleanup that is due.
    session
        .run(
            "insert into keyed_state.idempotent_request (key_id, idempotency_key, fingerprint, answer)
             select r.key_id, 'many ' || n, r.fingerprint, array['200', null, m.text] from keyed_state.idempotent_request r,
               (select string_agg(md5(n::text), '') as text from generate_series(1, 1000) n) m, generate_series(1, 60) n;
             insert into keyed_state.idempotency_full select key_id, now() - interval '2 minutes'
             from keyed_state.idempotent_request where idempotency_key = 'first'",
        )
        .await;
    create(&service, "second").await.expect(201);
    let rejected = create(&service, "third").await.expect_error(403, "quota_exceeded");
    assert!(rejected["hint"].as_str().is_some_and(|it| it.contains("without Idempotency-Key")), "{rejected}");
    let again = create(&service, "first").await;
    assert_eq!(
        (again.status, &again.text),
        (first.status, &first.text),
        "a stored response is still replayed"
    );
    service.post("/entities/template/customers", json!({})).await.expect(201);
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "3");

    // The freed capacity is noticed within a minute.
    session
        .run(
            "delete from keyed_state.idempotent_request where idempotency_key like 'many %';
             update keyed_state.idempotency_full set reached_at = now() - interval '2 minutes'",
        )
        .await;
    create(&service, "third").await.expect(201);
    create(&service, "fourth").await.expect(201);
    assert_eq!(session.text("select count(*) from keyed_state.idempotency_full", &[]).await, "0");
}

#[tokio::test]
async fn expired_responses_are_deleted_without_requests() {
    let service = Service::start().await;
    for key in ["old", "older", "new"] {
        create(&service, key).await.expect(201);
    }
    let session = service.session().await;
    session
        .run(
            "update keyed_state.idempotent_request set created_at = now() - interval '24 hours 1 second'
             where idempotency_key like 'old%'",
        )
        .await;
    assert_eq!(session.text("select keyed_http.forget_expired_answers()", &[]).await, "2");
    let left = "select string_agg(idempotency_key, ' ') from keyed_state.idempotent_request";
    assert_eq!(session.text(left, &[]).await, "new");
}
