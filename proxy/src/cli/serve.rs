//! `serve`: serves requests.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::outcome::Failure;
use crate::embedding::worker::Worker;
use crate::housekeeping;
use crate::log::Writer;
use crate::router::router;
use crate::server;
use crate::service_manager;
use crate::settings::{LogFormat, Settings};
use crate::state::App;
use crate::tls::listener::ListenerTls;

pub(crate) fn run(settings: Settings) -> Result<(), Failure> {
    let usage = |message| Failure::Usage { message, help: "serve" };
    settings.validate().map_err(usage)?;
    // Until the end of this function: it writes what is left.
    let _log = start_log(&settings).map_err(usage)?;
    let tls = match settings.listener_files().map_err(usage)? {
        Some((certificate, key)) => Some(ListenerTls::load(certificate, key).map_err(usage)?),
        None => None,
    };
    Ok(runtime(settings.workers)?.block_on(serve(settings, tls.map(Arc::new)))?)
}

/// One thread alone is spared what several need to share their work.
fn runtime(workers: usize) -> anyhow::Result<Runtime> {
    let mut builder = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if workers > 1 {
        builder.worker_threads(workers);
    }
    builder.enable_all().build().context("cannot start the threads that answer requests")
}

async fn serve(settings: Settings, tls: Option<Arc<ListenerTls>>) -> anyhow::Result<()> {
    // The default limit is 1,024 open files, and every connection is one. The proxy requests more, but works without.
    let _ = rlimit::increase_nofile_limit(u64::from(u16::MAX));
    let listener = TcpListener::bind(&settings.listen)
        .await
        .with_context(|| format!("cannot listen on {}", settings.listen))?;
    if let Some(warning) = settings.database().map_err(anyhow::Error::msg)?.tls.warning() {
        tracing::warn!("{warning}");
    }
    let app = Arc::new(App::new(&settings)?);
    let scheme = if tls.is_some() { "https" } else { "http" };
    tracing::info!(listen = %listener.local_addr()?, scheme, version = env!("CARGO_PKG_VERSION"), "serving");
    tokio::spawn({
        let app = app.clone();
        async move { app.readiness.watch().await }
    });
    tokio::spawn(housekeeping::run(app.database.clone()));
    let (stop, mut stopping) = watch::channel(false);
    tokio::spawn(async move {
        server::asked_to_stop().await;
        service_manager::stopping();
        let _ = stop.send(true);
    });
    let worker = start_worker(&settings, &app, &stopping)?;
    let stop = async move { drop(stopping.wait_for(|stop| *stop).await) };
    // Before the first request, which a database of another version must not answer. Whatever this answer is: a service
    // that waits for its database has started.
    drop(app.readiness.extension_version().await);
    service_manager::ready();
    tokio::spawn(service_manager::keep_alive());
    if let Some(tls) = &tls {
        tokio::spawn(watch_certificate(Arc::clone(tls)));
        tokio::spawn(reload(Arc::clone(tls)));
    }
    server::serve(listener, router(app), &settings.bounds, tls.as_deref(), stop).await;
    if let Some(worker) = worker
        && tokio::time::timeout(server::SHUTDOWN_TIMEOUT, worker).await.is_err()
    {
        tracing::warn!("the embedding of records was interrupted");
    }
    tracing::info!("stopped");
    Ok(())
}

/// Says in the log every day that the certificate will not be valid for long, or is no longer.
async fn watch_certificate(tls: Arc<ListenerTls>) {
    let mut days = tokio::time::interval(Duration::from_secs(24 * 3600));
    loop {
        days.tick().await;
        match tls.warning() {
            Some((true, warning)) => tracing::error!("{warning}"),
            Some((false, warning)) => tracing::warn!("{warning}"),
            None => {}
        }
    }
}

/// Reads certificate and key again at each SIGHUP.
async fn reload(tls: Arc<ListenerTls>) {
    let Ok(mut asked) = signal(SignalKind::hangup()) else { return };
    while asked.recv().await.is_some() {
        match tls.reload() {
            Ok(()) => tracing::info!("certificate and key are read again"),
            Err(error) => tracing::error!("the certificate stays as it was: {error}"),
        }
    }
}

/// Starts the embedding of records, where it has a key to do that with.
fn start_worker(
    settings: &Settings,
    app: &Arc<App>,
    stopping: &watch::Receiver<bool>,
) -> anyhow::Result<Option<JoinHandle<()>>> {
    let settings = &settings.embedding;
    let Some(key) = settings.worker_key().map_err(anyhow::Error::msg)? else { return Ok(None) };
    let Some(embedder) = &app.embedder else { return Ok(None) };
    let worker = Worker::new(app.database.clone(), embedder.clone(), &key, settings.embed_poll);
    Ok(Some(tokio::spawn(worker.run(stopping.clone()))))
}

fn start_log(settings: &Settings) -> Result<Writer, String> {
    let filter = tracing_subscriber::EnvFilter::builder()
        .parse(&settings.log)
        .map_err(|error| format!("KEYED_LOG is not a log filter: {error}"))?;
    let writer =
        Writer::start(std::io::stderr()).map_err(|error| format!("cannot start the log: {error}"))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer.lines());
    match settings.log_format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().init(),
    };
    Ok(writer)
}
