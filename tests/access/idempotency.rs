//! Stored responses are shown only to their caller, limited to what it may see now.

use crate::sales::{Sales, of_region};
use harness::{Proxy, id_of};
use serde_json::{Value, json};

const ANSWERS: &str = "keyed_state.idempotent_request";

#[tokio::test]
async fn a_replay_shows_a_record_only_to_who_may_still_read_it() {
    let sales = Sales::new().await;
    let role = sales.database.create_role("office").await;
    sales.database.grant_within(&role, "crm.customers", "read, create, update", &of_region("EU")).await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    let proxy = Proxy::start(&sales.database).await;
    let send = |method: &str, path: &str, body: Value| {
        proxy
            .request(method, &format!("/v1{path}"))
            .key(&key)
            .header("idempotency-key", path)
            .json(&body)
            .send()
    };
    let attributes = json!({"name": "secret", "region": "EU"});
    let create = || send("POST", "/entities/template/customers", json!({"attributes": attributes}));
    let created = create().await.expect(201);
    let id = id_of(&created).to_owned();
    let path = format!("/entities/{id}");
    let patch = || send("PATCH", &path, json!({"attributes": {"amount": {"$inc": 1}}}));
    let patched = patch().await.expect(200);
    let by_key = "/entities/template/customers/by-key?return=record";
    let upsert = || send("PUT", by_key, json!({"external_key": "N", "attributes": attributes}));
    let upserted = upsert().await.expect(201);
    assert_eq!(create().await.expect(201), created);

    // The record moves out of sight.
    let away =
        "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"US\", \"name\": \"more secret\"}}')";
    sales.admin.rows(away, &[&id]).await;
    for (answer, status) in [(create().await, 201), (patch().await, 200)] {
        assert_eq!((answer.header("idempotency-replayed"), answer.header("etag")), ("true", ""));
        assert_eq!(answer.expect(status), json!({"id": id}));
    }
    assert_eq!(upsert().await.expect(201), upserted, "another record is still in sight");

    // The role loses the right to read, and then everything.
    sales.database.revoke(&role, "crm.customers").await;
    let done = json!({"id": upserted["id"], "created": true});
    assert_eq!(upsert().await.expect(201), done);
    sales.database.grant_within(&role, "crm.customers", "read", &of_region("EU")).await;
    assert_eq!(upsert().await.expect(201), upserted);
    assert_eq!(patch().await.expect(200), json!({"id": patched["id"]}));

    let number = key.split('_').nth(1).expect("a key begins with its number");
    sales.admin.rows("select keyed.revoke_api_key($1)", &[number]).await;
    upsert().await.refused(401, "unauthorized");
}

#[tokio::test]
async fn a_replay_shows_a_template_only_to_who_may_still_know_it() {
    let sales = Sales::new().await;
    let role = sales.database.create_role("office").await;
    sales.database.grant(&role, "crm", "define").await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    let proxy = Proxy::start(&sales.database).await;
    let body = json!({"slug": "orders", "attributes": [{"slug": "total", "type": "number"}]});
    let create =
        || proxy.request("POST", "/v1/templates").key(&key).header("idempotency-key", "t").json(&body).send();
    let created = create().await.expect(201);
    assert_eq!(create().await.expect(201), created);
    sales.database.revoke(&role, "crm").await;
    assert_eq!(create().await.expect(201), json!({"id": created["id"]}));
}

#[tokio::test]
async fn stored_answers_of_other_keys_are_not_readable() {
    let sales = Sales::new().await;
    let proxy = Proxy::start(&sales.database).await.in_project("crm");
    let body = json!({"attributes": {"name": "secret"}});
    let path = "/v1/entities/template/customers";
    proxy.request("POST", path).header("idempotency-key", "k").json(&body).send().await.expect(201);
    let (_, clerk) = sales.clerk("read, create, update, delete", &of_region("EU")).await;
    let admin = sales.database.create_role("dba").await;
    sales.admin.run(&format!("grant keyed_admin to {admin}")).await;
    let admin = sales.database.session_as(&admin).await;
    let login = sales.database.session_as("keyed_proxy").await;
    for session in [&clerk, &login] {
        assert_eq!(session.refusal(&format!("select from {ANSWERS}"), &[]).await.state, "42501");
    }
    for column in ["answer", "fingerprint"] {
        assert_eq!(admin.refusal(&format!("select {column} from {ANSWERS}"), &[]).await.state, "42501");
    }
    let seen = admin.rows(&format!("select key_id > 0, idempotency_key from {ANSWERS}"), &[]).await;
    assert_eq!(seen, [[Some("t".to_owned()), Some("k".to_owned())].to_vec()]);

    // The functions serve only who came with an API key.
    let find = "select keyed_http.stored_answer(true, 'k', sha256(''))";
    let keep = "select keyed_http.store_answer('k', sha256(''), '{200}')";
    for session in [&clerk, &login, &admin] {
        for statement in [find, keep] {
            assert_eq!(session.refusal(statement, &[]).await.is(), ("28000", "unauthorized"));
        }
    }
    let purge = "select keyed.purge_idempotency_keys('0')";
    assert_eq!(clerk.refusal(purge, &[]).await.is(), ("42501", "forbidden"));
    assert_eq!(admin.text(purge, &[]).await, "1");
    assert_eq!(admin.text("select keyed.purge_idempotency_keys()", &[]).await, "0");
}

#[tokio::test]
async fn a_replay_shows_views_and_deliveries_only_to_who_may_still_ask_for_them() {
    let sales = Sales::new().await;
    let role = sales.database.create_role("office").await;
    sales.database.grant(&role, "crm.customers", "define, create, update").await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    let definition =
        json!({"slug": "shop", "external_key": "$.id", "role": role, "signed": false}).to_string();
    let create = "select keyed.create_inbound_endpoint('crm.customers', $1) ->> 'token'";
    let token = sales.admin.text(create, &[&definition]).await;
    let deliver = "select keyed_http.deliver(sha256(convert_to($1, 'UTF8')), null, null, null, '{}')";
    sales.admin.rows(deliver, &[&token]).await;
    let proxy = Proxy::start(&sales.database).await;
    let send = |method: &str, path: &str, body: Value| {
        let request = proxy.request(method, &format!("/v1{path}")).key(&key);
        request.header("idempotency-key", path).json(&body).send()
    };
    let query = json!({"query": {"filters": [{"field": "name", "operator": "eq", "value": "secret"}]}});
    let view = || send("PUT", "/templates/customers/views/mine", query.clone());
    let replay = || send("POST", "/inbound-endpoints/shop/deliveries/1/replay", json!({}));
    let (saved, line) = (view().await.expect(201), replay().await.expect(202));
    assert_eq!(line["status"], "failed");
    assert_eq!(view().await.expect(201), saved);
    assert_eq!(replay().await.expect(202), line);
    sales.database.revoke(&role, "crm.customers").await;
    assert_eq!(view().await.expect(201), json!({"slug": "mine"}));
    assert_eq!(replay().await.expect(202), json!({"id": line["id"], "status": "failed"}));
}
