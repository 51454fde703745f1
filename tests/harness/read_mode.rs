//! The mode in which a replica answers the reads of all tests of a program (`KEYED_TEST_REPLICA=on`): each request sends the
//! position of the shared cluster, so that it shows whatever a test has written before, over HTTP or in SQL.

use crate::{Cluster, Database};
use std::sync::{Arc, LazyLock};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

/// A standby of the shared cluster.
static STANDBY: LazyLock<Arc<Cluster>> = LazyLock::new(|| Arc::new(Cluster::shared().start_standby()));

/// Asks for positions, on a runtime that outlives those of the tests.
static ASKING: LazyLock<(Runtime, Arc<Client>)> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
    let config = Cluster::shared().config("postgres", "postgres");
    let (sender, receiver) = std::sync::mpsc::channel();
    runtime.spawn(async move {
        let (client, connection) = config.connect(NoTls).await.expect("the shared cluster runs");
        let _ = sender.send(Arc::new(client));
        let _ = connection.await;
    });
    let client = receiver.recv().expect("a connection");
    (runtime, client)
});

/// Whether a replica answers reads.
pub fn is_on() -> bool {
    std::env::var("KEYED_TEST_REPLICA").is_ok_and(|value| value == "on")
}

/// The settings of a proxy before this database.
pub(crate) fn settings(database: &Database) -> Vec<(&'static str, String)> {
    if !is_on() || !Arc::ptr_eq(database.cluster(), &Cluster::shared()) {
        return Vec::new();
    }
    let url = STANDBY.url("keyed_proxy", database.name());
    // Below the timeouts of requests that tests set.
    vec![
        ("KEYED_READ_URL", url),
        ("KEYED_READ_WAIT", "0.4".to_owned()),
        ("KEYED_READ_LAG", "3600".to_owned()),
    ]
}

/// The position that a read must show.
pub(crate) async fn position() -> Option<String> {
    if !is_on() {
        return None;
    }
    let (runtime, client) = &*ASKING;
    let client = Arc::clone(client);
    let asked = runtime.spawn(async move {
        let row = client.query_one("select pg_current_wal_flush_lsn()::text", &[]).await;
        row.expect("the shared cluster answers").get(0)
    });
    Some(asked.await.expect("it is answered"))
}
