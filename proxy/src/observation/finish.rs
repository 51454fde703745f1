//! The end of a request.

use std::time::Instant;

use super::access_log;
use super::facts::{CLIENT_GONE, Ended, Outcome};
use super::observed::Observation;
use super::spans;

/// Ends a request when it is told to, at the latest when it is dropped: hyper drops what it answers when the client is gone.
pub(super) struct Finish {
    observation: Observation,
    /// That of the response, once there is one, and when.
    status: Option<(u16, Instant)>,
    /// Bytes of the response's body.
    pub(super) sent: u64,
    is_head: bool,
    is_over: bool,
}

impl Finish {
    pub(super) fn new(observation: Observation, is_head: bool) -> Finish {
        Finish { observation, status: None, sent: 0, is_head, is_over: false }
    }

    pub(super) fn answered(&mut self, status: u16) {
        self.status = Some((status, Instant::now()));
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
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        self.end(Ended::ClientGone);
    }
}
