//! Streaming replicas, which answer reads.
//!
//! A replica shows what its primary showed a moment ago. A read that must see a write names the position of that write, and
//! the session that answers checks it first: what the monitor knows only chooses the replica. The primary answers what no
//! replica can, and what a replica failed to answer for a reason of its own.

/// Whether a replica is used.
mod health;
/// Asks the servers at intervals.
mod monitor;
/// The positions of the primary.
mod samples;
/// One replica.
mod standby;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all, select_all};
use tokio::time::timeout;
use tokio_postgres::Row;

use super::failure::Failure;
use super::server::{Execution, Server};
use crate::metrics::Metrics;
use crate::position::Freshness;
use crate::problem::Problem;
use crate::settings::Settings;
use health::State;
use keyed_service::tls::database::Connector;
use monitor::Primary;
use standby::Replica;

/// The replicas.
pub struct Replicas {
    all: Vec<Arc<Replica>>,
    primary: Primary,
    /// How long a read waits for its position.
    wait: Duration,
    max_lag: Duration,
    metrics: Arc<Metrics>,
}

/// What is known of a replica.
pub struct ReplicaStatus {
    /// From 1 on, in the order of the setting.
    pub number: u64,
    /// The name of its state.
    pub state: &'static str,
    /// What that means.
    pub reason: &'static str,
    /// Whether it was not asked yet, or the primary was not.
    pub is_unknown: bool,
    /// Whether it answers reads.
    pub is_usable: bool,
    /// Its lag, where it is known.
    pub lag: Option<Duration>,
}

impl Replicas {
    /// Those of the settings, if there are any. `primary`: a connection to the primary beside those of requests.
    pub(super) fn new(
        settings: &Settings,
        metrics: &Arc<Metrics>,
        primary: Server,
    ) -> anyhow::Result<Option<Replicas>> {
        let urls = settings.replicas().map_err(anyhow::Error::msg)?;
        let mut all = Vec::with_capacity(urls.len());
        for (url, number) in urls.into_iter().zip(1..) {
            let connector = Connector::new(url).map_err(anyhow::Error::msg)?;
            all.push(Replica::new(number, Server::replica(settings, &connector, metrics, number)?));
        }
        if all.is_empty() {
            return Ok(None);
        }
        for target in ["replica", "primary"] {
            drop(metrics.reads.with_label_values(&[target]));
        }
        for outcome in ["current", "replayed", "timed_out"] {
            drop(metrics.position_waits.with_label_values(&[outcome]));
        }
        let (wait, max_lag) = (settings.replicas.read_wait, settings.replicas.read_lag);
        Ok(Some(Replicas {
            all,
            primary: Primary::new(primary, max_lag),
            wait,
            max_lag,
            metrics: Arc::clone(metrics),
        }))
    }

    /// Their number.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// Watches primary and replicas until the service ends.
    pub async fn watch(&self, version: &str) {
        let monitors = self.all.iter().map(|it| monitor::watch(it, &self.primary, self.max_lag, version));
        join(self.primary.watch(), join_all(monitors)).await;
    }

    /// What is known of each.
    pub fn status(&self) -> Vec<ReplicaStatus> {
        let status = |replica: &Arc<Replica>| {
            let finding = replica.finding();
            ReplicaStatus {
                number: replica.number,
                state: finding.state.name(),
                reason: finding.state.reason(),
                is_unknown: finding.state == State::Unknown,
                is_usable: finding.state == State::Usable,
                lag: finding.lag,
            }
        };
        self.all.iter().map(status).collect()
    }

    /// Opens later connections by other URLs, or by files that have changed: whether anything has.
    pub async fn replace(&self, settings: &Settings) -> Result<bool, String> {
        let urls = settings.replicas()?;
        if urls.len() != self.all.len() {
            return Err("KEYED_READ_URL names another number of replicas, which needs a restart.".to_owned());
        }
        let mut has_changed = false;
        for (replica, url) in self.all.iter().zip(urls) {
            if replica.server.connector.replace(url).await? {
                replica.server.renew();
                has_changed = true;
            }
        }
        Ok(has_changed)
    }

    /// Whether the primary has not answered for a while.
    pub(super) fn is_primary_silent(&self) -> bool {
        self.primary.is_silent()
    }

    /// Asks a replica; `None` if the primary must answer.
    pub(super) async fn read(
        &self,
        read: &Execution<'_>,
        freshness: Freshness,
    ) -> Option<Result<Row, Problem>> {
        let replica = match freshness.primary {
            true => None,
            false => self.choose(freshness).await,
        };
        let target = if replica.is_some() { "replica" } else { "primary" };
        self.metrics.reads.with_label_values(&[target]).inc();
        let replica = replica?;
        let _counted = replica.enter();
        let outcome = tokio::select! {
            outcome = replica.server.read_once(read, freshness.position) => outcome,
            // Its statement is abandoned.
            () = replica.falls_silent() => Err(Failure::TimedOut { sent: true }),
        };
        match outcome {
            Ok(row) => Some(Ok(row)),
            Err(failure) if failure.is_of_the_replica() => {
                if failure.is_read_only() {
                    let function = read.function;
                    tracing::error!(
                        function,
                        "a read writes, so a replica cannot answer it: please report this"
                    );
                }
                self.metrics.retried("replica");
                None
            }
            Err(failure) => Some(Err(failure.into_problem(read.effect))),
        }
    }

    /// The usable replica with the fewest reads in flight that has replayed the position, once there is one.
    async fn choose(&self, Freshness { position, .. }: Freshness) -> Option<&Replica> {
        let Some(position) = position.map(u64::from) else {
            return self.least_loaded(|replica| replica.is_usable());
        };
        let has_replayed = |replica: &Replica| replica.has_replayed(position);
        let (outcome, replica) = match self.least_loaded(has_replayed) {
            Some(replica) => ("current", Some(replica)),
            None => {
                let usable: Vec<_> = self.all.iter().filter(|replica| replica.is_usable()).collect();
                if usable.is_empty() {
                    return None;
                }
                let one = select_all(usable.iter().map(|replica| Box::pin(replica.replays(position))));
                let _ = timeout(self.wait, one).await;
                match self.least_loaded(has_replayed) {
                    Some(replica) => ("replayed", Some(replica)),
                    None => ("timed_out", None),
                }
            }
        };
        self.metrics.position_waits.with_label_values(&[outcome]).inc();
        replica
    }

    fn least_loaded(&self, is_wanted: impl Fn(&Replica) -> bool) -> Option<&Replica> {
        let wanted = self.all.iter().map(Arc::as_ref).filter(|replica| is_wanted(replica));
        // Of equals, another one each time.
        wanted.min_by_key(|replica| (replica.load(), fastrand::u32(..)))
    }
}
