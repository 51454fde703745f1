//! The worker: queues the deliveries of new changes, claims those that are due, sends them, and stores the outcomes.
//!
//! No transaction is open while a delivery is sent. Claims expire, so deliveries that a crashed worker has claimed are
//! claimed again. Several proxies can work in parallel. Each delivery is sent by its own task, and the database limits
//! the deliveries in flight to each endpoint, so a slow receiver delays only itself.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;

use crate::attempt::{Delivery, Outcome, Sender};
use crate::settings::WebhookSettings;
use keyed_service::shutdown::{Shutdown, Step};
use keyed_service::statement::{Argument, Statement, number, statement, text};
use keyed_service::worker::{StatementError, WorkerDatabase, WorkerKey};

/// From this number of deliveries in flight, each endpoint has at most one, so that slow receivers do not use up the
/// worker. An endpoint with no delivery in flight can always get one.
const MANY_IN_FLIGHT: usize = 100;
/// The maximum number of deliveries in flight to an endpoint below that number.
const MAX_TO_ENDPOINT: i32 = 10;
/// The maximum number of deliveries in a claim.
const MAX_CLAIMED: i32 = 50;

/// The minimum and maximum pause between checks when there is nothing to do.
const MIN_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// The maximum pause after failures.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

/// The additional time of a claim for storing the outcome.
const TIME_TO_STORE: Duration = Duration::from_secs(45);
/// The pauses between attempts to store an outcome.
const STORE_PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
];

const QUEUE: Statement = statement!("queue_webhooks()");
const CLAIM: Statement = statement!("claim_webhooks($4::int, $5::int, $6::int)");
const FINISH: Statement =
    statement!("finish_webhook($4::text, $5::text, $6::int, $7::text, $8::text, $9::int, $10::int)");

/// Counts the work of a worker.
pub trait Meter: Send + Sync {
    /// An attempt took this time; `outcome` is `delivered` or `failed`.
    fn attempt(&self, outcome: &'static str, time: Duration);
}

/// Delivers webhooks.
pub struct Worker<D> {
    shared: Arc<Shared<D>>,
}

struct Shared<D> {
    database: Arc<D>,
    meter: Arc<dyn Meter>,
    sender: Sender,
    key: WorkerKey,
}

#[derive(Deserialize)]
struct Queued {
    queued: usize,
    has_more: bool,
}

#[derive(Deserialize)]
struct Claimed {
    /// Identifies this claim; outcomes of other claims are not stored.
    claim: String,
    deliveries: Vec<Delivery>,
    /// Whether the call completed deliveries that needed no request, so that more may be due.
    is_settled: bool,
}

impl<D: WorkerDatabase> Worker<D> {
    /// Creates a worker with an API key of keyed.
    pub fn new(
        database: Arc<D>,
        meter: Arc<dyn Meter>,
        settings: &WebhookSettings,
        key: WorkerKey,
    ) -> anyhow::Result<Worker<D>> {
        let allowed = settings.allowed().map_err(anyhow::Error::msg)?;
        let sender = Sender::new(allowed, settings.webhook_timeout)?;
        Ok(Worker { shared: Arc::new(Shared { database, meter, sender, key }) })
    }

    /// Runs until shutdown, then waits for the deliveries in flight, each within its timeout.
    pub async fn run(self, shutdown: Shutdown) {
        tracing::info!("delivering webhooks");
        let mut tasks = JoinSet::new();
        let (mut pause_time, mut failures) = (MIN_PAUSE, 0_u32);
        while !shutdown.has_begun() {
            while tasks.try_join_next().is_some() {}
            match self.round(&mut tasks).await {
                Ok(true) => {
                    (pause_time, failures) = (MIN_PAUSE, 0);
                    continue;
                }
                Ok(false) if failures > 0 => (pause_time, failures) = (MIN_PAUSE, 0),
                Ok(false) => {}
                Err(error) => {
                    pause_time = retry_delay(failures);
                    failures = failures.saturating_add(1);
                    let seconds = pause_time.as_secs_f64();
                    tracing::warn!(cause = error.cause, rest_seconds = seconds, "cannot deliver webhooks");
                }
            }
            // Jitter, so that the workers of several proxies do not query at the same moment.
            let pause = pause_time.mul_f64(0.75 + fastrand::f64() / 2.0);
            tokio::select! {
                () = tokio::time::sleep(pause) => pause_time = (2 * pause_time).min(MAX_PAUSE.max(pause_time)),
                // The next delivery of the same record may be due.
                Some(_) = tasks.join_next() => pause_time = MIN_PAUSE,
                () = shutdown.reached(Step::Draining) => {}
            }
        }
        while tasks.join_next().await.is_some() {}
    }

    /// Queues and claims deliveries. Returns whether there were any.
    async fn round(&self, tasks: &mut JoinSet<()>) -> Result<bool, StatementError> {
        let queued: Result<Queued, StatementError> = self.shared.ask(QUEUE, &[]).await;
        let lease = self.shared.sender.timeout().saturating_add(TIME_TO_STORE);
        let lease = i32::try_from(lease.as_secs()).unwrap_or(i32::MAX);
        let to_endpoint = if tasks.len() < MANY_IN_FLIGHT { MAX_TO_ENDPOINT } else { 1 };
        let claim = [number(&MAX_CLAIMED), number(&lease), number(&to_endpoint)];
        let claimed: Claimed = self.shared.ask(CLAIM, &claim).await?;
        let Claimed { claim, deliveries, is_settled } = claimed;
        let has_worked = is_settled || !deliveries.is_empty();
        let claim: Arc<str> = claim.into();
        for delivery in deliveries {
            let (shared, claim) = (Arc::clone(&self.shared), Arc::clone(&claim));
            tasks.spawn(async move { shared.deliver(&claim, delivery).await });
        }
        let Queued { queued, has_more } = queued?;
        Ok(has_worked || queued > 0 || has_more)
    }
}

impl<D: WorkerDatabase> Shared<D> {
    async fn ask<T: DeserializeOwned>(
        &self,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<T, StatementError> {
        let row = self.database.write(&self.key, statement, arguments).await?;
        let unexpected = |error: String| StatementError {
            cause: format!("an unexpected result: {error}"),
            is_rejection: false,
        };
        let result: &str = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
        serde_json::from_str(result).map_err(|error| unexpected(error.to_string()))
    }

    async fn deliver(&self, claim: &str, delivery: Delivery) {
        let outcome = self.sender.send(&delivery).await;
        let name = if outcome.error.is_none() { "delivered" } else { "failed" };
        self.meter.attempt(name, outcome.duration);
        if let Some(error) = &outcome.error {
            tracing::info!(endpoint = delivery.endpoint, delivery = delivery.id, error, "a delivery failed");
        }
        let mut failure = None;
        for pause_time in STORE_PAUSES {
            tokio::time::sleep(pause_time).await;
            match self.finish(claim, &delivery.id, &outcome).await {
                Ok(()) => return,
                Err(error) if error.is_rejection => {
                    failure = Some(error);
                    break;
                }
                Err(error) => failure = Some(error),
            }
        }
        // When the claim expires, the delivery is sent again.
        let cause = failure.map(|error| error.cause).unwrap_or_default();
        tracing::warn!(cause, delivery = delivery.id, "the outcome of a delivery could not be stored");
    }

    async fn finish(&self, claim: &str, id: &str, outcome: &Outcome) -> Result<(), StatementError> {
        let status = outcome.status.map(i32::from);
        let retry_after = outcome.retry_after.map(|seconds| i32::try_from(seconds).unwrap_or(i32::MAX));
        let duration = i32::try_from(outcome.duration.as_millis()).unwrap_or(i32::MAX);
        let arguments = [
            text(&claim),
            text(&id),
            number(&status),
            text(&outcome.error),
            text(&outcome.response),
            number(&retry_after),
            number(&duration),
        ];
        self.database.write(&self.key, FINISH, &arguments).await.map(drop)
    }
}

/// Exponential backoff.
fn retry_delay(failures: u32) -> Duration {
    Duration::from_secs(1).saturating_mul(1 << failures.min(5)).min(MAX_RETRY_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_up_to_half_a_minute() {
        assert_eq!(retry_delay(0), Duration::from_secs(1));
        assert_eq!(retry_delay(3), Duration::from_secs(8));
        assert_eq!(retry_delay(100), MAX_RETRY_DELAY);
    }

    #[test]
    fn outcome_is_stored_before_the_claim_expires() {
        assert!(STORE_PAUSES.iter().sum::<Duration>() < TIME_TO_STORE);
    }
}
