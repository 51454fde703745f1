//! Rate limits: a leaky bucket.
//!
//! An event can be refunded, which rate limiter libraries do not support: a lookup of an unknown key counts as a
//! failure of its address until the key turns out to be valid.

use std::time::{Duration, Instant};

use crate::problem::Excess;

/// The capacity of a bucket, and its leak rate per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    capacity: f64,
    per_second: f64,
}

impl Limit {
    /// This many events per second, and as a burst; 0 means no limit.
    pub(super) fn per_second(number: u32) -> Limit {
        Limit::of(number, 1.0)
    }

    /// This many events per minute, and as a burst; 0 means no limit.
    pub(super) fn per_minute(number: u32) -> Limit {
        Limit::of(number, 60.0)
    }

    /// The size of a burst.
    pub(super) fn burst(self) -> usize {
        self.capacity as usize
    }

    fn of(number: u32, seconds: f64) -> Limit {
        let capacity = if number == 0 { f64::INFINITY } else { f64::from(number) };
        Limit { capacity, per_second: capacity / seconds }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    level: f64,
    since: Instant,
}

impl Bucket {
    pub(super) fn empty(now: Instant) -> Bucket {
        Bucket { level: 0.0, since: now }
    }

    fn leak(&mut self, limit: Limit, now: Instant) {
        let seconds = now.saturating_duration_since(self.since).as_secs_f64();
        // Without a limit, the bucket stays empty.
        let leaked = if limit.per_second.is_finite() { seconds * limit.per_second } else { f64::INFINITY };
        self.level = (self.level - leaked).max(0.0);
        self.since = self.since.max(now);
    }

    pub(super) fn is_empty(&mut self, limit: Limit, now: Instant) -> bool {
        self.leak(limit, now);
        self.level <= 0.0
    }

    /// Adds an event if there is capacity.
    pub(super) fn add(&mut self, limit: Limit, now: Instant) -> Result<(), Excess> {
        self.leak(limit, now);
        if self.level + 1.0 <= limit.capacity {
            self.level += 1.0;
            return Ok(());
        }
        let seconds = |level: f64| Duration::from_secs_f64(level.max(0.0) / limit.per_second);
        Err(Excess {
            limit: limit.capacity as u64,
            next: seconds(self.level + 1.0 - limit.capacity),
            reset: seconds(self.level),
        })
    }

    /// Removes an event that was added before.
    pub(super) fn refund(&mut self) {
        self.level = (self.level - 1.0).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_allows_a_burst_and_then_its_rate() {
        let (limit, start) = (Limit::per_second(10), Instant::now());
        let mut bucket = Bucket::empty(start);
        assert!((0..10).all(|_| bucket.add(limit, start).is_ok()));
        let excess = bucket.add(limit, start).expect_err("it is full");
        assert_eq!(excess.limit, 10);
        assert_eq!((excess.next, excess.reset), (Duration::from_millis(100), Duration::from_secs(1)));
        let later = start + Duration::from_millis(250);
        assert_eq!((0..10).filter(|_| bucket.add(limit, later).is_ok()).count(), 2);
        assert!(bucket.is_empty(limit, later + Duration::from_secs(2)));
    }

    #[test]
    fn refunded_event_frees_capacity() {
        let (limit, now) = (Limit::per_minute(1), Instant::now());
        let mut bucket = Bucket::empty(now);
        for _ in 0..100 {
            assert!(bucket.add(limit, now).is_ok());
            assert!(bucket.add(limit, now).is_err());
            bucket.refund();
        }
        bucket.refund();
        assert!(bucket.add(limit, now).is_ok());
        assert!(bucket.add(limit, now).is_err(), "an empty bucket holds no more than its capacity");
    }

    #[test]
    fn zero_disables_the_limit() {
        let (limit, now) = (Limit::per_second(0), Instant::now());
        let mut bucket = Bucket::empty(now);
        assert!((0..100_000).all(|_| bucket.add(limit, now).is_ok()));
    }
}
