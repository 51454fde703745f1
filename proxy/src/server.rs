//! Sockets: accepts, keeps and closes connections.
//!
//! `axum::serve` lacks two things: a timeout for request headers, and a maximum time for shutdown.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt;
use uuid::Uuid;

use crate::admission::address::Peer;
use crate::admission::connections::{Connections, Full};
use crate::admission::min_rate::MinRate;
use crate::admission::socket::{self, Begun, Watched};
use crate::problem::Problem;
use crate::settings::bounds::Bounds;

/// The timeout for the headers of the next request, including idle time. Longer than 60 s, after which common load
/// balancers close idle connections, so that they never use a closed one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);

/// The time for requests in flight to finish after the stop signal.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum size of a request head, which an unfinished head takes of memory.
const MOST_HEAD: usize = 32 << 10;

/// The maximum number of concurrent 503 responses for too many connections.
const MOST_REFUSALS: usize = 64;

/// The interval of log entries about missing file descriptors.
const ACCEPT_LOG: Duration = Duration::from_secs(10);

/// Answers requests until `stop` is done, and then those that have begun.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    bounds: &Bounds,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(MOST_HEAD);
    let open = Connections::new(bounds.connections, bounds.connections_of_an_address());
    // Reverse proxies open connections in advance; other clients have no reason to.
    let silence = if bounds.trusted_proxies > 0 { HEADER_TIMEOUT } else { bounds.header_timeout };
    let refusals = Arc::new(Semaphore::new(MOST_REFUSALS));
    let connections = GracefulShutdown::new();
    let mut stop = pin!(stop);
    let mut failing = None;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Usually file descriptors are exhausted, which only time solves.
                if failing.is_none_or(|at: Instant| at.elapsed() >= ACCEPT_LOG) {
                    failing = Some(Instant::now());
                    tracing::warn!(%error, "cannot accept connections");
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let place = match open.enter(peer.ip()) {
            Ok(place) => place,
            Err(full) => {
                // Without even that much room the connection is closed without a word.
                if let Ok(permit) = Arc::clone(&refusals).try_acquire_owned() {
                    tokio::spawn(refuse(stream, full, permit));
                }
                continue;
            }
        };
        socket::prepare(&stream);
        let begun = Begun::default();
        let stream = Watched::new(stream, MinRate::of(bounds), silence, bounds.header_timeout, begun.clone());
        let peer = Peer(peer.ip());
        let service = router.clone().map_request(move |mut request: Request<Incoming>| {
            begun.set();
            request.extensions_mut().insert(peer);
            request
        });
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection ended");
            }
            drop(place);
        });
    }
    drop(listener);
    tracing::info!(connections = connections.count(), "stopping");
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.shutdown()).await.is_err() {
        tracing::warn!("some requests were interrupted");
    }
}

/// Responds 503 to a connection over the limit.
async fn refuse(mut stream: TcpStream, full: Full, _permit: OwnedSemaphorePermit) {
    let problem = Problem::unavailable(full.message(), String::new());
    let (id, retry_after) = (Uuid::from_u128(fastrand::u128(..)), fastrand::u8(1..=3));
    let body = problem.render(id);
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n\
         content-length: {}\r\nretry-after: {retry_after}\r\nx-request-id: {id}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let told = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // Closing a connection with unread data sends a reset instead of the response.
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), told).await;
}

/// Is done at the first SIGINT or SIGTERM.
pub(crate) async fn asked_to_stop() {
    let wait_for = |kind| async move {
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(error) => {
                tracing::warn!(%error, "cannot listen for a signal");
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = wait_for(SignalKind::interrupt()) => {}
        () = wait_for(SignalKind::terminate()) => {}
    }
}
