//! The measured system: a cluster, its databases, and the services in front of it.

use crate::Arguments;
use crate::hop::Hop;
use crate::load::median;
use crate::postgrest::PostgRest;
use crate::works::Works;
use harness::{Cluster, Database, Durability, Proxy};
use serde_json::json;
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// The initial number of records of the main database.
pub(crate) const RECORDS: u32 = 100_000;

/// The template's attributes; customers.sql has the same columns.
const ATTRIBUTES: &str = r#"[{"slug": "name", "type": "string"}, {"slug": "email", "type": "string"},
    {"slug": "city", "type": "string"}, {"slug": "score", "type": "number"}]"#;

/// Whether a commit waits for the disk (`synchronous_commit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commit {
    /// PostgreSQL's default.
    Waits,
    /// Excludes the disk from the results: a slow disk would hide the cost of the code.
    DoesNotWait,
}

/// A cluster with a filled database, and the services in front of it.
pub(crate) struct Bed {
    // In the order in which they must be dropped.
    pub(crate) proxy: Proxy,
    pub(crate) hop: Hop,
    pub(crate) postgrest: Option<PostgRest>,
    pub(crate) database: Database,
    pub(crate) cluster: Arc<Cluster>,
    works: OnceCell<Works>,
}

/// The columns that the template's table and the handwritten tables share.
const CUSTOMER: &str = "id, external_key, created_at, updated_at, deleted_at, name, email, city, score";

impl Bed {
    pub(crate) async fn new(arguments: &Arguments) -> Self {
        let cluster = Arc::new(Cluster::start(Durability::Full));
        // A checkpoint makes subsequent writes more expensive, so it must not occur during the turn of one contender.
        for setting in ["max_wal_size = '16GB'", "checkpoint_timeout = '1h'"] {
            cluster.sql("postgres", &format!("alter system set {setting}"));
        }
        cluster.sql("postgres", "select pg_reload_conf()");
        eprintln!("Filling the tables with {RECORDS} records …");
        let database = filled_database(&cluster, RECORDS).await;
        let proxy = Proxy::start(&database).await.in_project("bench");
        let hop = Hop::start(&database).await;
        let postgrest =
            if arguments.without_postgrest { None } else { Some(PostgRest::start(&database).await) };
        let bed = Self { proxy, hop, postgrest, database, cluster, works: OnceCell::new() };
        bed.check_responses().await;
        bed
    }

    /// Reads one response of each kind in full, because the load checks little more than statuses.
    async fn check_responses(&self) {
        let path = "/v1/entities/template/customers/by-key";
        let record = self.proxy.request("GET", &format!("{path}?key=A-7")).send().await.expect(200);
        assert_eq!(record["external_key"], "A-7", "a lookup finds another record: {record}");
        assert_eq!(record["attributes"]["name"], "Name 7", "a lookup finds other values: {record}");
        for (status, created) in [(201, true), (200, false)] {
            let body = json!({ "external_key": "checked", "attributes": { "score": 1 } });
            let response = self.proxy.request("PUT", path).json(&body).send().await.expect(status);
            assert_eq!(response["created"], created, "an upsert returned {response}");
        }
    }

    /// The records for lists and searches.
    pub(crate) async fn works(&self) -> &Works {
        self.works.get_or_init(|| Works::fill(self)).await
    }

    /// The duration of a WAL flush, which each commit waits for, in milliseconds.
    pub(crate) fn disk_latency(&self) -> f64 {
        let data = self.cluster.data_folder();
        let file = data.parent().expect("the data is in the cluster's folder").join("page");
        let mut page = File::create(&file).expect("it is the disk that the cluster is on");
        let write = |_| {
            let began = Instant::now();
            page.write_all(&[0; 8192]).and_then(|()| page.sync_data()).expect("the disk is writable");
            page.rewind().expect("a file has a beginning");
            began.elapsed().as_secs_f64() * 1000.0
        };
        let latency = median((0..200).map(write).collect());
        std::fs::remove_file(file).expect("the file is accessible");
        latency
    }

    /// Sets for all sessions, including open ones, whether a commit waits for the disk.
    pub(crate) fn set_commit(&self, commit: Commit) {
        let value = if commit == Commit::Waits { "on" } else { "off" };
        self.cluster.sql("postgres", &format!("alter system set synchronous_commit = {value}"));
        self.cluster.sql("postgres", "select pg_reload_conf()");
        // Sessions apply the setting with a delay.
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A database with one template with this many records, and handwritten tables with the same rows.
pub(crate) async fn filled_database(cluster: &Arc<Cluster>, records: u32) -> Database {
    let database = Database::new_in(cluster).await;
    let sql = |statement: &str| cluster.sql(database.name(), statement);
    sql("select keyed.create_project('bench', 'Bench')");
    sql(&format!("select keyed.create_template('bench', 'customers', '{ATTRIBUTES}')"));
    sql(include_str!("customers.sql"));
    // In chunks, to limit memory.
    for first in (1..=records).step_by(50_000) {
        let last = records.min(first + 49_999);
        sql(&format!(
            "select count(keyed.batch(operations, true)) from ( \
             select jsonb_agg(jsonb_build_object('op', 'upsert', 'template', 'bench.customers', \
             'external_key', 'A-' || n, 'attributes', jsonb_build_object('name', 'Name ' || n, \
             'email', 'user' || n || '@example.org', 'city', 'City ' || n % 1000, 'score', n))) as operations \
             from generate_series({first}, {last}) as n group by n / 1000) as batches"
        ));
    }
    for table in ["plain.customers", "plain.bare", "plain.searched", "rest.customers"] {
        sql(&format!("insert into {table} ({CUSTOMER}) select {CUSTOMER} from bench.customers"));
    }
    sql("insert into plain.customers_text \
         select id, lower(concat_ws(E'\\x1f', external_key, name, email, city)) from plain.customers");
    sql(
        "insert into plain.customers_history (record_id, at, actor, source, operation, external_key, changes) \
         select record_id, at, actor, source, operation, external_key, changes from keyed_state.history_1",
    );
    sql(include_str!("customers_search.sql"));
    sql("vacuum analyze");
    sql("checkpoint");
    database
}
