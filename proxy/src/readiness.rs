//! Readiness: the database answers and has the functions of this version.

use std::sync::Arc;
use std::time::Duration;

use keyed_errors::Code;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::database::version::{line_of, numbers_of};
use crate::database::{Database, Effect};
use crate::problem::{Problem, Reason};
use crate::settings::Settings;
use crate::shard::Shard;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The timeout of the database.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two checks of the database when no probe asks. A check notices an update of the extension.
const PAUSE: Duration = Duration::from_secs(1);

/// Asks the database whether it is ready, on its own connection: a busy pool must not take the service out of
/// rotation. The result is cached for a moment, so that frequent probes cost little.
///
/// While extension and proxy are incompatible, requests are rejected: a statement could have another meaning in the other version.
pub struct Readiness {
    shard: Option<Shard>,
    database: Database,
    served: Arc<Database>,
    latest: Mutex<Option<(Instant, Verdict)>>,
}

/// The result of a check.
#[derive(Clone)]
enum Verdict {
    /// Requests are served; the version of the extension.
    Ready(String),
    /// The versions are compatible, and something else is missing. Requests are sent anyway.
    Incomplete(Problem),
    /// The database does not respond, so its version is unknown. Requests are sent anyway.
    Unready(Problem),
    /// The versions are incompatible.
    Incompatible(Problem),
}

impl Readiness {
    /// `served`: the connections of requests.
    pub(crate) fn new(settings: &Settings, served: Arc<Database>) -> anyhow::Result<Readiness> {
        let shard = settings.shard;
        Ok(Readiness { shard, database: served.beside(settings)?, served, latest: Mutex::new(None) })
    }

    /// The version of the extension, or why the service is not ready.
    pub async fn extension_version(&self) -> Result<String, Problem> {
        match self.look().await {
            Verdict::Ready(version) => Ok(version),
            Verdict::Incomplete(problem) | Verdict::Unready(problem) | Verdict::Incompatible(problem) => {
                Err(problem)
            }
        }
    }

    async fn look(&self) -> Verdict {
        let mut latest = self.latest.lock().await;
        if let Some((at, verdict)) = &*latest
            && at.elapsed() < PATIENCE
        {
            return verdict.clone();
        }
        let verdict = match timeout(PATIENCE, self.ask()).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(problem)) => Verdict::Unready(problem),
            Err(_) => Verdict::Unready(not_ready("no response within a second".into())),
        };
        match &verdict {
            Verdict::Ready(_) | Verdict::Incomplete(_) => self.served.refuse(None),
            Verdict::Incompatible(problem) => self.served.refuse(Some(problem.clone())),
            // The last known version remains valid.
            Verdict::Unready(_) => {}
        }
        let is_ready = matches!(verdict, Verdict::Ready(_));
        self.served.metrics().ready.set(f64::from(u8::from(is_ready)));
        *latest = Some((Instant::now(), verdict.clone()));
        verdict
    }

    /// Checks the database at intervals until the service ends, and logs changes.
    pub async fn watch(&self) {
        let mut said = String::new();
        loop {
            let verdict = self.look().await;
            let cause = |problem: &Problem| problem.cause().unwrap_or_default().to_owned();
            let now = match &verdict {
                Verdict::Ready(version) => version.clone(),
                Verdict::Incomplete(problem) | Verdict::Unready(problem) | Verdict::Incompatible(problem) => {
                    format!("{}: {}", problem.detail(), cause(problem))
                }
            };
            if now != said {
                match &verdict {
                    Verdict::Ready(version) => {
                        tracing::info!(extension_version = version, "the database answers");
                        if let Some(warning) = self.warning_of_login().await {
                            tracing::warn!("{warning}");
                        }
                    }
                    Verdict::Incomplete(problem) | Verdict::Unready(problem) => {
                        tracing::warn!(cause = cause(problem), "{}", problem.detail());
                    }
                    Verdict::Incompatible(problem) => {
                        tracing::error!(
                            cause = cause(problem),
                            "all requests are rejected: {}",
                            problem.detail()
                        );
                    }
                }
                said = now;
            }
            let is_unready = matches!(verdict, Verdict::Unready(_));
            tokio::join!(sleep(PAUSE), async {
                if is_unready {
                    self.served.look_for_primary(2 * PAUSE).await;
                }
            });
        }
    }

    /// A warning if the login of this service is not `keyed_proxy`, and so has more rights than requests need.
    pub async fn warning_of_login(&self) -> Option<String> {
        let row = timeout(PATIENCE, self.database.run(Effect::Read, LOGIN, &[])).await.ok()?.ok()?;
        login_warning(row.try_get(0).ok()?, row.try_get(1).ok()?)
    }

    async fn ask(&self) -> Result<Verdict, Problem> {
        let asked = Instant::now();
        let row = self.database.run(Effect::Read, LOOK, &[]).await?;
        self.served.metrics().round_trip.observe(asked.elapsed().as_secs_f64());
        let looked = || -> Result<Seen, tokio_postgres::Error> {
            Ok(Seen { version: row.try_get(0)?, may_call: row.try_get(1)? })
        };
        let version = match check(looked().map_err(|error| not_ready(error.to_string()))?) {
            Verdict::Ready(version) => version,
            refusal => return Ok(refusal),
        };
        // A separate statement, because it cannot be prepared without the extension.
        let row = match self.database.run(Effect::Read, PENDING, &[]).await {
            Ok(row) => row,
            Err(problem) => return self.incompatible_library(&version).await.ok_or(problem),
        };
        let pending: Option<String> = row.try_get(0).map_err(|error| not_ready(error.to_string()))?;
        Ok(match pending {
            Some(steps) if !steps.is_empty() => Verdict::Incomplete(Problem::unavailable(
                "the state of the database is older than the extension: run SELECT keyed.migrate() as an \
                administrator",
                format!("pending migrations: {steps}"),
            )),
            _ => match self.shard {
                Some(shard) => self.check_shard(shard, version).await?,
                None => Verdict::Ready(version),
            },
        })
    }

    /// Whether the database is the shard that the settings say.
    async fn check_shard(&self, configured: Shard, version: String) -> Result<Verdict, Problem> {
        let row = self.database.run(Effect::Read, SHARD, &[]).await?;
        let found: Option<i32> = row.try_get(0).map_err(|error| not_ready(error.to_string()))?;
        Ok(match shard_mismatch(configured, found) {
            None => Verdict::Ready(version),
            Some(sentence) => Verdict::Incompatible(incompatible(sentence)),
        })
    }

    /// Whether the functions fail because the files on the server are older than the extension.
    async fn incompatible_library(&self, extension: &str) -> Option<Verdict> {
        let row = self.database.run(Effect::Read, LIBRARY, &[]).await.ok()?;
        let library: String = row.try_get(0).ok()?;
        (numbers_of(line_of(&library)) < numbers_of(line_of(extension))).then(|| {
            Verdict::Incompatible(incompatible(format!(
                "the server has the library of keyed {library}, and the extension in this database is {extension}. \
                 Install the files of keyed {extension} on the server"
            )))
        })
    }
}

const LOOK: &str = "select (select extversion from pg_catalog.pg_extension where extname = 'keyed'), \
                    coalesce(pg_catalog.has_function_privilege( \
                                 pg_catalog.to_regproc('keyed.authenticate'), 'execute') \
                             and pg_catalog.to_regproc('keyed_http.get_by_key') is not null, false)";

const LOGIN: &str = "select session_user::text, \
                     (select rolsuper from pg_catalog.pg_roles where rolname = session_user)";

const PENDING: &str = "select pg_catalog.array_to_string(keyed.pending_migrations(), ', ')";

const LIBRARY: &str = "select keyed.library_version()";

const SHARD: &str = "select keyed.shard()";

/// Why a database cannot be used as this shard.
fn shard_mismatch(configured: Shard, found: Option<i32>) -> Option<String> {
    match found {
        Some(found) if found.to_string() == configured.to_string() => None,
        Some(found) => Some(format!(
            "KEYED_SHARDS has this database as shard {configured}, and it is shard {found}. Correct the number or the URL"
        )),
        None => Some(format!(
            "KEYED_SHARDS has this database as shard {configured}, and it is not a shard. \
             As a superuser: SELECT keyed.init(shard => {configured})"
        )),
    }
}

fn login_warning(login: &str, is_superuser: bool) -> Option<String> {
    let what = if is_superuser { "is a superuser" } else { "is not the one for the proxy" };
    (is_superuser || login != "keyed_proxy").then(|| {
        format!("the login {login} of the database {what}: use the login keyed_proxy in KEYED_DATABASE_URL")
    })
}

/// The version in the database.
struct Seen {
    version: Option<String>,
    may_call: bool,
}

/// Whether this program is compatible with the extension.
fn check(seen: Seen) -> Verdict {
    let Some(version) = seen.version else {
        return Verdict::Incompatible(incompatible(
            "this database has no extension keyed. As a superuser: \
            CREATE EXTENSION keyed CASCADE; SELECT keyed.init();"
                .into(),
        ));
    };
    let (extension, proxy) = (line_of(&version), line_of(VERSION));
    if extension != proxy {
        // A version that is not made of numbers counts as an older one.
        let remedy = if numbers_of(extension) > numbers_of(proxy) {
            format!("Use keyed-proxy {extension}.x")
        } else {
            format!(
                "As a superuser: ALTER EXTENSION keyed UPDATE; SELECT keyed.migrate(); or use keyed-proxy {extension}.x"
            )
        };
        return Verdict::Incompatible(incompatible(format!(
            "keyed-proxy {VERSION} works with the extension keyed {proxy}.x, and this database has {version}. {remedy}"
        )));
    }
    if !seen.may_call {
        return Verdict::Incomplete(not_ready(
            "this login has no EXECUTE privilege on keyed.authenticate".into(),
        ));
    }
    Verdict::Ready(version)
}

fn not_ready(cause: String) -> Problem {
    Problem::unavailable("the database is not ready", cause)
}

fn incompatible(sentence: String) -> Problem {
    Problem::new(Code::Unavailable, sentence).with_reason(Reason::Version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(version: Option<&str>, may_call: bool) -> Verdict {
        super::check(Seen { version: version.map(str::to_owned), may_call })
    }

    fn refusal(version: Option<&str>) -> String {
        match check(version, true) {
            Verdict::Incompatible(problem) => problem.detail().to_owned(),
            Verdict::Ready(_) | Verdict::Incomplete(_) | Verdict::Unready(_) => {
                panic!("{version:?} is compatible")
            }
        }
    }

    #[test]
    fn other_login_than_keyed_proxy_gets_a_warning() {
        assert_eq!(login_warning("keyed_proxy", false), None);
        for (login, is_superuser) in [("postgres", true), ("keyed_proxy", true), ("app", false)] {
            let warning = login_warning(login, is_superuser).expect(login);
            assert!(warning.contains(login) && warning.contains("use the login keyed_proxy"), "{warning}");
        }
    }

    #[test]
    fn extension_with_another_patch_version_is_compatible() {
        let line = line_of(VERSION);
        for version in [VERSION.to_owned(), format!("{line}.99"), format!("{line}.0-rc.1")] {
            assert!(matches!(check(Some(&version), true), Verdict::Ready(ready) if ready == version));
            assert!(matches!(check(Some(&version), false), Verdict::Incomplete(_)), "it may not call");
        }
    }

    #[test]
    fn error_names_the_compatible_version() {
        let line = line_of(VERSION);
        let newer = format!("9{line}");
        let sentence = refusal(Some(&format!("{newer}.0")));
        assert!(sentence.contains(&format!("keyed {line}.x")), "{sentence}");
        assert!(sentence.ends_with(&format!("Use keyed-proxy {newer}.x")), "{sentence}");
        let sentence = refusal(Some("0.0.9"));
        assert!(sentence.contains("ALTER EXTENSION keyed UPDATE"), "{sentence}");
        assert!(sentence.ends_with("use keyed-proxy 0.0.x"), "{sentence}");
        assert!(refusal(None).contains("CREATE EXTENSION keyed"));
    }
}
