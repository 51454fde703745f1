//! `/metrics` on a separate listener. It needs no key, so it must be reachable only from the operators' network.

/// The measurements of the database.
mod measurements;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use futures_util::future::join_all;
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
use crate::shards::Service;
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
    /// Of the process.
    metrics: Arc<Metrics>,
    log: Lines,
    databases: Vec<(Arc<App>, Measurements)>,
}

/// Opens the listener of `/metrics`, if it is configured.
pub async fn start(settings: &Settings, service: &Service, log: Lines) -> anyhow::Result<()> {
    let Some(address) = &settings.metrics_listen else { return Ok(()) };
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address} (KEYED_METRICS_LISTEN)"))?;
    tracing::info!(listen = %listener.local_addr()?, "serving metrics");
    let scrape = Scrape::new(service, log, settings)?;
    tokio::spawn(Arc::new(scrape).serve(listener));
    Ok(())
}

impl Scrape {
    fn new(service: &Service, log: Lines, settings: &Settings) -> anyhow::Result<Scrape> {
        let database = |app: Arc<App>| {
            let measurements = Measurements::new(settings, &app.database)?;
            Ok((app, measurements))
        };
        let databases = service.apps().into_iter().map(database).collect::<anyhow::Result<_>>()?;
        Ok(Scrape { metrics: Arc::clone(service.metrics()), log, databases })
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
        join_all(self.databases.iter().map(|(app, measurements)| measurements.refresh(&app.metrics))).await;
        for (app, _) in &self.databases {
            app.database.measure();
        }
        let metrics = &self.metrics;
        metrics.log_lost.inc_by(self.log.lost().saturating_sub(metrics.log_lost.get()));
        let shards =
            self.databases.iter().filter(|(app, _)| app.shard.is_some()).map(|(app, _)| &app.metrics);
        metrics.text_with(&shards.collect::<Vec<_>>())
    }
}

fn plain(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}
