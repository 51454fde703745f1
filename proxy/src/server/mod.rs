//! Sockets: accepts, serves and closes connections.
//!
//! `axum::serve` lacks three things: a timeout for request headers, TLS, and a maximum time for shutdown.

/// TLS handshakes.
mod handshake;
/// Responses without a request.
mod rejection;

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;
use uuid::Uuid;

use crate::admission::address::{self, Peer};
use crate::admission::connections::{Connections, Full};
use crate::admission::min_rate::MinRate;
use crate::admission::socket::{HeadReceived, Watched};
use crate::admission::tcp;
use crate::listener_tls::ListenerTls;
use crate::metrics::Connected;
use crate::observation::{Link, Sent, Sinks, access_log, observe};
use crate::settings::bounds::Bounds;
use keyed_service::shutdown::{Shutdown, Step};

/// The timeout for the headers of the next request, including idle time. Common load balancers close idle connections
/// after 60 s. The timeout is longer, so that they never use a connection that is closed here.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);

/// The time for the responses of aborted requests.
const ABORT_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum size of a request head.
const MAX_HEAD: usize = 32 << 10;

/// The maximum number of concurrent 503 responses for too many connections.
const MAX_REJECTIONS: usize = 64;

/// The interval of log entries about missing file descriptors.
const ACCEPT_LOG: Duration = Duration::from_secs(10);

/// Serves requests until the step `Finishing`, and then finishes requests in flight within `finishing`.
///
/// The future is boxed, so that it is compiled in this crate and not in each crate that awaits it.
pub fn serve<'a>(
    listener: TcpListener,
    router: Router,
    bounds: &'a Bounds,
    tls: Option<&'a ListenerTls>,
    sinks: &'a Sinks,
    shutdown: &'a Shutdown,
    finishing: Duration,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
    Box::pin(accept(listener, router, bounds, tls, sinks, shutdown, finishing))
}

async fn accept(
    listener: TcpListener,
    router: Router,
    bounds: &Bounds,
    tls: Option<&ListenerTls>,
    sinks: &Sinks,
    shutdown: &Shutdown,
    finishing: Duration,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(MAX_HEAD);
    let open = Connections::new(bounds.max_connections, bounds.connections_of_an_address());
    // Only reverse proxies open connections in advance.
    let silence = if bounds.trusted_proxies > 0 { HEADER_TIMEOUT } else { bounds.header_timeout };
    let rejections = Arc::new(Semaphore::new(MAX_REJECTIONS));
    let connections = GracefulShutdown::new();
    let mut finish = pin!(shutdown.reached(Step::Finishing));
    let mut failing = None;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut finish => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Usually, no file descriptor is free, so accepting is retried later.
                if failing.is_none_or(|at: Instant| at.elapsed() >= ACCEPT_LOG) {
                    failing = Some(Instant::now());
                    tracing::warn!(%error, "cannot accept connections");
                }
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let acceptor = tls.map(ListenerTls::acceptor);
        let slot = match open.enter(peer.ip()) {
            Ok(slot) => slot,
            Err(full) => {
                let id = Uuid::from_u128(fastrand::u128(..));
                sinks.metrics.rejected(full.reason());
                access_log::connection(id, 503, Some(full.reason()));
                // Beyond this limit, the connection is closed without a response.
                if let Ok(permit) = Arc::clone(&rejections).try_acquire_owned() {
                    tokio::spawn(refuse(stream, acceptor, full, id, permit));
                }
                continue;
            }
        };
        tcp::prepare(&stream);
        let (begun, link) = (HeadReceived::default(), Link::default());
        let (peer, trusted_proxies) = (peer.ip(), bounds.trusted_proxies);
        let router = router.clone();
        let service = service_fn({
            let (begun, link) = (begun.clone(), link.clone());
            let (shutdown, sinks) = (shutdown.clone(), sinks.clone());
            move |mut request: Request<Incoming>| {
                begun.set();
                request.extensions_mut().insert(Peer(peer));
                let client = address::client(peer, request.headers(), trusted_proxies);
                let (router, shutdown) = (router.clone(), shutdown.clone());
                observe(request, client, sinks.clone(), link.clone(), async move |request| {
                    let mut response = router.oneshot(request).await;
                    // The client must open its next connection to another process.
                    if let (Ok(response), true) = (&mut response, shutdown.has_begun()) {
                        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                    }
                    response
                })
            }
        });
        let (mut http, rate, head_timeout) = (http.clone(), MinRate::of(bounds), bounds.header_timeout);
        // A client that has closed its sending side may still wait for a response. With TLS, a disconnected client
        // would not be detected.
        http.half_close(acceptor.is_none());
        let watcher = connections.watcher();
        let (connected, ending) = (Connected::new(&sinks.metrics), shutdown.clone());
        tokio::spawn(async move {
            let _slot = (slot, connected);
            let connection = match acceptor {
                None => {
                    let stream = Watched::new(stream, rate, silence, head_timeout, begun, link);
                    serve_connection(&http, stream, service, watcher).await
                }
                Some(acceptor) => {
                    let watched = |stream| Watched::new(stream, rate, silence, head_timeout, begun, link);
                    match handshake::begin(&acceptor, stream, silence, watched, &ending).await {
                        Ok(stream) => serve_connection(&http, stream, service, watcher).await,
                        Err(error) => return tracing::debug!(%error, "no TLS connection"),
                    }
                }
            };
            if let Err(error) = connection {
                tracing::debug!(%error, "connection ended");
            }
        });
    }
    drop(listener);
    tracing::info!(connections = connections.count(), "stopping");
    let mut done = pin!(connections.shutdown());
    let is_done = tokio::select! {
        () = &mut done => true,
        () = sleep(finishing) => false,
        () = shutdown.reached(Step::Overdue) => false,
    };
    if !is_done {
        // Handlers that know the outcome of their request respond now.
        shutdown.advance(Step::Overdue);
        if timeout(ABORT_TIMEOUT, done).await.is_err() {
            tracing::warn!("some requests were interrupted");
        }
    }
}

/// Serves the requests of one connection.
async fn serve_connection<S>(
    http: &http1::Builder,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    service: S,
    watcher: Watcher,
) -> hyper::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<Sent>, Error = Infallible> + Send + 'static,
    S::Future: Send,
{
    watcher.watch(http.serve_connection(TokioIo::new(stream), service)).await
}

/// Refuses a connection over the limit with a 503, over TLS if the listener uses TLS.
async fn refuse(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    full: Full,
    id: Uuid,
    _permit: OwnedSemaphorePermit,
) {
    match acceptor {
        None => rejection::full(stream, full, id).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(rejection::PATIENCE, acceptor.accept(stream)).await {
                rejection::full(stream, full, id).await;
            }
        }
    }
}
