//! The excess over a limit.

use std::time::Duration;

/// A limit was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    /// How many may be.
    pub(crate) limit: u64,
    /// When one more may be.
    pub(crate) next: Duration,
    /// When as many may be as ever.
    pub(crate) reset: Duration,
}

impl Excess {
    /// Of what may be at once; it is not known when one of them ends.
    pub(crate) fn at_once(limit: usize) -> Excess {
        let soon = Duration::from_secs(1);
        Excess { limit: limit as u64, next: soon, reset: soon }
    }
}
