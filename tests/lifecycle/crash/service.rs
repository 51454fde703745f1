//! The service under test: a database with fsync, a proxy that also embeds, and eight clients.

use crate::crash::client::{Address, Client};
use crate::crash::ledger::Ledger;
use crate::crash::load::{Own, Writer};
use harness::customers::VECTORS;
use harness::{Database, Proxy, SYNTHETIC, Sender, Session, Stopwatch, until};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;

pub(super) const CLIENTS: usize = 8;

/// The number of customers with vectors before the first kill.
const VECTORS_BEFORE: usize = 1500;

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    /// The postmaster, and with it all processes of the server.
    Server,
    /// A server process during a statement. PostgreSQL ends all other sessions, and recovers.
    Process,
    Proxy,
}

pub(super) struct Killed {
    pub(super) database: Database,
    proxy: Option<Proxy>,
    key: String,
    address: Address,
}

impl Killed {
    /// The service, and its clients before their first request.
    pub(super) async fn start() -> (Self, Vec<Writer>) {
        let database = Database::new_durable().await.add_crm().await;
        let session = database.session().await;
        let written = Written::prepare(&session).await;
        let key = database.api_key("keyed_admin", &[]).await;
        let address = Address::default();
        let mut killed = Self { database, proxy: None, key, address };
        killed.start_proxy().await;
        let writers = written.by_clients(&session, &killed.address, &killed.key).await;
        (killed, writers)
    }

    async fn start_proxy(&mut self) {
        let proxy = Proxy::start_with_key(&self.database, &settings(&self.key), &self.key).await;
        let proxy = proxy.in_project("crm");
        self.address.set(proxy.url(""));
        self.proxy = Some(proxy);
    }

    /// Kills the victim, waits until the service responds again, and returns the seconds that took.
    pub(super) async fn kill(&mut self, victim: Victim) -> f64 {
        let cluster = Arc::clone(self.database.cluster());
        let stopwatch;
        match victim {
            Victim::Server => {
                tokio::task::block_in_place(|| cluster.kill());
                stopwatch = Stopwatch::default();
                tokio::task::block_in_place(|| cluster.start_again());
            }
            Victim::Process => {
                let noticed =
                    || cluster.log().matches("terminating any other active server processes").count();
                let before = noticed();
                stopwatch = self.kill_process().await;
                until("the crash is noticed", async || noticed() > before).await;
            }
            Victim::Proxy => {
                let session = self.database.session().await;
                let now = session.text("select clock_timestamp()", &[]).await;
                // Dropping the proxy kills it.
                drop(self.proxy.take());
                stopwatch = Stopwatch::default();
                // Waits for the proxy's sessions to end. They notice the lost connection when they respond.
                let orphans = format!(
                    "select count(*) from pg_stat_activity where usename = 'keyed_proxy' and backend_start < '{now}'"
                );
                session.until(&orphans, "0").await;
                self.start_proxy().await;
            }
        }
        let proxy = self.proxy.as_ref().expect("the program runs");
        let path = "/v1/entities/template/customers/by-key?key=shared";
        let serves = async |path: &str| proxy.request("GET", path).send().await.status == 200;
        until("the proxy is ready again", async || serves("/readyz").await && serves(path).await).await;
        stopwatch.seconds()
    }

    /// Kills a server process during a statement, if there is one.
    async fn kill_process(&self) -> Stopwatch {
        let session = self.database.session().await;
        let busy =
            "select pid from pg_stat_activity where usename = 'keyed_proxy' and datname = current_database()
                    order by state = 'active' and query like '%keyed_http%' desc, random() limit 1";
        let process = session.text(busy, &[]).await;
        let killed = Command::new("kill").args(["-KILL", &process]).status();
        assert!(killed.is_ok_and(|status| status.success()), "process {process}");
        Stopwatch::default()
    }
}

/// The templates that the clients write to.
pub(super) struct Written {
    sender: Sender,
    vectors: Arc<Vec<Vec<f64>>>,
}

impl Written {
    /// Creates them in a database with the project `crm`.
    pub(super) async fn prepare(session: &Session) -> Self {
        session.run(SYNTHETIC).await;
        let prepare = format!(
            r#"select keyed.create_template('crm', 'notes', '[{{"slug": "text", "type": "string"}}]', embed => '{{text}}');
             select keyed.set_quota('crm', 'live_records', 10000000), keyed.set_quota('crm', 'writes_per_day', 10000000);
             insert into crm.customers (external_key, name, visits)
               select 'before-' || digits, 'Somebody before-' || digits, n from generate_series(1, {VECTORS_BEFORE}) n, lpad(n::text, 4, '0') digits;
             drop index {VECTORS}_hnsw; insert into {VECTORS} (record_id, embedding) select id, synthetic() from crm.customers;
             select keyed.migrate(); select keyed.upsert_by_key('crm.customers', 'shared', '{{"name": "Somebody shared"}}')"#
        );
        session.run(&prepare).await;
        let endpoint = json!({"slug": "shop", "items": "$.items[*]", "external_key": "$.id",
            "mapping": {"name": "$.name", "visits": "$.visits", "mood": "$.mood"}});
        let create = "select keyed.create_inbound_endpoint('crm.customers', $1)";
        let sender = Sender::of(&session.json(create, &[&endpoint.to_string()]).await);
        let vectors = Arc::new(asked(session, 50).await);
        Self { sender, vectors }
    }

    /// The clients before their first request.
    pub(super) async fn by_clients(self, session: &Session, address: &Address, key: &str) -> Vec<Writer> {
        let mut writers = Vec::new();
        for number in 0..CLIENTS {
            let new = |template: &str, key: &str, value: Value| {
                let id =
                    format!("select id from keyed.upsert_by_key('crm.{template}', '{key}-{number}', $1)");
                async move { session.text(&id, &[&value.to_string()]).await }
            };
            let text = format!("Somebody note-{number}");
            let note = new("notes", "note", json!({"text": text})).await;
            let customer = new("customers", "own", json!({"name": format!("Somebody own-{number}")})).await;
            new("customers", "once", json!({"name": format!("Somebody once-{number}")})).await;
            writers.push(Writer {
                number,
                client: Client::new(address.clone(), key.to_owned(), self.sender.clone()),
                ledger: Ledger::default(),
                note: Own { id: note, possible: vec![text] },
                customer: Own { id: customer, possible: vec![true] },
                once: Vec::new(),
                vectors: Arc::clone(&self.vectors),
                round: 0,
                step: 0,
            });
        }
        writers
    }
}

/// The settings of the proxy, which also embeds.
pub(super) fn settings(key: &str) -> [(&str, &str); 4] {
    [
        ("KEYED_POOL_SIZE", "16"),
        ("KEYED_MAX_TRANSFERS", "6"),
        ("KEYED_EMBED_PROVIDER", "hash"),
        ("KEYED_EMBED_API_KEY", key),
    ]
}

/// Vectors similar to those of the customers, none of which a customer has.
pub(super) async fn asked(session: &Session, count: usize) -> Vec<Vec<f64>> {
    let sql = format!("select jsonb_agg(synthetic()::real[]) from generate_series(1, {count})");
    serde_json::from_value(session.json(&sql, &[]).await).expect("vectors")
}
