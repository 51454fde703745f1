//! `serve --check`: reports whether a service with these settings could start, and how to fix what prevents it. Serves
//! no requests.

use std::fmt::{Display, Write};
use std::io::ErrorKind;
use std::time::Duration;

use listenfd::ListenFd;
use tokio::net::TcpListener;

use super::{log_level, reload};
use crate::outcome::{Failure, print};
use keyed_embedding_worker::settings::Provider;
use keyed_proxy::listener_tls::ListenerTls;
use keyed_proxy::metrics::Metrics;
use keyed_proxy::readiness::VERSION;
use keyed_proxy::router::routes;
use keyed_proxy::settings::Settings;
use keyed_proxy::state::App;
use keyed_proxy::traces;

/// The number of attempts with a database that does not respond within a second.
const TRIES: usize = 5;

/// The time in which primary and replicas must report their state.
const REPLICA_PATIENCE: Duration = Duration::from_secs(5);

/// The results, one line per check.
#[derive(Default)]
struct Report {
    text: String,
    errors: usize,
}

impl Report {
    fn ok(&mut self, what: impl Display) {
        self.line("ok", what);
    }

    fn note(&mut self, what: impl Display) {
        self.line("note", what);
    }

    fn warning(&mut self, what: impl Display) {
        self.line("warning", what);
    }

    /// Adds an error, unless an earlier check has reported the same one.
    fn error(&mut self, what: impl Display) {
        let what = what.to_string();
        if !self.text.lines().any(|line| line.strip_prefix("error").is_some_and(|it| it.trim_start() == what))
        {
            self.errors += 1;
            self.line("error", what);
        }
    }

    fn line(&mut self, word: &str, what: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{word:<8} {what}");
    }
}

/// Runs all checks, and returns an error if one fails. `warnings` are about names of settings.
pub(super) async fn run(settings: &Settings, warnings: &[String]) -> Result<(), Failure> {
    let mut report = Report::default();
    let errors =
        [settings.validate(), log_level::parse(&settings.log).map(drop), settings.embedding.validate()];
    let is_sound = errors.iter().all(Result::is_ok);
    for error in errors.into_iter().filter_map(Result::err) {
        report.error(error);
    }
    if is_sound {
        report.ok("settings");
        if settings.embedding.embed_provider != Provider::Off {
            report.ok("settings of embeddings; the server is not contacted");
        }
        if matches!(settings.webhooks.worker_key(), Ok(Some(_))) {
            report.ok("settings of webhooks");
        }
    }
    for warning in warnings {
        report.warning(warning);
    }
    environment_file(settings, &mut report);
    certificate(settings, &mut report);
    traces(&mut report);
    if ListenFd::from_env().len() > 0 {
        report.ok("socket of the service manager");
    } else {
        address(&settings.listen, "KEYED_LISTEN", &mut report).await;
    }
    if let Some(metrics) = &settings.metrics_listen {
        address(metrics, "KEYED_METRICS_LISTEN", &mut report).await;
    }
    database(settings, &mut report).await;
    print(&report.text)?;
    match report.errors {
        0 => Ok(()),
        1 => Err(Failure::Running(anyhow::anyhow!("there is 1 error"))),
        errors => Err(Failure::Running(anyhow::anyhow!("there are {errors} errors"))),
    }
}

/// Checks the file that SIGHUP reads.
fn environment_file(settings: &Settings, report: &mut Report) {
    let Some(path) = &settings.environment_file else { return };
    match reload::read_environment(path) {
        Ok(file) => match file.get("KEYED_LOG").map(log_level::parse) {
            Some(Err(message)) => report.error(format_args!("{}: {message}", path.display())),
            _ => report.ok("file of the environment"),
        },
        Err(error) => report.warning(format_args!("{error} SIGHUP will not change the log level")),
    }
}

fn certificate(settings: &Settings, report: &mut Report) {
    match ListenerTls::of(settings) {
        Ok(None) => {}
        Ok(Some(tls)) => match tls.warning() {
            None => report.ok("certificate and key of the listener"),
            Some((false, warning)) => report.warning(warning),
            Some((true, warning)) => report.error(warning),
        },
        Err(message) => report.error(message),
    }
}

fn traces(report: &mut Report) {
    match traces::is_enabled() {
        Ok(true) => report.ok("settings of traces; the collector is not contacted"),
        Ok(false) => {}
        Err(error) => report.error(format_args!("{error:#}")),
    }
}

async fn address(address: &str, setting: &str, report: &mut Report) {
    match TcpListener::bind(address).await {
        Ok(_) => report.ok(format_args!("address {address}")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => report.note(format_args!(
            "address {address} is in use. If another program than keyed-proxy uses it, choose another address in {setting}"
        )),
        Err(error) => report.error(format_args!("cannot listen on {address} ({setting}): {error}")),
    }
}

async fn database(settings: &Settings, report: &mut Report) {
    // An unreadable value has been reported with the settings.
    let Ok(databases) = settings.databases() else { return };
    for settings in databases {
        one_database(&settings, report).await;
    }
}

async fn one_database(settings: &Settings, report: &mut Report) {
    let Ok(url) = settings.database() else { return };
    let name = settings.shard.map_or_else(|| "database".to_owned(), |shard| format!("shard {shard}"));
    if let Some(warning) = url.tls.warning() {
        report.warning(warning);
    }
    let app = match App::new(settings, Metrics::new(routes())) {
        Ok(app) => app,
        Err(error) => return report.error(format_args!("{error:#}")),
    };
    for _ in 0..TRIES {
        match app.readiness.extension_version().await {
            Ok(extension) => {
                report.ok(format_args!(
                    "{name}: it responds, and its extension {extension} is compatible with keyed-proxy {VERSION}"
                ));
                if let Some(warning) = app.readiness.warning_of_login().await {
                    report.warning(warning);
                }
                return replicas(&app, report).await;
            }
            Err(problem) if problem.cause().is_some_and(|cause| cause.contains("within a second")) => {}
            Err(problem) => {
                let cause = problem.cause().map(|cause| format!(": {cause}")).unwrap_or_default();
                let shard = settings.shard.map(|shard| format!("shard {shard}: ")).unwrap_or_default();
                return report.error(format_args!("{shard}{}{cause}", problem.detail()));
            }
        }
    }
    report.error(match settings.shard {
        None => format!("the database did not respond within {TRIES} seconds (KEYED_DATABASE_URL)"),
        Some(shard) => format!("shard {shard} did not respond within {TRIES} seconds (KEYED_SHARDS)"),
    });
}

/// The service serves without replicas, too.
async fn replicas(app: &App, report: &mut Report) {
    let Some(replicas) = app.database.replicas() else { return };
    let is_known = async {
        while replicas.status().iter().any(|it| it.is_unknown) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = replicas.watch(VERSION) => {}
        _ = tokio::time::timeout(REPLICA_PATIENCE, is_known) => {}
    }
    for replica in replicas.status() {
        match replica.is_usable {
            true => report.ok(format_args!("replica {}: it answers reads", replica.number)),
            false => report.warning(format_args!(
                "replica {} answers no reads: {} (KEYED_READ_URL)",
                replica.number, replica.reason
            )),
        }
    }
}
