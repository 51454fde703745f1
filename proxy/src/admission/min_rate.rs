//! The minimum rate of a transfer: slower clients time out. Pure.

use std::time::Duration;

use crate::settings::bounds::Bounds;

/// The required rate of a transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRate {
    /// Bytes per second, on average.
    pub(crate) bytes_per_second: usize,
    /// The maximum time without progress.
    pub(crate) stall: Duration,
}

impl MinRate {
    pub(crate) fn of(bounds: &Bounds) -> MinRate {
        MinRate { bytes_per_second: bounds.minimum_rate, stall: bounds.stall_timeout }
    }

    /// The time for this many bytes at this rate.
    pub(super) fn time_for(self, bytes: usize) -> Duration {
        Duration::from_secs_f64(bytes as f64 / self.bytes_per_second.max(1) as f64)
    }
}

/// Tracks a transfer. Only time spent waiting for the client counts. A fast transfer does not earn a longer stall.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferTimer {
    rate: MinRate,
    /// The remaining time to wait for the client.
    credit: Duration,
}

impl TransferTimer {
    pub(crate) fn new(rate: MinRate) -> TransferTimer {
        TransferTimer { rate, credit: rate.stall }
    }

    /// The timeout for the next chunk.
    pub(crate) fn timeout(&self) -> Duration {
        self.credit
    }

    /// The timeout for sending a chunk of this size.
    pub(crate) fn timeout_for(&self, bytes: usize) -> Duration {
        self.credit.saturating_add(self.rate.time_for(bytes))
    }

    /// Records transferred bytes and the time waited for them.
    pub(crate) fn record(&mut self, bytes: usize, waited: Duration) {
        let credit = self.timeout_for(bytes).saturating_sub(waited);
        self.credit = credit.min(self.rate.stall);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: MinRate = MinRate { bytes_per_second: 1000, stall: Duration::from_secs(10) };

    #[test]
    fn transfer_may_stall_but_must_keep_the_minimum_rate() {
        let mut timer = TransferTimer::new(RATE);
        assert_eq!(timer.timeout(), Duration::from_secs(10));
        // A transfer at the minimum rate never times out.
        for _ in 0..100 {
            timer.record(1000, Duration::from_secs(1));
        }
        assert_eq!(timer.timeout(), Duration::from_secs(10));
        // At one byte per second, it times out.
        let seconds = (0..100).take_while(|_| {
            timer.record(1, Duration::from_secs(1));
            timer.timeout() > Duration::ZERO
        });
        assert_eq!(seconds.count(), 10);
    }

    #[test]
    fn fast_transfer_does_not_extend_the_stall_timeout() {
        let mut timer = TransferTimer::new(RATE);
        timer.record(1 << 30, Duration::ZERO);
        assert_eq!(timer.timeout(), Duration::from_secs(10));
        assert_eq!(timer.timeout_for(5000), Duration::from_secs(15));
    }
}
