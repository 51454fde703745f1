//! Vectors with many writers.

use harness::customers::VECTORS;
use harness::{Service, id_of, similar};
use serde_json::json;
use tokio::task::JoinSet;

#[tokio::test]
async fn concurrent_vector_writes_leave_one_vector() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let record = service.create(json!({"external_key": "K"})).await;
    let mut requests = JoinSet::new();
    for number in 0..60 {
        let vector = similar(f64::from(number % 10) / 10.0);
        let request = match number % 3 {
            0 => service
                .proxy
                .request("PUT", &format!("/v1/entities/{}/embedding", id_of(&record)))
                .json(&json!({"vector": vector})),
            1 => service
                .proxy
                .request("PATCH", &format!("/v1/entities/{}", id_of(&record)))
                .json(&json!({"embedding": vector, "attributes": {"visits": {"$inc": 1}}})),
            _ => service
                .proxy
                .request("PUT", "/v1/entities/template/customers/by-key")
                .json(&json!({"external_key": "K", "embedding": vector})),
        };
        requests.spawn(request.send());
    }
    for response in requests.join_all().await {
        assert!([200, 204].contains(&response.status), "{}", response.text);
    }
    let session = service.session().await;
    assert_eq!(session.text(&format!("select count(*) from {VECTORS} where live"), &[]).await, "1");
    assert_eq!(service.by_key("K").await.expect(200)["attributes"]["visits"], 20);
}

#[tokio::test]
async fn vector_set_during_a_deletion_follows_its_record() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    for round in 0..15 {
        let record = service.create(json!({"embedding": similar(0.1)})).await;
        let path = format!("/v1/entities/{}", id_of(&record));
        let mut requests = JoinSet::new();
        for number in 0..6 {
            let vector = json!({"vector": similar(f64::from(number) / 10.0)});
            requests.spawn(service.proxy.request("PUT", &format!("{path}/embedding")).json(&vector).send());
        }
        requests.spawn(service.proxy.request("DELETE", &path).send());
        requests.spawn(service.proxy.request("POST", &format!("{path}/restore")).json(&json!({})).send());
        for response in requests.join_all().await {
            assert!([200, 204, 404, 409].contains(&response.status), "{round}: {}", response.text);
        }
    }
    let differ = &format!(
        "select count(*) from {VECTORS} v join crm.customers c on c.id = v.record_id
                  where v.live <> (c.deleted_at is null)"
    );
    assert_eq!(service.session().await.text(differ, &[]).await, "0");
}
