//! `serve`: serves requests.

/// The expiry of the certificate.
mod certificate;
/// `--check`.
mod check;
/// A file of settings.
mod environment_file;
/// The socket.
mod listen;
/// The level of the log.
mod log_level;
/// Misspelled settings.
mod names;
/// SIGHUP.
mod reload;
/// Notifications to systemd.
mod service_manager;
/// Shutdown.
mod stop;

use std::ffi::OsString;
use std::sync::Arc;

use environment_file::EnvironmentFile;

use anyhow::Context;
use log_level::LogLevel;
use reload::Reload;
use stop::Signals;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use super::outcome::Failure;
use super::renamed;
use keyed_embedding_worker::worker::Worker as EmbeddingWorker;
use keyed_proxy::housekeeping;
use keyed_proxy::listener_tls::ListenerTls;
use keyed_proxy::metrics::Metrics;
use keyed_proxy::observation::Sinks;
use keyed_proxy::router::routes;
use keyed_proxy::scrape;
use keyed_proxy::server;
use keyed_proxy::settings::Settings;
use keyed_proxy::shards::Service;
use keyed_proxy::traces::Traces;
use keyed_service::log::Lines;
use keyed_service::shutdown::Step;
use keyed_service::worker::WorkerKey;
use keyed_webhook_worker::worker::Worker as WebhookWorker;

/// Runs the service. `program` contains all commands with their settings.
pub(crate) fn run(settings: Settings, program: &clap::Command) -> Result<(), Failure> {
    let variables = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let mut warnings = names::unknown(program, variables);
    warnings.extend(renamed::notices(|name| std::env::var_os(name), &arguments));
    if settings.check {
        return runtime(1)?.block_on(check::run(&settings, &warnings));
    }
    let usage = |message| Failure::Usage { message, help: "serve" };
    settings.validate().map_err(usage)?;
    // The writer must live until the end of this function, because its drop writes the remaining lines.
    let (log, writer) = log_level::start(&settings).map_err(usage)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let tls = ListenerTls::of(&settings).map_err(usage)?.map(Arc::new);
    Ok(runtime(settings.workers)?.block_on(serve(settings, tls, log, writer.lines()))?)
}

/// A runtime with a single thread needs no synchronization.
fn runtime(workers: usize) -> anyhow::Result<Runtime> {
    let mut builder = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if workers > 1 {
        builder.worker_threads(workers);
    }
    builder.enable_all().build().context("cannot start the threads that serve requests")
}

async fn serve(
    settings: Settings,
    tls: Option<Arc<ListenerTls>>,
    log: LogLevel,
    lines: Lines,
) -> anyhow::Result<()> {
    // Installed first, because a signal without a handler ends the process.
    let signals = Signals::listen().context("cannot listen for signals")?;
    let hangup = signal(SignalKind::hangup()).context("cannot listen for signals")?;
    // The default limit is 1,024 open files, and every connection needs one. If the limit cannot be raised, the proxy
    // continues.
    let _ = rlimit::increase_nofile_limit(u64::from(u16::MAX));
    let environment = environment(&settings);
    let listener = listen::listen(&settings).await?;
    for database in settings.databases().map_err(anyhow::Error::msg)? {
        if let Some(warning) = database.database().map_err(anyhow::Error::msg)?.tls.warning() {
            tracing::warn!(shard = database.shard.map(tracing::field::display), "{warning}");
        }
    }
    let service = Arc::new(Service::new(&settings, Metrics::new(routes()))?);
    scrape::start(&settings, &service, lines).await?;
    let traces = Traces::from_environment()?.map(Arc::new);
    let scheme = if tls.is_some() { "https" } else { "http" };
    tracing::info!(listen = %listener.local_addr()?, scheme, version = env!("CARGO_PKG_VERSION"), "serving");
    service.watch();
    for app in service.apps() {
        tokio::spawn(housekeeping::run(app.database.clone()));
    }
    let shutdown = service.shutdown().clone();
    let finishing = settings.shutdown_timeout();
    tokio::spawn(stop::run(signals, shutdown.clone(), settings.drain, finishing));
    let embedding = start_embedding(&settings, &service)?;
    let webhooks = start_webhooks(&settings, &service)?;
    if let Some(tls) = &tls {
        certificate::show_expiry(tls, service.metrics());
        tokio::spawn(certificate::watch(Arc::clone(tls)));
    }
    // Checks the version of the database before the first request. The result does not matter here: a service that
    // waits for its database counts as started.
    service.probe().await;
    service_manager::ready();
    tokio::spawn(service_manager::keep_alive());
    let bounds = settings.bounds.clone();
    let (embedding, embedding_key) = embedding.unzip();
    let (webhooks, webhook_key) = webhooks.unzip();
    let reload = Reload {
        service: service.clone(),
        settings,
        tls: tls.clone(),
        embedding_key,
        webhook_key,
        log,
        environment,
    };
    tokio::spawn(reload.run(hangup));
    let sinks = Sinks { metrics: Arc::clone(service.metrics()), traces: traces.clone() };
    server::serve(listener, service.router(), &bounds, tls.as_deref(), &sinks, &shutdown, finishing).await;
    let workers = [("the embedding of records", embedding), ("the delivery of webhooks", webhooks)];
    for (name, worker) in workers {
        let Some(mut worker) = worker else { continue };
        // The worker stops when draining begins.
        let is_overdue = tokio::select! {
            () = async { while worker.join_next().await.is_some() {} } => false,
            () = tokio::time::sleep(finishing) => true,
            () = shutdown.reached(Step::Overdue) => true,
        };
        if is_overdue {
            tracing::warn!("{name} was interrupted");
        }
    }
    if let Some(traces) = traces {
        // The exporter needs this runtime to send the last spans.
        let _ = tokio::task::spawn_blocking(move || traces.shut_down()).await;
    }
    tracing::info!("stopped");
    Ok(())
}

/// The settings file at startup, with which SIGHUP compares it. Empty if it cannot be read.
fn environment(settings: &Settings) -> EnvironmentFile {
    let Some(path) = &settings.environment_file else { return EnvironmentFile::default() };
    reload::read_environment(path).unwrap_or_else(|error| {
        tracing::warn!("{error} SIGHUP will not change the log level");
        EnvironmentFile::default()
    })
}

/// The running workers of all databases, and their key.
type Started = Option<(JoinSet<()>, WorkerKey)>;

/// Starts the embedding workers if their key is set.
fn start_embedding(settings: &Settings, service: &Service) -> anyhow::Result<Started> {
    let settings = &settings.embedding;
    let Some(key) = settings.worker_key().map_err(anyhow::Error::msg)? else { return Ok(None) };
    let Some(embedder) = service.embedder() else { return Ok(None) };
    let (key, mut workers) = (WorkerKey::new(&key), JoinSet::new());
    for app in service.apps() {
        let (database, meter) = (app.database.clone(), Arc::clone(&app.metrics));
        let worker =
            EmbeddingWorker::new(database, meter, embedder.clone(), key.clone(), settings.embed_poll);
        workers.spawn(worker.run(app.shutdown.clone()));
    }
    Ok(Some((workers, key)))
}

/// Starts the webhook workers if their key is set.
fn start_webhooks(settings: &Settings, service: &Service) -> anyhow::Result<Started> {
    let settings = &settings.webhooks;
    let Some(key) = settings.worker_key().map_err(anyhow::Error::msg)? else { return Ok(None) };
    let (key, mut workers) = (WorkerKey::new(&key), JoinSet::new());
    for app in service.apps() {
        let meter = Arc::clone(&app.metrics);
        let worker = WebhookWorker::new(app.database.clone(), meter, settings, key.clone())?;
        workers.spawn(worker.run(app.shutdown.clone()));
    }
    Ok(Some((workers, key)))
}
