//! The end of a request.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::MatchedPath;

use super::access_log;
use super::facts::{CLIENT_GONE, Ended, Outcome};
use super::observed::Observation;
use super::spans;
use crate::metrics::{Metrics, Outcome as Counted};

/// Ends a request when it is told to, at the latest when it is dropped: hyper drops what it answers when the client is gone.
pub(super) struct Finish {
    observation: Observation,
    metrics: Arc<Metrics>,
    /// That of the response, once there is one, and when.
    status: Option<(u16, Instant)>,
    /// Bytes of the response's body.
    pub(super) sent: u64,
    is_head: bool,
    is_over: bool,
}

impl Finish {
    pub(super) fn new(observation: Observation, metrics: Arc<Metrics>, is_head: bool) -> Finish {
        metrics.in_flight.inc();
        Finish { observation, metrics, status: None, sent: 0, is_head, is_over: false }
    }

    pub(super) fn answered(&mut self, status: u16, is_replayed: bool) {
        self.status = Some((status, Instant::now()));
        if is_replayed {
            self.metrics.replays.inc();
        }
    }

    pub(super) fn finish(mut self, ended: Ended) {
        self.end(ended);
    }

    fn end(&mut self, ended: Ended) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let outcome = Outcome {
            status: self.status.map_or(CLIENT_GONE, |(status, _)| status),
            // The body of an answer to HEAD is never sent.
            ended: if self.is_head && self.status.is_some() { Ended::Complete } else { ended },
            time: self.observation.age(),
            bytes_received: self.observation.bytes_received(),
            bytes_sent: self.sent,
        };
        let trace = spans::export(&self.observation, &outcome, self.status.map(|(_, at)| at));
        access_log::write(&self.observation, &outcome, trace);
        self.count(&outcome);
    }

    fn count(&self, outcome: &Outcome) {
        let (metrics, facts) = (&self.metrics, self.observation.facts());
        metrics.in_flight.dec();
        metrics.http.count(&Counted {
            route: facts.route.as_ref().map(MatchedPath::as_str),
            method: self.observation.method(),
            status: outcome.status,
            time: outcome.time,
            bytes_received: outcome.bytes_received,
            bytes_sent: outcome.bytes_sent,
        });
        if let Some(reason) = facts.refusal {
            metrics.refused(reason);
        }
        let by = match outcome.ended {
            Ended::Complete => return,
            Ended::ClientGone => "client",
            Ended::BrokenOff => "proxy",
        };
        metrics.interrupted.with_label_values(&[by]).inc();
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        self.end(Ended::ClientGone);
    }
}
