//! Callers that share pooled connections share nothing else.

use harness::Service;
use serde_json::json;
use tokio::task::JoinSet;

#[tokio::test]
async fn pooled_connection_isolates_projects() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "1"), ("KEYED_POOL_WAIT", "60")]).await;
    let session = service.session().await;
    session
        .run(
            "select keyed.create_project('shop');
         select keyed.create_template('shop', 'customers', '[{\"slug\": \"name\", \"type\": \"string\"}]')",
        )
        .await;
    let mut keys = Vec::new();
    for project in ["crm", "shop"] {
        let role = service.database.create_role(project).await;
        service.database.grant(&role, &format!("{project}.customers"), "read, create, update").await;
        keys.push((project, service.database.api_key(&role, &[project]).await));
    }
    let mut requests = JoinSet::new();
    for number in 0..600 {
        let (project, key) = keys[number % 2].clone();
        let path = "/v1/entities/template/customers/by-key";
        let request = match number % 7 {
            // Errors of every kind must leave nothing behind on the connection.
            0 => service.proxy.request("PUT", path).json(&json!({"external_key": ""})),
            1 => service.proxy.request("DELETE", &format!("{path}?key=K")),
            2 | 3 => service.proxy.request("GET", &format!("{path}?key=K")),
            _ => service
                .proxy
                .request("PUT", path)
                .json(&json!({"external_key": "K", "attributes": {"name": project}})),
        };
        let request = request.key(&key).without_project();
        requests.spawn(async move { (project, request.send().await) });
    }
    let mut read = 0;
    for (project, response) in requests.join_all().await {
        assert!([200, 201, 403, 404, 422].contains(&response.status), "{response:?}");
        if response.body["attributes"].is_object() {
            read += 1;
            assert_eq!(response.body["attributes"]["name"], project);
        }
    }
    assert!(read > 50, "almost no record was read: {read}");
    let actors = "select count(*) from keyed.history((select id from shop.customers)) h
                  where h.actor !~ 'key 3' or h.changes #>> '{name,new}' <> 'shop'";
    assert_eq!(session.text(actors, &[]).await, "0");
}
