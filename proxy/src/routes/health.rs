//! Whether the process lives, and whether it can do its work.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::answer;
use crate::app::App;
use crate::database::{Database, Effect};
use crate::problem::Problem;
use crate::settings::Settings;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long the database may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The process lives.
pub(crate) async fn alive() -> Response {
    answer::json(StatusCode::OK, r#"{"status":"ok"}"#.to_owned())
}

/// The database answers, and has the functions.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let extension = app.readiness.extension_version().await?;
    let body = format!(r#"{{"status":"ready","version":"{VERSION}","extension_version":"{extension}"}}"#);
    Ok(answer::json(StatusCode::OK, body))
}

/// Says in the log what `/readyz` would say when the service starts.
pub(crate) async fn greet(app: Arc<App>) {
    match app.readiness.extension_version().await {
        Ok(version) => tracing::info!(extension_version = version, "the database answers"),
        Err(problem) => tracing::warn!(cause = problem.cause(), "the database is not ready yet"),
    }
}

/// Asks the database whether it is ready, on a connection of its own: a busy pool is not a reason to be taken out of
/// service. The answer holds for a moment, so that whoever asks often cannot make it a burden.
pub(crate) struct Readiness {
    database: Database,
    latest: Mutex<Option<(Instant, Result<String, Problem>)>>,
}

impl Readiness {
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Readiness> {
        Ok(Readiness { database: Database::new(settings, 1)?, latest: Mutex::new(None) })
    }

    async fn extension_version(&self) -> Result<String, Problem> {
        let mut latest = self.latest.lock().await;
        match &*latest {
            Some((at, answer)) if at.elapsed() < PATIENCE => answer.clone(),
            _ => {
                let answer = match timeout(PATIENCE, self.ask()).await {
                    Ok(answer) => answer,
                    Err(_) => Err(not_ready("no answer within a second".into())),
                };
                *latest = Some((Instant::now(), answer.clone()));
                answer
            }
        }
    }

    async fn ask(&self) -> Result<String, Problem> {
        let statement = "select (select extversion from pg_catalog.pg_extension where extname = 'keyed'), \
                         coalesce(pg_catalog.has_function_privilege( \
                                      pg_catalog.to_regproc('keyed.authenticate'), 'execute') \
                                  and pg_catalog.to_regproc('keyed_http.get_by_key') is not null, false)";
        let row = self.database.run(Effect::Read, statement, &[]).await?;
        match (row.try_get::<_, Option<String>>(0), row.try_get(1)) {
            (Ok(Some(version)), Ok(true)) => Ok(version),
            (Ok(None), _) => Err(not_ready("the extension keyed is not in this database".into())),
            (Ok(_), Ok(_)) => Err(not_ready("this login may not execute keyed.authenticate".into())),
            (Err(error), _) | (_, Err(error)) => Err(not_ready(error.to_string())),
        }
    }
}

fn not_ready(cause: String) -> Problem {
    Problem::unavailable("the database is not ready", cause)
}
