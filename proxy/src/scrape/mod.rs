//! `/metrics` on a separate listener. It needs no key, so it must be reachable only from the operators' network.

/// The measurements of the database.
mod measurements;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use measurements::Measurements;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::state::App;
use keyed_service::log::Lines;

/// The maximum number of connections. A scraper needs one.
const MAX_CONNECTIONS: usize = 16;

/// The timeout of a request head, and the maximum time of a connection. A connection serves only one request, so that
/// no idle client holds one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(15);

/// The sources of a scrape.
struct Scrape {
    app: Arc<App>,
    log: Lines,
    measurements: Measurements,
}

/// Opens the listener of `/metrics`, if it is configured.
pub async fn start(settings: &Settings, app: &Arc<App>, log: Lines) -> anyhow::Result<()> {
    let Some(address) = &settings.metrics_listen else { return Ok(()) };
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address} (KEYED_METRICS_LISTEN)"))?;
    tracing::info!(listen = %listener.local_addr()?, "serving metrics");
    let scrape = Scrape::new(Arc::clone(app), log, settings)?;
    tokio::spawn(Arc::new(scrape).serve(listener));
    Ok(())
}

impl Scrape {
    fn new(app: Arc<App>, log: Lines, settings: &Settings) -> anyhow::Result<Scrape> {
        let measurements = Measurements::new(settings, &app.database)?;
        Ok(Scrape { app, log, measurements })
    }

    /// Serves scrapes until the service stops.
    async fn serve(self: Arc<Scrape>, listener: TcpListener) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .keep_alive(false)
            .max_buf_size(16 << 10);
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // The listener of requests logs the same error.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Further connections are closed without a response.
            let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { continue };
            let scrape = Arc::clone(&self);
            let service = service_fn(move |request: Request<Incoming>| {
                let scrape = Arc::clone(&scrape);
                async move { Ok::<_, Infallible>(scrape.respond(request.method(), request.uri().path()).await) }
            });
            let connection = http.serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                let _permit = permit;
                let _ = timeout(CONNECTION_TIMEOUT, connection).await;
            });
        }
    }

    async fn respond(&self, method: &Method, path: &str) -> Response<Body> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "use GET\n".to_owned());
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match path {
            "/metrics" => {
                let mut response = plain(StatusCode::OK, self.text().await);
                let content_type = HeaderValue::from_static(Metrics::CONTENT_TYPE);
                response.headers_mut().insert(header::CONTENT_TYPE, content_type);
                response
            }
            _ => plain(StatusCode::NOT_FOUND, "only /metrics is served here\n".to_owned()),
        }
    }

    async fn text(&self) -> String {
        let metrics = &self.app.metrics;
        self.measurements.refresh(metrics).await;
        self.app.database.measure();
        metrics.log_lost.inc_by(self.log.lost().saturating_sub(metrics.log_lost.get()));
        metrics.text()
    }
}

fn plain(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}
