//! Outcomes of deliveries: delivered, to be retried, or failed.

use super::endpoint::{self, disable};
use super::schedule::retry_delay;
use crate::access::Caller;
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::random;
use crate::postgres::spi::{Connection, Snapshot, connected};
use uuid::Uuid;

/// The maximum size of a stored error and of a stored response.
const MAX_STORED: usize = 1024;

/// The outcome of an attempt.
pub struct Outcome {
    /// The HTTP status; `None` without a response.
    pub status: Option<i32>,
    /// Why the attempt failed.
    pub error: Option<String>,
    /// The beginning of the response.
    pub response: Option<String>,
    /// The delay that the receiver requests, in seconds.
    pub retry_after: Option<i32>,
    /// The time that the attempt took, in milliseconds.
    pub duration: i32,
}

impl Outcome {
    fn is_success(&self) -> bool {
        self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// Stores the outcome of a claimed delivery. Returns false, and stores nothing, if the claim was lost.
pub fn finish(caller: &Caller, claim: Uuid, id: Uuid, outcome: &Outcome) -> Result<bool, Error> {
    endpoint::require(caller, "deliver webhooks")?;
    as_owner(|| connected(|spi| Ok(store(spi, claim, id, outcome))))
}

fn store(spi: &Connection, claim: Uuid, id: Uuid, outcome: &Outcome) -> bool {
    let sql = "select d.number, d.endpoint_id, d.attempts, d.operation = 'test' from keyed_state.webhook_delivery d \
               where d.id = $1 and d.claim = $2 and d.state = 'running' for no key update";
    let found = spi.run_once(sql, Snapshot::Latest, &params![id, claim]).first::<(i64, i32, i32, bool)>();
    let Some((number, endpoint, attempts, is_test)) = found else { return false };
    let rest = match outcome.is_success() || is_test {
        true => None,
        false => retry_delay(attempts, outcome.retry_after, random::next_u64()),
    };
    let state = match (outcome.is_success(), rest) {
        (true, _) => "done",
        (false, Some(_)) => "pending",
        (false, None) => "failed",
    };
    let error = outcome.error.as_deref().map(bounded);
    spi.run_once(
        "update keyed_state.webhook_delivery d set state = $2, claim = null, last_status = $3, last_error = $4, \
         response = $5, duration_ms = $6, due_at = now() + coalesce($7, 0) * interval '1 millisecond', \
         finished_at = case when $7 is null then now() end where d.number = $1",
        Snapshot::Latest,
        &params![
            number,
            state,
            outcome.status,
            error,
            outcome.response.as_deref().map(bounded),
            outcome.duration,
            rest
        ],
    );
    if !is_test {
        note(spi, endpoint, outcome);
    }
    true
}

/// Stores a success or a failure for the endpoint, and disables an endpoint that responded 410 or has failed for days. The
/// time of the last success is accurate to a second, so that deliveries rarely wait for each other.
fn note(spi: &Connection, endpoint: i32, outcome: &Outcome) {
    if outcome.is_success() {
        let sql = "update keyed_state.webhook_endpoint e set last_success_at = now(), failing_since = null where e.id = $1 \
                   and (e.failing_since is not null or e.last_success_at is null \
                     or e.last_success_at < now() - interval '1 second')";
        spi.run_once(sql, Snapshot::Latest, &params![endpoint]);
        return;
    }
    let sql = "update keyed_state.webhook_endpoint e set failing_since = now() where e.id = $1 and e.failing_since is null";
    spi.run_once(sql, Snapshot::Latest, &params![endpoint]);
    if outcome.status == Some(410) {
        disable(spi, endpoint, "the receiver returned 410 Gone");
        return;
    }
    let sql = "select e.failing_since < now() - interval '5 days' from keyed_state.webhook_endpoint e where e.id = $1";
    let is_given_up = spi.run_once(sql, Snapshot::Latest, &params![endpoint]).value::<Option<bool>>();
    if is_given_up.flatten() == Some(true) {
        disable(spi, endpoint, "no delivery has succeeded for 5 days");
    }
}

/// Removes characters that PostgreSQL cannot store, and truncates the text.
fn bounded(text: &str) -> String {
    let text = text.replace('\0', "\u{fffd}");
    text[..text.floor_char_boundary(MAX_STORED)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_text_is_bounded_and_storable() {
        assert_eq!(bounded("a\0b"), "a\u{fffd}b");
        assert_eq!(bounded(&"ä".repeat(2000)), "ä".repeat(MAX_STORED / 2));
        assert!(bounded(&"\0".repeat(2000)).len() <= MAX_STORED);
    }

    #[test]
    fn success_is_a_status_of_200_to_299() {
        let outcome = |status, error: Option<&str>| Outcome {
            status,
            error: error.map(str::to_owned),
            response: None,
            retry_after: None,
            duration: 1,
        };
        assert!(outcome(Some(200), None).is_success() && outcome(Some(299), None).is_success());
        for (status, error) in
            [(Some(199), None), (Some(302), None), (None, None), (Some(200), Some("reset"))]
        {
            assert!(!outcome(status, error).is_success(), "{status:?}");
        }
    }
}
