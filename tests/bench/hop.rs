//! A lower bound for a lookup over HTTP: axum, and one prepared statement on a connection that requests share.

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use harness::Database;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_postgres::{Client, NoTls, Statement};

/// The statement of `lookup_plain.sql`.
const LOOKUP: &str = "select row_to_json(record)::text from plain.customers as record \
                      where external_key = $1 and deleted_at is null";

/// A running service with one runtime thread, as the proxy has on a machine with two CPUs.
pub(crate) struct Hop {
    pub(crate) url: String,
    // Dropping it ends the service.
    _stop: oneshot::Sender<()>,
}

/// As many connections as the proxy shares among lookups.
struct Connections {
    clients: Vec<(Client, Statement)>,
    next: AtomicUsize,
}

impl Hop {
    pub(crate) async fn start(database: &Database) -> Self {
        let url = database.cluster().url("postgres", database.name());
        let (begun, has_begun) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let connections = Arc::new(Connections::open(&url).await);
                let router = Router::new().route("/customers", get(lookup)).with_state(connections);
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("some port is free");
                let address = listener.local_addr().expect("a bound socket has an address");
                begun.send(format!("http://{address}")).expect("the caller waits");
                let served = axum::serve(listener, router).with_graceful_shutdown(async {
                    let _ = stopped.await;
                });
                served.await.expect("the service is ready");
            });
        });
        Self { url: has_begun.await.expect("it begins"), _stop: stop }
    }
}

impl Connections {
    async fn open(url: &str) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let mut clients = Vec::new();
        for _ in 0..cores.min(8) {
            let (client, connection) =
                tokio_postgres::connect(url, NoTls).await.expect("the server responds");
            tokio::spawn(connection);
            let statement = client.prepare(LOOKUP).await.expect("the table is there");
            clients.push((client, statement));
        }
        Self { clients, next: AtomicUsize::new(0) }
    }
}

/// The record with the key of `?key=`, which needs no decoding.
async fn lookup(State(connections): State<Arc<Connections>>, RawQuery(query): RawQuery) -> Response {
    let key = query.as_deref().and_then(|query| query.strip_prefix("key=")).unwrap_or_default();
    let index = connections.next.fetch_add(1, Ordering::Relaxed) % connections.clients.len();
    let (client, statement) = &connections.clients[index];
    match client.query_opt(statement, &[&key]).await {
        Ok(Some(row)) => {
            ([(header::CONTENT_TYPE, "application/json")], row.get::<_, String>(0)).into_response()
        }
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
