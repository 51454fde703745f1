//! Readiness: the database answers and has the functions of this version.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::database::{Database, Effect};
use crate::problem::Problem;
use crate::settings::Settings;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The timeout of the database.
const PATIENCE: Duration = Duration::from_secs(1);

/// Asks the database whether it is ready, on its own connection: a busy pool is no reason to take the service out of
/// rotation. The result is cached for a moment, so that frequent probes cost little.
pub(crate) struct Readiness {
    database: Database,
    latest: Mutex<Option<(Instant, Result<String, Problem>)>>,
}

impl Readiness {
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Readiness> {
        Ok(Readiness { database: Database::new(settings, 1)?, latest: Mutex::new(None) })
    }

    /// The version of the extension, or why the service is not ready.
    pub(crate) async fn extension_version(&self) -> Result<String, Problem> {
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

    /// Says in the log whether the service is ready.
    pub(crate) async fn log(&self) {
        match self.extension_version().await {
            Ok(version) => tracing::info!(extension_version = version, "the database answers"),
            Err(problem) => tracing::warn!(cause = problem.cause(), "the database is not ready yet"),
        }
    }

    async fn ask(&self) -> Result<String, Problem> {
        let row = self.database.run(Effect::Read, LOOK, &[]).await?;
        let looked = || -> Result<Seen, tokio_postgres::Error> {
            Ok(Seen { version: row.try_get(0)?, may_call: row.try_get(1)? })
        };
        let version = fits(looked().map_err(|error| not_ready(error.to_string()))?)?;
        // A separate statement, because it cannot be prepared without the extension.
        let row = self.database.run(Effect::Read, PENDING, &[]).await?;
        let pending: Option<String> = row.try_get(0).map_err(|error| not_ready(error.to_string()))?;
        match pending {
            Some(steps) if !steps.is_empty() => Err(Problem::unavailable(
                "the state of the database is older than the extension: run SELECT keyed.migrate() as an \
                administrator",
                format!("pending migrations: {steps}"),
            )),
            _ => Ok(version),
        }
    }
}

const LOOK: &str = "select (select extversion from pg_catalog.pg_extension where extname = 'keyed'), \
                    coalesce(pg_catalog.has_function_privilege( \
                                 pg_catalog.to_regproc('keyed.authenticate'), 'execute') \
                             and pg_catalog.to_regproc('keyed_http.get_by_key') is not null, false)";

const PENDING: &str = "select pg_catalog.array_to_string(keyed.pending_migrations(), ', ')";

/// The version in the database.
struct Seen {
    version: Option<String>,
    may_call: bool,
}

/// The version of an extension that this program can work with.
fn fits(seen: Seen) -> Result<String, Problem> {
    let Some(version) = seen.version else {
        return Err(not_ready("the extension keyed is not installed in this database".into()));
    };
    if line_of(&version) != line_of(VERSION) {
        return Err(Problem::unavailable(
            "the versions of extension and proxy are incompatible: the numbers before the last dot must be equal",
            format!("the extension is {version}, the proxy {VERSION}"),
        ));
    }
    if !seen.may_call {
        return Err(not_ready("this login has no EXECUTE privilege on keyed.authenticate".into()));
    }
    Ok(version)
}

/// The numbers of a version that changes of the interface between proxy and extension show in: `0.1` of `0.1.7`.
fn line_of(version: &str) -> &str {
    version.rsplit_once('.').map_or(version, |(line, _)| line)
}

fn not_ready(cause: String) -> Problem {
    Problem::unavailable("the database is not ready", cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(version: Option<&str>, may_call: bool) -> Result<String, String> {
        let seen = Seen { version: version.map(str::to_owned), may_call };
        super::fits(seen).map_err(|problem| problem.detail().to_owned())
    }

    #[test]
    fn an_extension_fits_whose_version_differs_in_the_last_number_alone() {
        let line = line_of(VERSION);
        for version in [VERSION.to_owned(), format!("{line}.99")] {
            assert_eq!(fits(Some(&version), true), Ok(version));
        }
        for version in [format!("9{VERSION}"), format!("{line}9.0"), "1".to_owned()] {
            let refused = fits(Some(&version), true).expect_err("another version");
            assert!(refused.starts_with("the versions of extension and proxy are incompatible"), "{refused}");
        }
        assert!(fits(None, false).is_err() && fits(Some(VERSION), false).is_err());
    }
}
