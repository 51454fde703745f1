//! The embedding worker: claims records of the queue, embeds their texts, and stores the vectors.
//!
//! No transaction is open during a call of the provider. Claims expire, so records that a crashed worker has claimed
//! are claimed again. Several proxies can work in parallel.
//!
//! The worker is an ordinary caller: it has an API key, and receives the texts of the records that its role can read
//! and update. The proxy's login has no access to them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio_postgres::types::Type;

use crate::embedder::Embedder;
use crate::isolation::Outcomes;
use crate::outcome::Failure;
use crate::vector::Vector;
use keyed_service::shutdown::{Shutdown, Step};
use keyed_service::statement::{Statement, number, statement, text};
use keyed_service::worker::{StatementError, WorkerDatabase, WorkerKey};

/// The minimum and maximum pause after a failure.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The additional time of a claim for storing the vectors.
const TIME_TO_STORE: Duration = Duration::from_secs(60);

/// The number of locked records that a claim waits for. Each can take half of the statement timeout.
const MAX_LOCKED: usize = 4;

/// The time for which a locked record is skipped.
const RETRY_LOCKED: Duration = Duration::from_secs(5);

const CLAIM: Statement = statement!("claim_embeddings($4::text, $5::int, $6::int)");
const STORE: Statement = statement!("store_embedding($4::text, $5::text, $6::text, $7::text, $8::real[])");
const FAIL: Statement = statement!("fail_embedding($4::text, $5::text, $6::text)");
const RELEASE: Statement = statement!("release_embeddings($4::text, $5::text, $6::int)");

/// Counts the work of a worker.
pub trait Meter: Send + Sync {
    /// A call of the provider took this time; `outcome` is `ok` or `failed`.
    fn provider_took(&self, outcome: &'static str, time: Duration);

    /// A text was embedded, or could not be; `outcome` is `embedded` or `failed`.
    fn text(&self, outcome: &'static str);
}

/// Embeds pending records.
pub struct Worker<D> {
    database: Arc<D>,
    meter: Arc<dyn Meter>,
    embedder: Arc<Embedder>,
    key: WorkerKey,
    poll: Duration,
}

/// A claim: texts of records with missing or outdated vectors.
#[derive(Deserialize)]
struct Claimed {
    /// Identifies this claim; records of other claims are not changed.
    claim: String,
    entries: Vec<Entry>,
    /// Whether the call completed records that needed no vector, so that more records may be pending.
    settled: bool,
}

#[derive(Deserialize)]
struct Entry {
    record: String,
    /// The hash of the text. The vector is stored only if the record still has this text.
    hash: String,
    /// Empty for a record without text, whose vector is removed.
    text: String,
}

/// The result of a round.
enum Round {
    Worked,
    Idle,
    /// Nothing can be embedded at the moment.
    Failed {
        cause: String,
        retry_after: Option<Duration>,
    },
}

impl<D: WorkerDatabase> Worker<D> {
    /// Creates a worker with an API key of keyed.
    pub fn new(
        database: Arc<D>,
        meter: Arc<dyn Meter>,
        embedder: Arc<Embedder>,
        key: WorkerKey,
        poll: Duration,
    ) -> Worker<D> {
        Worker { database, meter, embedder, key, poll }
    }

    /// Runs until shutdown, then releases the claimed records.
    pub async fn run(self, shutdown: Shutdown) {
        tracing::info!(model = self.embedder.model(), "embedding records");
        let mut failures = 0_u32;
        while !shutdown.has_begun() {
            let pause_time = match self.round(&shutdown).await {
                Round::Worked => {
                    failures = 0;
                    continue;
                }
                Round::Idle => {
                    failures = 0;
                    // Jitter, so that the workers of several proxies do not query at the same moment.
                    self.poll.mul_f64(0.75 + fastrand::f64() / 2.0)
                }
                Round::Failed { cause, retry_after } => {
                    let pause_time = retry_after.unwrap_or_else(|| retry_delay(failures));
                    failures = failures.saturating_add(1);
                    tracing::warn!(cause, rest_seconds = pause_time.as_secs_f64(), "cannot embed records");
                    pause_time
                }
            };
            let _ = tokio::time::timeout(pause_time, shutdown.reached(Step::Draining)).await;
        }
    }

    async fn round(&self, shutdown: &Shutdown) -> Round {
        let embedder = &self.embedder;
        let claimed = match self.claim().await {
            Ok(claimed) => claimed,
            Err(error) => return failed(error),
        };
        if claimed.entries.is_empty() {
            return if claimed.settled { Round::Worked } else { Round::Idle };
        }
        let Claimed { claim, entries, .. } = claimed;
        let (with_text, without_text): (Vec<Entry>, Vec<Entry>) =
            entries.into_iter().partition(|entry| !entry.text.is_empty());
        let texts: Vec<String> = with_text.iter().map(|entry| entry.text.clone()).collect();
        let asked = Instant::now();
        let outcomes = tokio::select! {
            outcomes = embedder.documents(&texts) => Some(outcomes),
            () = shutdown.reached(Step::Draining) => None,
        };
        let Some(outcomes) = outcomes else {
            let _ = self.release(&claim, None, Duration::ZERO).await;
            return Round::Idle;
        };
        let Outcomes { outcomes, failure } = outcomes;
        if !texts.is_empty() {
            let outcome = if failure.is_some() { "failed" } else { "ok" };
            self.meter.provider_took(outcome, asked.elapsed());
        }
        let without_text = without_text.iter().map(|entry| (entry, Ok(None)));
        let with_text = with_text.iter().zip(outcomes);
        let with_text =
            with_text.filter_map(|(entry, outcome)| outcome.map(|outcome| (entry, outcome.map(Some))));
        let mut known: Vec<(&Entry, Result<Option<Vector>, String>)> =
            without_text.chain(with_text).collect();
        // In random order, so that locked records do not delay the same records each time.
        fastrand::shuffle(&mut known);
        let (mut settled, mut failed_stores) = (0_usize, Vec::new());
        for (entry, outcome) in known {
            match self.settle(&claim, entry, embedder.model(), outcome).await {
                Ok(()) => settled += 1,
                Err(error) => failed_stores.push(error),
            }
            if failed_stores.len() == MAX_LOCKED {
                break;
            }
        }
        let Some(Failure { message, retry_after }) = failure else {
            let Some(error) = failed_stores.pop() else { return Round::Worked };
            // Vectors that could not be stored are embedded again when the claim expires.
            let _ = self.release(&claim, None, RETRY_LOCKED).await;
            if settled == 0 {
                return failed(error);
            }
            tracing::warn!(cause = error.cause, "some records are locked and will be embedded later");
            return Round::Worked;
        };
        let pause_time = retry_after.unwrap_or(MIN_PAUSE);
        match self.release(&claim, Some(&message), pause_time).await {
            // If the provider has embedded some texts, the others are retried soon.
            Ok(()) if settled > 0 => Round::Failed { cause: message, retry_after: Some(pause_time) },
            Ok(()) => Round::Failed { cause: message, retry_after },
            Err(error) => failed(error),
        }
    }

    /// Stores the outcome of a text. After an error, the text stays claimed, and the failure is not counted for it.
    async fn settle(
        &self,
        claim: &str,
        entry: &Entry,
        model: &str,
        outcome: Result<Option<Vector>, String>,
    ) -> Result<(), StatementError> {
        let reason = match outcome {
            Err(reason) => reason,
            Ok(vector) => match self.store(claim, entry, model, vector.as_ref()).await {
                Err(error) if error.is_rejection => error.cause,
                done => {
                    if done.is_ok() {
                        self.meter.text("embedded");
                    }
                    return done;
                }
            },
        };
        self.meter.text("failed");
        self.fail(claim, entry, &reason).await
    }

    async fn claim(&self) -> Result<Claimed, StatementError> {
        let embedder = &self.embedder;
        let model = embedder.model();
        let most = i32::try_from(embedder.batch()).unwrap_or(i32::MAX);
        let lease = seconds(embedder.patience().saturating_add(TIME_TO_STORE));
        let arguments = [text(&model), number(&most), number(&lease)];
        let row = self.database.write(&self.key, CLAIM, &arguments).await?;
        let unexpected = |error: String| StatementError {
            cause: format!("not the result of a claim: {error}"),
            is_rejection: false,
        };
        let result: &str = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
        serde_json::from_str(result).map_err(|error| unexpected(error.to_string()))
    }

    async fn store(
        &self,
        claim: &str,
        entry: &Entry,
        model: &str,
        vector: Option<&Vector>,
    ) -> Result<(), StatementError> {
        let vector = vector.map(Vector::numbers);
        let arguments = [
            text(&claim),
            text(&entry.record),
            text(&entry.hash),
            text(&model),
            (&vector as _, Type::FLOAT4_ARRAY),
        ];
        self.database.write(&self.key, STORE, &arguments).await.map(drop)
    }

    async fn fail(&self, claim: &str, entry: &Entry, reason: &str) -> Result<(), StatementError> {
        let arguments = [text(&claim), text(&entry.record), text(&reason)];
        self.database.write(&self.key, FAIL, &arguments).await.map(drop)
    }

    /// Releases the unfinished records of a claim, which can be claimed again after a pause.
    async fn release(
        &self,
        claim: &str,
        reason: Option<&str>,
        pause_time: Duration,
    ) -> Result<(), StatementError> {
        let pause_time = seconds(pause_time);
        let arguments = [text(&claim), text(&reason), number(&pause_time)];
        self.database.write(&self.key, RELEASE, &arguments).await.map(drop)
    }
}

fn failed(error: StatementError) -> Round {
    Round::Failed { cause: error.cause, retry_after: None }
}

/// Exponential backoff with jitter.
fn retry_delay(failures: u32) -> Duration {
    let pause_time = MIN_PAUSE.saturating_mul(1 << failures.min(6)).min(MAX_PAUSE);
    pause_time.mul_f64(0.5 + fastrand::f64() / 2.0)
}

fn seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_secs_f64().ceil() as i64).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_up_to_a_minute() {
        for failures in 0..100 {
            let pause_time = retry_delay(failures);
            assert!(pause_time >= MIN_PAUSE / 2 && pause_time <= MAX_PAUSE, "{pause_time:?}");
        }
        assert!(retry_delay(10) >= MAX_PAUSE / 2);
    }
}
