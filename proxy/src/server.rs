//! Sockets: accepting, keeping and closing connections.
//!
//! `axum::serve` would do but for two things: a limit on the time a client may take over its headers, and a bound on how
//! long a shutdown waits.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// How long a connection may take to deliver the next request's headers, idle time included.
/// Longer than the 60 s after which common load balancers drop an idle connection, so they never meet a closed one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);

/// How long requests in flight get to finish after the signal to stop.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Answers requests until `stop` is done, and then those that have begun.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let connections = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Mostly a want of file descriptors, which only time mends.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // An answer is written in one piece, so waiting to fill a packet would only delay it.
        let _ = stream.set_nodelay(true);
        let connection =
            http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection ended");
            }
        });
    }
    drop(listener);
    tracing::info!(connections = connections.count(), "stopping");
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.shutdown()).await.is_err() {
        tracing::warn!("some requests were cut off");
    }
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
