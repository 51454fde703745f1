//! The end of a request.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::MatchedPath;

use super::access_log;
use super::facts::{CLIENT_GONE, Ended, Outcome};
use super::link::{Link, Tail};
use super::observed::{Observation, Resources};
use super::spans;
use crate::metrics::{Metrics, Outcome as Counted};

/// Ends a request, at the latest when it is dropped: hyper drops the response future when the client disconnects.
pub(super) struct Finish {
    observation: Observation,
    metrics: Arc<Metrics>,
    /// The status of the response, and when it was known.
    status: Option<(u16, Instant)>,
    /// The number of bytes of the response body.
    sent: u64,
    /// The connection, and the number of bytes written on it before this response.
    link: Link,
    written_before: u64,
    /// The resources that a large response holds until its end.
    resources: Option<Arc<dyn Resources>>,
    is_head: bool,
    /// Whether the request ends only when the last byte has been sent.
    must_arrive: bool,
    /// Whether the response is complete.
    is_made: bool,
    is_over: bool,
}

impl Finish {
    pub(super) fn new(observation: Observation, metrics: Arc<Metrics>, is_head: bool, link: Link) -> Finish {
        metrics.in_flight.inc();
        link.asked();
        let (written_before, resources) = (link.written(), None);
        Finish {
            observation,
            metrics,
            status: None,
            sent: 0,
            link,
            written_before,
            resources,
            is_head,
            must_arrive: false,
            is_made: false,
            is_over: false,
        }
    }

    pub(super) fn responded(&mut self, status: u16, is_replayed: bool) {
        self.status = Some((status, Instant::now()));
        if is_replayed {
            self.metrics.replays.inc();
        }
    }

    /// Marks a response as large if it has this many bytes in memory or an unknown size. It holds the resources of its
    /// request until the last byte has been sent.
    pub(super) fn is_large(&mut self, bytes: Option<u64>) {
        if let Some(resources) = self.observation.take_resources() {
            resources.hold(bytes.map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)));
            self.resources = Some(resources);
        }
        (self.must_arrive, self.is_made) = (true, bytes.is_some());
    }

    /// Releases the resources, for a small response.
    pub(super) fn release(&self) {
        drop(self.observation.take_resources());
    }

    /// Counts bytes of the body that are passed to the connection.
    pub(super) fn sends(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        // From now on, a write detects that the caller is gone. A response that is still being produced may pause.
        if self.is_made {
            self.link.responded();
        }
    }

    /// The whole body has been passed to the connection.
    pub(super) fn handed_over(self) {
        self.link.responded();
        if self.must_arrive {
            self.link.clone().defer(Box::new(self));
        } else {
            self.finish(Ended::Complete);
        }
    }

    /// The body was dropped before its end.
    pub(super) fn interrupted(self) {
        let ended = self.link.interruption();
        self.finish(ended);
    }

    pub(super) fn finish(mut self, ended: Ended) {
        self.end(ended);
    }

    fn end(&mut self, ended: Ended) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        if !self.must_arrive {
            self.link.responded();
        }
        let outcome = Outcome {
            status: self.status.map_or(CLIENT_GONE, |(status, _)| status),
            // The body of a response to HEAD is never sent.
            ended: if self.is_head && self.status.is_some() { Ended::Complete } else { ended },
            time: self.observation.age(),
            bytes_received: self.observation.bytes_received(),
            bytes_sent: match ended {
                Ended::Complete => self.sent,
                // The rest has not been sent.
                _ => self.sent.min(self.link.written().saturating_sub(self.written_before)),
            },
        };
        drop((self.resources.take(), self.observation.take_resources()));
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
        if let Some(reason) = facts.rejection {
            metrics.rejected(reason);
        }
        let by = match outcome.ended {
            Ended::Complete => return,
            Ended::ClientGone => "client",
            Ended::TooSlow => "slow_client",
            Ended::BrokenOff => "proxy",
        };
        metrics.interrupted.with_label_values(&[by]).inc();
    }
}

impl Tail for Finish {
    fn finish(self: Box<Self>, ended: Ended) {
        (*self).finish(ended);
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        let ended = self.link.interruption();
        self.end(ended);
    }
}
