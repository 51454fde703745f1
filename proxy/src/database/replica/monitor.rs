//! Asks the primary and the replicas at intervals, and decides which replicas are used.

use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::PgLsn;
use tokio_postgres::{Client, Error, Row};

use super::health::{Seen, State, judge};
use super::samples::{Sample, Samples};
use super::standby::{Finding, Replica};
use crate::database::effect::Effect;
use crate::database::server::{Execution, Server};

/// The time between two questions.
const PAUSE: Duration = Duration::from_millis(500);

/// The same while a read waits for a position.
const SHORT_PAUSE: Duration = Duration::from_millis(2);

/// A server that says nothing for this long does not respond.
const PATIENCE: Duration = Duration::from_secs(1);

const ASK_PRIMARY: &str = "select pg_catalog.pg_current_wal_flush_lsn(), \
    (select system_identifier::text from pg_catalog.pg_control_system()), \
    pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)";

const ASK_REPLICA: &str = "select pg_catalog.pg_is_in_recovery(), pg_catalog.pg_last_wal_replay_lsn(), \
    (select system_identifier::text from pg_catalog.pg_control_system())";

/// A separate statement: without the extension or its files, it fails.
const ASK_LIBRARY: &str = "select keyed.library_version()";

/// The primary, as the monitors of the replicas know it.
pub(super) struct Primary {
    server: Server,
    samples: Mutex<Samples>,
}

impl Primary {
    /// `server`: a connection beside those of requests.
    pub(super) fn new(server: Server, max_lag: Duration) -> Primary {
        Primary { server, samples: Mutex::new(Samples::new(max_lag)) }
    }

    fn samples(&self) -> MutexGuard<'_, Samples> {
        // Nothing that can panic runs under the lock.
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has not answered for a while.
    pub(super) fn is_silent(&self) -> bool {
        self.samples().latest().is_none_or(|latest| latest.elapsed() > PAUSE + 2 * PATIENCE)
    }

    /// Takes samples until the service ends.
    pub(super) async fn watch(&self) {
        loop {
            let asked = Instant::now();
            if let Ok(Some(sample)) = timeout(PATIENCE, self.ask()).await
                && self.samples().add(asked, sample)
            {
                tracing::warn!("another server is the primary: replicas answer reads once they follow it");
            }
            sleep(PAUSE).await;
        }
    }

    async fn ask(&self) -> Option<Sample> {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        let (admitted, effect, function, arguments) = (None, Effect::PrimaryRead, "", &[][..]);
        let read = Execution { admitted, effect, function, statement: ASK_PRIMARY, arguments, deadline };
        // A server in recovery has no such positions, and is no primary.
        let row = self.server.run(read).await.ok()?;
        let position = row.try_get::<_, PgLsn>(0).ok()?.into();
        Some(Sample { position, system: row.try_get(1).ok()?, timeline: row.try_get(2).ok()? })
    }
}

/// A connection of a monitor.
struct Session {
    client: Client,
    task: JoinHandle<()>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Why a replica could not be asked.
enum Silence {
    Overdue,
    Failed(Error),
}

impl Silence {
    fn cause(&self) -> String {
        match self {
            Silence::Overdue => "no response within a second".to_owned(),
            Silence::Failed(error) => match std::error::Error::source(error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            },
        }
    }
}

/// Watches a replica until the service ends.
pub(super) async fn watch(replica: &Replica, primary: &Primary, max_lag: Duration, version: &str) {
    let mut session = None;
    loop {
        let outcome = match timeout(PATIENCE, ask(replica, &mut session)).await {
            Ok(Ok(seen)) => Ok(seen),
            Ok(Err(error)) => Err(Silence::Failed(error)),
            Err(_) => Err(Silence::Overdue),
        };
        let (finding, cause) = match outcome {
            Ok(seen) => {
                let mut samples = primary.samples();
                let (state, lag) = judge(&seen, &samples, Instant::now(), max_lag, version);
                if state == State::Usable {
                    samples.saw_replica(seen.replayed);
                }
                (Finding { state, replayed: seen.replayed, lag }, None)
            }
            Err(silence) => {
                session = None;
                (Finding { state: State::Unreachable, replayed: 0, lag: None }, Some(silence.cause()))
            }
        };
        report(replica, finding, cause.as_deref());
        let pause = match finding.state {
            State::Usable if replica.is_awaited() => SHORT_PAUSE,
            // The primary answers in a moment.
            State::Unknown => PAUSE / 10,
            _ => PAUSE,
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = woken(replica) => {}
        }
    }
}

/// Completes when there is a reason not to wait for the next turn.
async fn woken(replica: &Replica) {
    // One that is left out is not asked more often by those who wait.
    if !replica.is_usable() {
        return pending().await;
    }
    tokio::select! {
        () = replica.wake.notified() => {}
        () = replica.server.stuck.notified() => {}
    }
}

async fn ask(replica: &Replica, session: &mut Option<Session>) -> Result<Seen, Error> {
    let is_open = session.as_ref().is_some_and(|session| !session.client.is_closed());
    if !is_open {
        let (client, task) = replica.server.connector.connect().await?;
        *session = Some(Session { client, task });
    }
    let Some(Session { client, .. }) = session.as_ref() else { return pending().await };
    let row = client.query_typed_one(ASK_REPLICA, &[]).await?;
    let library = match client.query_typed_one(ASK_LIBRARY, &[]).await {
        Ok(row) => row.try_get(0).ok(),
        Err(error) if error.as_db_error().is_some() => None,
        Err(error) => return Err(error),
    };
    seen(&row, library)
}

fn seen(row: &Row, library: Option<String>) -> Result<Seen, Error> {
    let replayed: Option<PgLsn> = row.try_get(1)?;
    Ok(Seen {
        is_standby: row.try_get(0)?,
        replayed: replayed.map_or(0, u64::from),
        system: row.try_get(2)?,
        library,
    })
}

/// Publishes what was found, in the metrics too, and logs a change.
fn report(replica: &Replica, finding: Finding, cause: Option<&str>) {
    let before = replica.publish(finding);
    let metrics = &replica.server.metrics;
    let number = replica.number.to_string();
    let lag = finding.lag.map_or(f64::NAN, |lag| lag.as_secs_f64());
    metrics.replica_lag.with_label_values(&[&number]).set(lag);
    if before.state == finding.state {
        return;
    }
    for state in State::ALL {
        let is_it = f64::from(u8::from(state == finding.state));
        metrics.replica_state.with_label_values(&[number.as_str(), state.name()]).set(is_it);
    }
    let replica_number = replica.number;
    match finding.state {
        State::Usable => tracing::info!(replica = replica_number, "replica {number} answers reads"),
        State::Unknown => {}
        state => tracing::warn!(
            replica = replica_number,
            state = state.name(),
            cause,
            "replica {number} answers no reads: {}",
            state.reason()
        ),
    }
    if finding.state == State::Unreachable {
        // Its connections may hang.
        replica.server.renew();
    }
}
