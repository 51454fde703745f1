//! A database with an object of every kind, and queries on it. A restore, an upgrade and an update must keep all
//! results. The database of the last release has these objects too (`release.rs`), so they change only with a release.

use crate::customers::VECTORS;
use crate::{Database, Sender, Service, Session, array, similar};
use serde_json::{Value, json};

/// The API key of the clerk. Its secret consists of the bytes 1 to 32, followed by a checksum.
pub const KEY: &str = "keyed_2_SkB92YpWm4Q2ijQHH34cqbKkCZWszsiQgHVjtNeFF2GR8bEt";
/// The token of the inbound endpoint, and its secret.
pub const TOKEN: &str = "in_11111111111111111111111111111111";
/// See [`TOKEN`].
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const RECORDS: &str = r#"
    select keyed.upsert_by_key('crm.companies', 'C-' || n, '{"name": "ACME"}') from generate_series(1, 3) n;
    select keyed.upsert_by_key('crm.customers', 'é:/ ' || n, jsonb_build_object('name', 'it''s \ "' || n, 'visits', n * 1.10,
      'mood', n, 'tags', array['x', 'y,{}'], 'tier', 'gold', 'born', '2024-02-29', 'seen', '2024-02-29T12:00:00.123456Z', 'active', n % 2 = 0,
      'company', jsonb_build_object('external_key', 'C-' || (n % 3 + 1)))) from generate_series(1, 50) n;
    select keyed.patch_record(id, '{"attributes": {"visits": {"$inc": 1}}}') from crm.customers where visits > 30;
    select keyed.delete_record(id) from crm.customers where visits > 50;
    select keyed.upsert_by_key('crm.customers', 'text:' || n, jsonb_build_object('name', (array['Running horses', 'The horse ran',
      'Straße nach Überlingen', 'part number 77-AB.9'])[n])) from generate_series(1, 4) n;
    select keyed.alter_template('crm.customers', '{"embed": ["name", "tier"]}');
    select keyed_http.claim_embeddings('m', 7, 3600);
    select keyed.create_template('crm', 'tree', '[{"slug": "up", "type": "reference", "template": "tree"}]');
    select keyed.upsert_by_key('crm.tree', 'a'); select keyed.upsert_by_key('crm.tree', 'a', '{"up": {"external_key": "a"}}');
    select keyed.create_project('empty', 'Nothing in it'); select keyed.issue_api_key('keyed_admin', null, 'unused');
    select keyed.set_quota('crm', 'live_records', 1000); select keyed.set_quota('crm', 'writes_per_day', 1000);
    insert into keyed_state.idempotent_request values (1, 'once', sha256('x'), '{201,NULL,"{}"}')"#;

/// The queries of a superuser. Their order is fixed, and no result depends on the current time.
const QUESTIONS: [&str; 21] = [
    "select string_agg(keyed.get_record(c.id, include_deleted => true)::text, E'\n' order by c.id) from crm.customers c",
    "select string_agg(keyed.get_by_key('crm.companies', c.external_key, verbose => true)::text, E'\n' order by c.id) from crm.companies c",
    "select string_agg(keyed.get_by_key('crm.tree', c.external_key)::text, E'\n' order by c.id) from crm.tree c",
    "select string_agg(keyed.record_version(id), ' ' order by id) from crm.customers where deleted_at is null",
    "select string_agg(h::text, E'\n' order by c.id, h.version) from crm.customers c, lateral keyed.history(c.id) h",
    "select string_agg(m::text, E'\n' order by c.id, m.at) from crm.customers c, lateral keyed.metric_series(c.id, 'mood') m where c.deleted_at is null",
    r#"select keyed.search('crm.customers', '{"global_search": "horse"}')"#,
    r#"select keyed.search('crm.customers', '{"global_search": "uberlingen strasse"}')"#,
    r#"select keyed.search('crm.customers', '{"global_search": "7-ab"}')"#,
    r#"select keyed.search('crm.customers', '{"global_search": "cme gold", "count": "exact", "limit": 3}')"#,
    r#"select keyed.search('crm.customers', '{"view": "golden", "facets": ["tier", "active"], "sort": "born,-visits"}')"#,
    r#"select keyed.search('crm.customers', '{"filters": [{"field": "company.external_key", "operator": "eq", "value": "C-2"}, {"field": "name", "operator": "ilike", "value": "IT%"}]}')"#,
    "select string_agg(c::text, E'\n' order by c.id) from crm.customers__golden c",
    "select jsonb_agg(keyed.get_view(t.name::regclass, 'golden') - 'id') from (values ('crm.customers')) t (name)",
    "select string_agg(k.role || k.label || coalesce(k.projects::text, ''), E'\n' order by k.id) from keyed.list_api_keys() k",
    "select string_agg(concat_ws(' ', a.role, a.target, a.privilege, a.scope, a.orphaned), E'\n' order by a.role, a.target, a.privilege) from keyed.list_access() a",
    "select string_agg(u.name || ' ' || u.maximum, E'\n' order by u.name) || (select used from keyed.quota_usage('crm') where name = 'live_records') from keyed.quota_usage('crm') u",
    "select concat_ws(' ', attributes, pending + running, failed, done, by_hand) from keyed.embedding_status()",
    "select keyed.list_inbound_endpoints()",
    "select keyed.inbound_deliveries(1)",
    "select string_agg(policyname || ' ' || tablename || ' ' || cmd || ' ' || coalesce(qual, '') || coalesce(with_check, ''), E'\n' order by tablename, policyname)
     from pg_policies where schemaname in ('crm', 'keyed_state')",
];

/// The queries of a role.
const QUESTIONS_OF_A_ROLE: [&str; 7] = [
    "select string_agg(external_key, ' ' order by external_key) from crm.customers",
    "select string_agg(external_key, ' ' order by external_key) from crm.companies",
    "select keyed.search('crm.customers', '{\"count\": \"exact\", \"limit\": 1}') ->> 'total'",
    "select string_agg(external_key, ' ') from crm.customers__golden",
    "select keyed.search('crm.customers', '{\"view\": \"golden\", \"count\": \"exact\"}') ->> 'total'",
    "select keyed.search('crm.customers', '{\"global_search\": \"acme\"}')",
    "select string_agg(h::text, E'\n' order by c.id, h.version) from crm.customers c, lateral keyed.history(c.id) h",
];

/// The writes that a role attempts.
const WRITES_OF_A_ROLE: [&str; 7] = [
    "update crm.customers set name = 'x'",
    "update crm.customers set company = null",
    "update crm.customers set deleted_at = now()",
    "update crm.companies set name = 'x'",
    "select keyed.upsert_by_key('crm.customers', 'é:/ 2', '{\"name\": \"x\"}')",
    "select keyed.upsert_by_key('crm.customers', 'é:/ 3', '{\"name\": \"x\"}')",
    "select * from keyed_state.access_grant",
];

impl Database {
    /// Creates the objects in the project `crm`. The clerk can read and write all customers and has an API key; the
    /// partner's grants have scopes.
    pub async fn add_everything(&self, clerk: &str, partner: &str) {
        let session = self.session().await;
        self.grant(clerk, "crm.customers", "read, create, update").await;
        session.run(RECORDS).await;
        for (key, similarity) in [("é:/ 1", 0.9), ("é:/ 2", 0.5)] {
            let set = "select keyed.set_embedding(id, $2) from crm.customers where external_key = $1";
            session.rows(set, &[key, &array(&similar(similarity))]).await;
        }
        let of_one = json!({"or": [
            {"field": "company.external_key", "operator": "eq", "value": "C-1"},
            {"field": "company.name", "operator": "eq", "value": "It's \\ nobody's"}
        ]});
        self.grant_within(partner, "crm.customers", "read, update, delete", &of_one).await;
        let standard = json!({"field": "external_key", "operator": "like", "value": "C-"});
        self.grant_within(partner, "crm", "read", &standard).await;
        let golden = json!({"filters": [{"field": "tier", "operator": "in", "value": "gold"}, {"field": "company.name", "operator": "eq", "value": "ACME"}],
                            "sort": "-visits"});
        let save = "select keyed.save_view('crm.customers', 'golden', $1, 'It''s gold')";
        session.rows(save, &[&golden.to_string()]).await;
        let endpoint = json!({"slug": "shop", "external_key": "$.id", "key_prefix": "shop:", "mapping": {"name": "$.name"},
                              "role": clerk, "secret": SECRET});
        let create = "select keyed.create_inbound_endpoint('crm.customers', $1)";
        session.rows(create, &[&endpoint.to_string()]).await;
        self.api_key(clerk, &["crm"]).await;
        // Credentials with known values, and a rejected delivery.
        let known = "update keyed_state.inbound_endpoint set token_hash = sha256('keyed.inbound_token:'::bytea || sha256($2::bytea));
            update keyed_state.api_key set hash = sha256('keyed.api_key:'::bytea || sha256($1::bytea)) where role_name = $3;
            insert into keyed_state.inbound_delivery (endpoint_id, webhook_id, status, error, payload)
            values (1, 'msg_0', 'failed', '{\"code\": \"forbidden\"}', '{\"id\": 0, \"name\": \"late\"}')";
        session.rows(known, &[KEY, TOKEN, clerk]).await;
    }

    /// The results of all queries: as superuser, with an API key, and as each of these roles. Two databases with equal
    /// results are equal to their users.
    pub async fn results(&self, roles: &[&str]) -> Vec<String> {
        let session = self.session().await;
        session.run("set timezone = 'UTC'").await;
        let mut results = Vec::new();
        for question in QUESTIONS {
            results.push(format!("{question}\n{}", session.text(question, &[]).await));
        }
        let closest = json!({"query_vector": similar(0.8), "template_id": "crm.customers"});
        results
            .push(keys_of(&session.json("select keyed.semantic_search($1)", &[&closest.to_string()]).await));
        results.push(self.lookup_with_a_key(&session).await);
        for role in roles {
            results.extend(self.privileges(role).await.into_iter().map(|result| format!("{role}: {result}")));
        }
        results
    }

    /// The record that the proxy returns for the clerk's key.
    async fn lookup_with_a_key(&self, session: &Session) -> String {
        let ask = "select keyed_http.get_by_key('customers', 'text:1', null, false) from keyed.authenticate(sha256($1::bytea), 'crm')";
        session.text(ask, &[KEY]).await
    }

    /// The results of a role's reads and writes, by plain SQL and by functions. The writes are rolled back.
    pub async fn privileges(&self, role: &str) -> Vec<String> {
        let session = self.session_as(role).await;
        session.run("set timezone = 'UTC'").await;
        let mut results = Vec::new();
        for question in QUESTIONS_OF_A_ROLE {
            let result = session.attempt(question, &[]).await;
            results
                .push(result.map_or_else(|error| error.state, |rows| rows[0][0].clone().unwrap_or_default()));
        }
        for write in WRITES_OF_A_ROLE {
            session.run("begin").await;
            let outcome = session.count(write, &[]).await.map_err(|error| error.state);
            results.push(format!("{outcome:?}"));
            session.run("rollback").await;
        }
        results
    }
}

impl Database {
    /// Row count and checksum of every table, and the value of every sequence.
    pub async fn contents(&self) -> String {
        let session = self.session().await;
        session.run("set timezone = 'UTC'").await;
        let tables = "select format('select %L || count(*) || '' '' || coalesce(md5(string_agg(t::text, E''\\n'' order by t::text)), '''') from %s t',
                        c.oid::regclass || ': ', c.oid::regclass)
                      from pg_class c where c.relkind = 'r' and c.relnamespace::regnamespace::text in ('crm', 'depot', 'keyed_state')
                      order by c.oid::regclass::text";
        let mut lines = Vec::new();
        for row in session.rows(tables, &[]).await {
            lines.push(session.text(row[0].as_deref().unwrap_or_default(), &[]).await);
        }
        let sequences = "select string_agg(schemaname || '.' || sequencename || ' ' || coalesce(last_value, 0), E'\\n' order by 1)
                         from (select * from pg_sequences order by schemaname, sequencename) s";
        lines.push(session.text(sequences, &[]).await);
        lines.join("\n")
    }
}

/// Asserts that the database still works: writes change the existing records, searches find old and new records, and a
/// proxy accepts the existing credentials.
pub async fn assert_works_on(database: Database) -> Service {
    let session = database.session().await;
    let upsert =
        "select created from keyed.upsert_by_key('crm.customers', $1, '{\"name\": \"new\", \"mood\": 2}')";
    assert_eq!(session.text(upsert, &["é:/ 1"]).await, "f");
    assert_eq!(session.text(upsert, &["é:/ 99"]).await, "t");
    let versions =
        "select max(version) from keyed.history((keyed.get_by_key('crm.customers', $1) ->> 'id')::uuid)";
    assert_eq!(session.text(versions, &["é:/ 1"]).await, "2");
    let words = "select jsonb_array_length(keyed.search('crm.customers', $1) -> 'records')";
    assert_eq!(session.text(words, &[r#"{"global_search": "acme new"}"#]).await, "1");
    assert_eq!(session.text(words, &[r#"{"global_search": "cme gold"}"#]).await, "44");
    assert_eq!(session.text(words, &[r#"{"global_search": "cards"}"#]).await, "44");
    let closest = "select keyed.semantic_search($1) #>> '{0,entity,external_key}'";
    let body = json!({"query_vector": similar(0.8), "template_id": "crm.customers"}).to_string();
    assert_eq!(session.text(closest, &[&body]).await, "é:/ 1");
    session.run(&format!("drop index {VECTORS}_hnsw; select keyed.migrate()")).await;
    // Records queued for embedding are still queued, together with those written since.
    let waiting =
        "select concat_ws(' ', attributes, pending, running, by_hand) from keyed.embedding_status()";
    assert_eq!(session.text(waiting, &[]).await, "{name,tier} 43 5 1");
    session
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"metric\"}]')")
        .await;
    session.run("select keyed.upsert_by_key('crm.orders', 'O-1', '{\"n\": 1}')").await;

    let service = Service::over(database, &[]).await;
    let result = service
        .proxy
        .request("GET", "/v1/entities/template/customers/by-key?key=%C3%A9:/%2099")
        .key(KEY)
        .send()
        .await;
    assert_eq!(result.expect(200)["attributes"]["name"], json!("new"));
    service
        .create(json!({"external_key": "é:/ 100", "attributes": {"company": {"external_key": "C-1"}}}))
        .await;
    service
        .post("/entities/template/customers", json!({"external_key": "é:/ 2"}))
        .await
        .expect_error(409, "external_key_taken");

    let sender = Sender { id: "1".to_owned(), token: TOKEN.to_owned(), secret: SECRET.to_owned() };
    let body = r#"{"id": 1, "name": "delivered"}"#;
    service.deliver_signed(&sender, "msg_1", body).await.expect(200);
    assert_eq!(
        service.deliver_signed(&sender, "msg_0", body).await.status,
        202,
        "the row was rejected before"
    );
    service.post("/inbound-endpoints/shop/deliveries/1/replay", json!({})).await.expect(200);
    assert_eq!(service.by_key("shop:0").await.expect(200)["attributes"]["name"], "late");
    service
}

/// The keys of the records in a result, in order.
fn keys_of(result: &Value) -> String {
    let hits = result.as_array().map(Vec::as_slice).unwrap_or_default();
    let keys: Vec<&str> = hits.iter().filter_map(|hit| hit["entity"]["external_key"].as_str()).collect();
    keys.join(" ")
}
