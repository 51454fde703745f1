//! A service whose reads replicas answer.

use crate::{Cluster, Database, Durability, Relay, Request, Response, Service, until};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A primary, its standbys, and a proxy that knows them as replicas.
pub struct Replicated {
    /// The proxy, and the database of the primary.
    pub service: Service,
    /// In the order of `KEYED_READ_URL`.
    pub standbys: Vec<Arc<Cluster>>,
    requests: AtomicUsize,
}

impl Replicated {
    /// Starts all of them, and waits until the replicas answer reads.
    pub async fn start(count: usize, settings: &[(&str, &str)]) -> Self {
        let cluster = Arc::new(Cluster::start(Durability::None));
        let database = Database::new_in(&cluster).await.add_crm().await;
        let standbys: Vec<Arc<Cluster>> =
            tokio::task::block_in_place(|| (0..count).map(|_| Arc::new(cluster.start_standby())).collect());
        let urls: Vec<String> = standbys.iter().map(|it| it.url("keyed_proxy", database.name())).collect();
        Self::over(database, standbys, &urls, settings).await
    }

    /// The same with two replicas behind one URL: a router leads the connection of the monitor to the first, and the others by
    /// turns to the second and the first.
    pub async fn start_behind_router(settings: &[(&str, &str)]) -> (Self, Relay) {
        let cluster = Arc::new(Cluster::start(Durability::None));
        let database = Database::new_in(&cluster).await.add_crm().await;
        let standbys: Vec<Arc<Cluster>> =
            tokio::task::block_in_place(|| (0..2).map(|_| Arc::new(cluster.start_standby())).collect());
        let router = Relay::between(&[&standbys[0], &standbys[1]]);
        let url = router.url("keyed_proxy", database.name());
        (Self::over(database, standbys, &[url], settings).await, router)
    }

    async fn over(
        database: Database,
        standbys: Vec<Arc<Cluster>>,
        urls: &[String],
        settings: &[(&str, &str)],
    ) -> Self {
        let (count, urls) = (urls.len(), urls.join(","));
        let all = [("KEYED_READ_URL", urls.as_str()), ("KEYED_LOG_FORMAT", "json")];
        let all = [&all[..], &[("KEYED_METRICS_LISTEN", "127.0.0.1:0")], settings].concat();
        let service = Service::over(database, &all).await;
        let replicated = Self { service, standbys, requests: AtomicUsize::new(0) };
        for number in 1..=count {
            replicated.until_state(number, "usable").await;
        }
        replicated
    }

    /// Waits until a replica, counted from 1, is in this state.
    pub async fn until_state(&self, number: usize, state: &str) {
        until(&format!("replica {number} is {state}"), async || {
            let body = self.service.proxy.request("GET", "/readyz").send().await.expect(200);
            body["replicas"][number - 1]["state"] == state
        })
        .await;
    }

    /// The replica that answered a request, or 0 for the primary, and the answer.
    pub async fn answered_by(&self, request: Request) -> (u64, Response) {
        let id = format!("replica-test-{}", self.requests.fetch_add(1, Ordering::Relaxed));
        let answer = request.header("x-request-id", &id).send().await;
        let lines = self.service.proxy.access_log(&id).await;
        (lines[0]["replica"].as_u64().unwrap_or_default(), answer)
    }

    /// A lookup of a customer by key.
    pub fn lookup(&self, key: &str) -> Request {
        let path = format!("/v1/entities/template/customers/by-key?key={}", crate::encode(key));
        self.service.proxy.request("GET", &path)
    }

    /// A search for the customers of this name.
    pub fn search(&self, name: &str) -> Request {
        let body = json!({"filters": [{"field": "name", "operator": "eq", "value": name}]});
        self.service.proxy.request("POST", "/v1/entities/search/customers").json(&body)
    }

    /// Writes the name of the customer with this key; answers the position after it.
    pub async fn write(&self, key: &str, name: &str) -> String {
        let answer = self.service.upsert(key, json!({"name": name})).await;
        assert!([200, 201].contains(&answer.status), "{}", answer.text);
        let position = answer.header("x-keyed-position").to_owned();
        assert!(position.contains('/'), "no position in {:?}", answer.headers);
        position
    }

    /// Waits until all standbys have what the primary has.
    pub fn catch_up(&self) {
        let primary = self.service.database.cluster();
        tokio::task::block_in_place(|| self.standbys.iter().for_each(|it| it.catch_up_with(primary)));
    }

    /// Holds up the replay of a standby, counted from 1, or lets it go on.
    pub fn pause_replay(&self, number: usize, is_paused: bool) {
        let function = if is_paused { "pg_wal_replay_pause" } else { "pg_wal_replay_resume" };
        let standby = &self.standbys[number - 1];
        tokio::task::block_in_place(|| {
            standby.sql("postgres", &format!("select {function}()"));
            while is_paused && standby.sql("postgres", "select pg_get_wal_replay_pause_state()") != "paused" {
                std::thread::yield_now();
            }
        });
    }
}
