//! A streaming standby returns the same results of read-only requests as its primary.

use harness::{Cluster, Database, Durability, Proxy, Response, Service, Session, id_of};
use serde_json::{Value, json};
use std::sync::Arc;

/// A service, its standby, and a key of a role that can read two of three customers.
struct Pair {
    primary: Service,
    standby: Database,
    proxy: Proxy,
    clerk: String,
    key: String,
}

impl Pair {
    async fn new() -> Self {
        let database = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
        let primary = Service::over(database, &[]).await;
        let company = primary.post("/entities/template/companies", json!({"attributes": {"name": "Acme"}}));
        let company = id_of(&company.await.expect(201)).to_owned();
        for (key, visits) in [("A", 1), ("B", 20), ("C", 30)] {
            let attributes = json!({"name": format!("Customer {key}"), "visits": visits, "mood": visits,
                "tags": ["red"], "company": company});
            primary.upsert(key, attributes).await.expect(201);
        }
        let clerk = primary.database.create_role("clerk").await;
        let often = json!({"field": "visits", "operator": "gt", "value": 10});
        primary.database.grant_within(&clerk, "crm.customers", "read, update", &often).await;
        primary.database.grant(&clerk, "crm.companies", "read").await;
        let key = primary.database.api_key(&clerk, &["crm"]).await;
        let standby = tokio::task::block_in_place(|| primary.database.cluster().start_standby());
        let standby = primary.database.in_cluster(standby);
        let proxy = Proxy::start_with_key(&standby, &[], primary.proxy.key()).await.in_project("crm");
        let pair = Self { primary, standby, proxy, clerk, key };
        pair.catch_up();
        pair
    }

    /// Waits until the standby has replayed everything on the primary.
    fn catch_up(&self) {
        let primary = self.primary.database.cluster();
        tokio::task::block_in_place(|| self.standby.cluster().catch_up_with(primary));
    }

    /// The responses of both to a request.
    async fn both(&self, method: &str, path: &str, body: Option<&Value>, key: Option<&str>) -> [Response; 2] {
        let ask = async |proxy: &Proxy| {
            let mut request = proxy.request(method, &format!("/v1{path}"));
            if let Some(key) = key {
                request = request.key(key);
            }
            match body {
                Some(body) => request.json(body).send().await,
                None => request.send().await,
            }
        };
        [ask(&self.primary.proxy).await, ask(&self.proxy).await]
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_reads_equal_the_primary() {
    let pair = Pair::new().await;
    let id = pair.primary.by_key("B").await.expect(200)["id"].as_str().expect("an id").to_owned();
    let searches = [
        json!({"filters": [{"field": "visits", "operator": "gt", "value": 5}], "sort": "name", "count": "exact"}),
        json!({"global_search": "customer acme", "facets": ["tags"], "count": "estimated", "verbose": true}),
        json!({"global_search": "custom", "limit": 1}),
        json!({"filters": [{"field": "company.name", "operator": "ilike", "value": "acme"}]}),
    ];
    let reads = [
        format!("/entities/{id}?verbose=true"),
        format!("/entities/{id}/history"),
        format!("/entities/{id}/metrics/mood"),
        "/entities/template/customers/by-key?key=B".to_owned(),
        "/entities/template/customers/by-key?key=A".to_owned(),
        "/templates".to_owned(),
        "/me".to_owned(),
        "/projects".to_owned(),
    ];
    for key in [None, Some(pair.key.as_str())] {
        for path in &reads {
            let [primary, standby] = pair.both("GET", path, None, key).await;
            assert!(primary.status == 200 || primary.status == 404 && key.is_some(), "{path}: {primary:?}");
            assert_eq!(primary.status, standby.status, "{path}: {standby:?}");
            if primary.status == 200 {
                assert_eq!(primary.expect(200), standby.expect(200), "{path}");
            }
        }
        for body in &searches {
            let [primary, standby] = pair.both("POST", "/entities/search/customers", Some(body), key).await;
            let primary = primary.expect(200);
            assert_eq!(primary, standby.expect(200), "{body}");
            assert!(!primary["records"].as_array().expect("records").is_empty(), "{body}");
        }
    }
    pair.standby.cluster().assert_no_crash();
}

/// Everything that a login reads, as one text.
async fn reads_of_a_login(session: &Session, id: &str) -> String {
    let mut responses = Vec::new();
    for statement in [
        "select string_agg(external_key || ' ' || visits, ', ' order by external_key) from crm.customers",
        "select keyed.get_by_key('crm.customers', 'B')",
        "select keyed.get_record($1::uuid)",
        "select keyed.search('crm.customers', '{\"global_search\": \"custom\", \"count\": \"exact\"}')",
        "select keyed.filter_sql('crm.customers', '{\"filters\": [{\"field\": \"visits\", \"operator\": \"gt\", \"value\": 5}]}')",
        "select count(*) from keyed.history($1::uuid)",
        "select keyed.me()",
    ] {
        responses.push(session.text(statement, &[id]).await);
    }
    responses.join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_enforces_the_same_visibility() {
    let pair = Pair::new().await;
    let id = pair.primary.by_key("B").await.expect(200)["id"].as_str().expect("an id").to_owned();
    let on_standby = pair.standby.session_as(&pair.clerk).await;
    let read = reads_of_a_login(&on_standby, &id).await;
    assert_eq!(read, reads_of_a_login(&pair.primary.database.session_as(&pair.clerk).await, &id).await);
    assert!(read.starts_with("B 20, C 30\n"), "{read}");

    // A privilege that is revoked on the primary is revoked in the same session on the standby.
    pair.primary.database.revoke(&pair.clerk, "crm.customers").await;
    pair.catch_up();
    for statement in ["select count(*) from crm.customers", "select keyed.get_by_key('crm.customers', 'B')"] {
        assert_eq!(on_standby.error(statement, &[]).await.state, "42501", "{statement}");
    }
    let [primary, standby] = pair.both("GET", &format!("/entities/{id}"), None, Some(&pair.key)).await;
    assert_eq!((primary.status, standby.status), (404, 404));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_rejects_writes_with_a_clear_error() {
    let pair = Pair::new().await;
    let id = pair.primary.by_key("B").await.expect(200)["id"].as_str().expect("an id").to_owned();
    let attributes = json!({"external_key": "B", "attributes": {"visits": 5}});
    let batch = json!({"operations": [{"op": "upsert", "template": "customers", "external_key": "B",
        "attributes": {"visits": 5}}]});
    for (method, path, body) in [
        ("PUT", "/entities/template/customers/by-key".to_owned(), Some(&attributes)),
        ("POST", "/entities/template/customers".to_owned(), Some(&attributes)),
        ("POST", "/entities/batch".to_owned(), Some(&batch)),
        ("DELETE", format!("/entities/{id}"), None),
    ] {
        let mut request = pair.proxy.request(method, &format!("/v1{path}"));
        if let Some(body) = body {
            request = request.json(body);
        }
        request.send().await.expect_error(503, "unavailable");
    }
    let session = pair.standby.session().await;
    let error = session.error("select keyed.upsert_by_key('crm.customers', 'B', '{\"visits\": 5}')", &[]);
    assert_eq!(error.await.state, "25006");
    assert_eq!(pair.primary.by_key("B").await.expect(200)["attributes"]["visits"], 20);
}

/// The measurement with this name.
async fn measured(session: &Session, name: &str) -> f64 {
    let value = "select value from keyed_http.measurements() where name = $1";
    session.text(value, &[name]).await.parse().unwrap_or_else(|_| panic!("no {name}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_lag_is_measured_and_reported() {
    let pair = Pair::new().await;
    let (primary, standby) = (pair.primary.database.session().await, pair.standby.session().await);
    let check = keyed_checks::checks().find(|check| check.name == "replication").expect("the check");
    assert_eq!(standby.rows(check.query, &[]).await.len(), 0);
    // The age of the last replayed transaction is known after the first replay.
    pair.primary.upsert("D", json!({"name": "D"})).await.expect(201);
    pair.catch_up();
    standby.run("select pg_wal_replay_pause()").await;
    standby.until("select pg_get_wal_replay_pause_state()", "paused").await;
    pair.primary.upsert("E", json!({"name": "E"})).await.expect(201);
    let is_behind = "select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) > 0";
    standby.until(is_behind, "t").await;
    assert!(measured(&standby, "replication_lag_bytes").await > 0.0);
    assert!(measured(&standby, "replication_lag_seconds").await > 0.0);
    assert_eq!(measured(&primary, "standbys").await, 1.0);
    assert!(measured(&primary, "replication_lag_bytes").await > 0.0);
    let found = standby.rows(check.query, &[]).await;
    assert_eq!(found[0][1].as_deref(), Some("select pg_wal_replay_resume();"), "{found:?}");
    standby.run("select pg_wal_replay_resume()").await;
    pair.catch_up();
    assert_eq!(measured(&standby, "replication_lag_bytes").await, 0.0);
    assert!(standby.rows(check.query, &[]).await.is_empty());
}
