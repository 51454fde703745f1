//! A replica: its connections, and what its monitor has found.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::health::State;
use crate::database::server::Server;

/// What the monitor has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) state: State,
    /// The position that it has replayed at least.
    pub(super) replayed: u64,
    pub(super) lag: Option<Duration>,
}

/// A replica.
pub(super) struct Replica {
    /// From 1 on, in the order of the setting.
    pub(super) number: u64,
    pub(super) server: Server,
    latest: watch::Sender<Finding>,
    in_flight: AtomicUsize,
    /// Reads that wait for a position.
    waiting: AtomicUsize,
    /// A read waits, or got no response in time.
    pub(super) wake: Notify,
}

/// Counts something for as long as it lives.
pub(super) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Counted<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Replica {
    pub(super) fn new(number: u64, server: Server) -> Arc<Replica> {
        let nothing = Finding { state: State::Unknown, replayed: 0, lag: None };
        let (in_flight, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (latest, wake) = (watch::Sender::new(nothing), Notify::new());
        Arc::new(Replica { number, server, latest, in_flight, waiting, wake })
    }

    pub(super) fn finding(&self) -> Finding {
        *self.latest.borrow()
    }

    /// Publishes what the monitor has found. Returns what it found before.
    pub(super) fn publish(&self, finding: Finding) -> Finding {
        self.latest.send_replace(finding)
    }

    pub(super) fn is_usable(&self) -> bool {
        self.finding().state == State::Usable
    }

    /// Whether it answers reads that need this position.
    pub(super) fn has_replayed(&self, position: u64) -> bool {
        let finding = self.finding();
        finding.state == State::Usable && finding.replayed >= position
    }

    /// The number of reads that it works on.
    pub(super) fn load(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self) -> Counted<'_> {
        Counted::new(&self.in_flight)
    }

    /// Whether a read waits for a position.
    pub(super) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Completes when it answers reads that need this position.
    pub(super) async fn replays(&self, position: u64) {
        let _waiting = Counted::new(&self.waiting);
        self.wake.notify_one();
        let mut latest = self.latest.subscribe();
        let is_there = |it: &Finding| it.state == State::Usable && it.replayed >= position;
        // The sender lives as long as this replica.
        let _ = latest.wait_for(is_there).await;
    }

    /// Completes when it does not respond any more.
    pub(super) async fn falls_silent(&self) {
        let mut latest = self.latest.subscribe();
        let _ = latest.wait_for(|it| it.state == State::Unreachable).await;
    }
}
