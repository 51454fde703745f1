//! `/metrics` on a listener of its own, which serves nothing else: it needs no key, so it is for the network of the operators.

/// What the database counts.
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

/// The maximum number of connections. A scraper has one.
const MAX_CONNECTIONS: usize = 16;

/// The time for the head of a request, and the maximum time of one connection: it serves one request, so that no
/// silent client keeps a connection. A scrape every few seconds can afford to connect.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(15);

/// All that is asked when metrics are read.
struct Scrape {
    /// Of the process.
    metrics: Arc<Metrics>,
    log: Lines,
    databases: Vec<(Arc<App>, Measurements)>,
}

/// Opens the listener of `/metrics`, where the settings name one.
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

    /// Answers scrapes, as long as the service runs.
    async fn serve(self: Arc<Scrape>, listener: TcpListener) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .keep_alive(false)
            .max_buf_size(16 << 10);
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // The listener of requests says in the log what is wrong.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Beyond them a connection is closed without a word.
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
            let scrape = Arc::clone(&self);
            let service = service_fn(move |request: Request<Incoming>| {
                let scrape = Arc::clone(&scrape);
                async move { Ok::<_, Infallible>(scrape.answer(request.method(), request.uri().path()).await) }
            });
            let connection = http.serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                let _place = place;
                let _ = timeout(LONGEST, connection).await;
            });
        }
    }

    async fn answer(&self, method: &Method, path: &str) -> Response<Body> {
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
            _ => plain(StatusCode::NOT_FOUND, "only /metrics is here\n".to_owned()),
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
