//! Which connections are still valid: none that is too old, and none from before a failover.
//!
//! A demoted server keeps its connections and answers writes with 25006 (read-only). This error is a reason to open
//! new connections, which look for the primary again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A connection as new as this knows as much as the next one would: where nothing can be written for long, no caller can
/// have connections opened faster.
const NEWS: Duration = Duration::from_secs(1);

/// Shared by the pool and the rows of lookups.
#[derive(Clone)]
pub(crate) struct Trust {
    epoch: Instant,
    longest: Duration,
    /// Connections opened before are not used again, in microseconds since the epoch.
    since: Arc<AtomicU64>,
}

impl Trust {
    /// `longest`: how old a connection may become.
    pub(crate) fn new(longest: Duration) -> Trust {
        Trust { epoch: Instant::now(), longest, since: Arc::default() }
    }

    /// Whether a connection opened then may be used.
    pub(crate) fn holds(&self, opened: Instant) -> bool {
        opened.elapsed() < self.longest && self.age(opened) >= self.since.load(Ordering::Relaxed)
    }

    /// A connection opened then leads to a server that cannot write: those as old as it are not used again. Whether another
    /// may lead elsewhere.
    pub(crate) fn withdraw(&self, opened: Instant) -> bool {
        if opened.elapsed() < NEWS {
            return false;
        }
        self.since.fetch_max(self.age(Instant::now()), Ordering::Relaxed);
        true
    }

    /// No connection that is open is used again.
    pub(crate) fn withdraw_all(&self) {
        // One that was opened in the same microsecond, too.
        self.since.fetch_max(self.age(Instant::now()) + 1, Ordering::Relaxed);
    }

    fn age(&self, moment: Instant) -> u64 {
        u64::try_from(moment.saturating_duration_since(self.epoch).as_micros()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_is_used_until_its_maximum_age() {
        let trust = Trust::new(Duration::from_secs(60));
        let before = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).expect("a moment");
        assert!(trust.holds(Instant::now()) && trust.holds(before(59)));
        assert!(!trust.holds(before(60)));
    }

    #[test]
    fn only_new_connections_are_used_after_a_failover() {
        let mut trust = Trust::new(Duration::from_secs(3600));
        let hour = Duration::from_secs(3600);
        trust.epoch = trust.epoch.checked_sub(hour).expect("a moment");
        let old = Instant::now().checked_sub(Duration::from_secs(2)).expect("a moment");
        assert!(trust.holds(old));
        assert!(!trust.withdraw(Instant::now()), "a new connection says what another would say");
        assert!(trust.holds(old));
        assert!(trust.withdraw(old));
        assert!(!trust.holds(old) && trust.holds(Instant::now()));
        let latest = Instant::now();
        trust.withdraw_all();
        assert!(!trust.holds(latest));
    }
}
