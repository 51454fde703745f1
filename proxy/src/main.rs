//! `keyed-proxy`: carries HTTP to the functions of the `keyed` extension.
//!
//! It knows nothing of records. It reads who asks, passes the body on as text, and sends the database's text back.
//! The modules stand in the order a request meets them.

/// What is set by flags and environment.
mod settings;

/// Sockets: accepting, keeping and closing connections.
mod server;

/// The list of routes.
mod app;

/// What every answer gets: a request id, a problem's body, a line in the log.
mod envelope;

/// Reading on after a refusal.
mod lingering;

/// Packing large answers.
mod compression;

/// Who is asking.
mod caller;

/// Strict reading of path and query string.
mod query;

/// Strict reading of a JSON body, without parsing it.
mod body;

/// One module per noun of the interface.
mod routes;

/// One statement per request.
mod database;

/// Connections that many short reads use at once.
mod shared;

/// What becomes of a connection whose caller left.
mod lease;

/// TLS towards PostgreSQL.
mod tls;

/// What a row of the database says as an HTTP response.
mod answer;

/// Which error of the database is which answer: the one table.
mod error;

/// The body of a refusal.
mod problem;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::app::App;
use crate::settings::{Cli, Command, LogFormat, Settings};

fn main() -> ExitCode {
    let Cli { command: Command::Serve(settings) } = Cli::parse();
    let done = settings.validate().map_err(Failure::Settings).and_then(|()| {
        start_log(&settings).map_err(Failure::Settings)?;
        runtime(settings.workers)
            .and_then(|runtime| runtime.block_on(run(settings)))
            .map_err(Failure::Running)
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Settings(message)) => {
            eprintln!("keyed-proxy: {message}\nSee keyed-proxy serve --help for every setting.");
            ExitCode::from(2)
        }
        Err(Failure::Running(error)) => {
            eprintln!("keyed-proxy: {error:#}");
            ExitCode::FAILURE
        }
    }
}

enum Failure {
    Settings(String),
    Running(anyhow::Error),
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

async fn run(settings: Settings) -> anyhow::Result<()> {
    // Programs start with room for 1,024 files, and every connection is one. More room is asked for, not needed.
    let _ = rlimit::increase_nofile_limit(u64::from(u16::MAX));
    let listener = TcpListener::bind(&settings.listen)
        .await
        .with_context(|| format!("cannot listen on {}", settings.listen))?;
    let app = Arc::new(App::new(&settings)?);
    tracing::info!(listen = %listener.local_addr()?, version = env!("CARGO_PKG_VERSION"), "serving");
    tokio::spawn(routes::health::greet(app.clone()));
    server::serve(listener, app::router(app), server::asked_to_stop()).await;
    tracing::info!("stopped");
    Ok(())
}

fn start_log(settings: &Settings) -> Result<(), String> {
    let filter = tracing_subscriber::EnvFilter::builder()
        .parse(&settings.log)
        .map_err(|error| format!("KEYED_LOG is not a log filter: {error}"))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match settings.log_format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().init(),
    };
    Ok(())
}
