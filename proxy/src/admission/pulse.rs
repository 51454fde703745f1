//! The time of the last response from the database.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time without a response after which the database counts as silent. The readiness check queries it more often.
const SILENCE: Duration = Duration::from_millis(1500);

/// The time of the latest response to any statement.
pub(crate) struct Pulse {
    start: Instant,
    /// In milliseconds since the start.
    latest: AtomicU64,
}

impl Pulse {
    pub(crate) fn new() -> Pulse {
        Pulse { start: Instant::now(), latest: AtomicU64::new(0) }
    }

    /// Records a response from the database.
    pub(crate) fn beat(&self) {
        self.latest.store(self.elapsed(), Ordering::Relaxed);
    }

    /// Whether the database has not responded for a while.
    pub(super) fn is_silent(&self) -> bool {
        let silence = self.elapsed().saturating_sub(self.latest.load(Ordering::Relaxed));
        Duration::from_millis(silence) > SILENCE
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
