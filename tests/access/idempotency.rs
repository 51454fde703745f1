//! Stored responses are shown only to their caller, limited to the records that it can currently read.

use crate::sales::{Sales, of_region};
use harness::{Proxy, id_of};
use serde_json::{Value, json};

const ANSWERS: &str = "keyed_state.idempotent_request";

#[tokio::test]
async fn replay_hides_records_after_a_revocation() {
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

    // The record becomes invisible.
    let away =
        "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"US\", \"name\": \"more secret\"}}')";
    sales.admin.rows(away, &[&id]).await;
    for (response, status) in [(create().await, 201), (patch().await, 200)] {
        assert_eq!((response.header("idempotency-replayed"), response.header("etag")), ("true", ""));
        assert_eq!(response.expect(status), json!({"id": id}));
    }
    assert_eq!(upsert().await.expect(201), upserted, "another record is still visible");

    // The role loses the read privilege, and then all privileges.
    sales.database.revoke(&role, "crm.customers").await;
    let done = json!({"id": upserted["id"], "created": true});
    assert_eq!(upsert().await.expect(201), done);
    sales.database.grant_within(&role, "crm.customers", "read", &of_region("EU")).await;
    assert_eq!(upsert().await.expect(201), upserted);
    assert_eq!(patch().await.expect(200), json!({"id": patched["id"]}));

    let number = key.split('_').nth(1).expect("a key begins with its number");
    sales.admin.rows("select keyed.revoke_api_key($1)", &[number]).await;
    upsert().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn replay_hides_templates_after_a_revocation() {
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
async fn stored_responses_of_other_keys_are_not_readable() {
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
        assert_eq!(session.error(&format!("select from {ANSWERS}"), &[]).await.state, "42501");
    }
    for column in ["answer", "fingerprint"] {
        assert_eq!(admin.error(&format!("select {column} from {ANSWERS}"), &[]).await.state, "42501");
    }
    let seen = admin.rows(&format!("select key_id > 0, idempotency_key from {ANSWERS}"), &[]).await;
    assert_eq!(seen, [[Some("t".to_owned()), Some("k".to_owned())].to_vec()]);

    // The functions work only for callers with an API key.
    let find = "select keyed_http.stored_answer(true, 'k', sha256(''))";
    let keep = "select keyed_http.store_answer('k', sha256(''), '{200}')";
    for session in [&clerk, &login, &admin] {
        for statement in [find, keep] {
            assert_eq!(session.error(statement, &[]).await.codes(), ("28000", "unauthorized"));
        }
    }
    let purge = "select keyed.purge_idempotency_keys('0')";
    assert_eq!(clerk.error(purge, &[]).await.codes(), ("42501", "forbidden"));
    assert_eq!(admin.text(purge, &[]).await, "1");
    assert_eq!(admin.text("select keyed.purge_idempotency_keys()", &[]).await, "0");
}

#[tokio::test]
async fn replay_hides_views_and_deliveries_after_a_revocation() {
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

/// A proxy, and a key of a role that writes the customers of Europe.
async fn european(sales: &Sales) -> (Proxy, String, String) {
    let role = sales.database.create_role("office").await;
    sales.database.grant_within(&role, "crm.customers", "read, create, update", &of_region("EU")).await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    (Proxy::start(&sales.database).await, role, key)
}

/// The results of a batch with one successful operation and four rejected ones: with errors about a key, about a record
/// by id, about a record by key, and about the request itself.
struct Batch<'a> {
    proxy: &'a Proxy,
    key: &'a str,
    body: Value,
}

impl Batch<'_> {
    async fn send(&self) -> Value {
        let request = self.proxy.request("POST", "/v1/entities/batch").key(self.key);
        request.header("idempotency-key", "batch").json(&self.body).send().await.expect(200)
    }

    /// Sends the batch again: exactly these operations have their errors withheld.
    async fn assert_withheld(&self, first: &Value, withheld: &[usize]) {
        let again = self.send().await;
        assert_eq!(again["errors"], first["errors"]);
        for (index, result) in first["results"].as_array().expect("results").iter().enumerate() {
            let mut expected = result.clone();
            if withheld.contains(&index) {
                let error = &result["error"];
                let detail = "the subject of the error is no longer visible to this caller; the code says why \
                              the operation was rejected";
                expected["error"] = json!({"type": error["type"], "title": error["title"], "status": error["status"],
                                           "detail": detail, "code": error["code"]});
            }
            assert_eq!(again["results"][index], expected, "operation {index}");
        }
    }
}

#[tokio::test]
async fn replayed_batch_hides_errors_of_invisible_records() {
    let sales = Sales::new().await;
    let (proxy, role, key) = european(&sales).await;
    let (one, two) = (sales.id("EU-1").await, sales.id("EU-2").await);
    let body = json!({"operations": [
        {"op": "create", "template": "customers", "external_key": "EU-3", "attributes": {"region": "EU"}},
        {"op": "create", "template": "customers", "external_key": "EU-1", "attributes": {"region": "EU"}},
        {"op": "update", "template": "customers", "id": two, "attributes": {"region": "US"}},
        {"op": "update", "template": "customers", "external_key": "EU-2", "attributes": {"region": "US"}},
        {"op": "update", "template": "customers", "external_key": "US-1", "attributes": {"amount": 2}},
        {"op": "nothing"},
    ]});
    let batch = Batch { proxy: &proxy, key: &key, body };
    let first = batch.send().await;
    let codes: Vec<_> =
        first["results"].as_array().expect("results").iter().map(|it| &it["error"]["code"]).collect();
    let expected = ["", "external_key_taken", "forbidden", "forbidden", "not_found", "invalid_value"];
    assert_eq!(codes.iter().map(|code| code.as_str().unwrap_or_default()).collect::<Vec<_>>(), expected);
    assert_eq!(first["results"][1]["error"]["existing_id"], json!(one));
    batch.assert_withheld(&first, &[]).await;

    // First the record with the key becomes invisible, then the record to change.
    let away = "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"US\"}}')";
    sales.admin.rows(away, &[&one]).await;
    batch.assert_withheld(&first, &[1]).await;
    sales.admin.rows(away, &[&two]).await;
    batch.assert_withheld(&first, &[1, 2, 3]).await;
    let back = "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"EU\"}}')";
    for id in [&one, &two] {
        sales.admin.rows(back, &[id]).await;
    }
    batch.assert_withheld(&first, &[]).await;

    // Without read, the conflict does not name the record with the key.
    sales.database.revoke(&role, "crm.customers").await;
    sales.database.grant_within(&role, "crm.customers", "create, update", &of_region("EU")).await;
    batch.assert_withheld(&first, &[1]).await;
    sales.database.revoke(&role, "crm.customers").await;
    batch.assert_withheld(&first, &[1, 2, 3, 4]).await;
}

#[tokio::test]
async fn response_with_a_secret_is_not_stored() {
    let sales = Sales::new().await;
    let (proxy, role, _) = european(&sales).await;
    let send = |method: &str, path: &str, body: Value| {
        let request = proxy.request(method, &format!("/v1{path}")).header("x-service-project-id", "crm");
        request.header("idempotency-key", path).json(&body).send()
    };
    let definition = json!({"slug": "shop", "template": "customers", "external_key": "$.id", "role": role});
    let create = || send("POST", "/inbound-endpoints", definition.clone());
    let created = create().await.expect(201);
    let rotate = || send("PATCH", "/inbound-endpoints/shop", json!({"rotate_token": true}));
    let rotated = rotate().await.expect(200);
    let tokens =
        [&created["token"], &rotated["token"]].map(|token| token.as_str().expect("a token").to_owned());
    for again in [create().await, rotate().await] {
        let problem = again.expect_error(409, "conflict");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("a secret, which is not stored"), "{detail}");
        assert!(problem["hint"].as_str().is_some_and(|hint| hint.contains("another Idempotency-Key")));
    }
    let known = "select keyed_http.knows_delivery_token(sha256(convert_to($1, 'UTF8')))";
    let known = tokens.each_ref().map(|token| async { sales.admin.text(known, &[token]).await });
    let [first, second] = known;
    assert_eq!((first.await, second.await), ("f".to_owned(), "t".to_owned()), "the token was changed once");
    let stored = sales.admin.text(&format!("select string_agg(r::text, '') from {ANSWERS} r"), &[]).await;
    let secret = created["secret"].as_str().expect("a secret");
    assert!(tokens.iter().all(|token| !stored.contains(token)) && !stored.contains(secret), "{stored}");

    // A response without a secret is stored.
    let path = "/inbound-endpoints/shop?";
    let rename = || send("PATCH", path, json!({"enabled": false}));
    let renamed = rename().await.expect(200);
    let again = rename().await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.expect(200), renamed);
}

#[tokio::test]
async fn dry_run_is_not_stored_for_its_idempotency_key() {
    let sales = Sales::new().await;
    let (proxy, role, _) = european(&sales).await;
    let definition = json!({"slug": "shop", "external_key": "$.id", "mapping": {"region": "$.region"}, "role": role,
                            "signed": false});
    let create = "select keyed.create_inbound_endpoint('crm.customers', $1)";
    sales.admin.rows(create, &[&definition.to_string()]).await;
    let try_out = || {
        let request =
            proxy.request("POST", "/v1/inbound-endpoints/shop/dry-run").header("x-service-project-id", "crm");
        request
            .header("idempotency-key", "k")
            .json(&json!({"payload": {"id": "EU-9", "region": "EU"}}))
            .send()
    };
    let first = try_out().await;
    assert_eq!(first.header("idempotency-replayed"), "");
    assert_eq!(first.expect(200)["created"], 1);
    assert_eq!(sales.admin.text(&format!("select count(*) from {ANSWERS}"), &[]).await, "0");
    sales
        .admin
        .rows("select keyed.upsert_by_key('crm.customers', 'EU-9', '{\"region\": \"EU\"}')", &[])
        .await;
    let second = try_out().await;
    assert_eq!(second.header("idempotency-replayed"), "");
    assert_eq!(second.expect(200)["updated"], 1, "it shows what would happen now");
}

#[tokio::test]
async fn replayed_batch_hides_invisible_records_and_their_versions() {
    let sales = Sales::new().await;
    let (proxy, _, key) = european(&sales).await;
    let body = json!({"operations": [
        {"op": "upsert", "template": "customers", "external_key": "EU-1", "attributes": {"name": "secret"}},
        {"op": "upsert", "template": "customers", "external_key": "EU-2", "attributes": {"name": "open"}},
    ]});
    let send = || {
        let request = proxy.request("POST", "/v1/entities/batch?return=record").key(&key);
        request.header("idempotency-key", "records").json(&body).send()
    };
    let first = send().await.expect(200);
    assert_eq!(first["results"][0]["record"]["attributes"]["name"], "secret", "{first}");
    assert_eq!(send().await.expect(200), first);
    let away = "select keyed.patch_record($1, '{\"attributes\": {\"region\": \"US\"}}')";
    sales.admin.rows(away, &[&sales.id("EU-1").await]).await;
    let again = send().await;
    assert!(!again.text.contains("secret"), "{}", again.text);
    let again = again.expect(200);
    let hidden = json!({"index": 0, "status": 200, "id": first["results"][0]["id"], "created": false});
    assert_eq!(again["results"][0], hidden);
    assert_eq!(again["results"][1], first["results"][1]);
}
