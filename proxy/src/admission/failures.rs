//! Failed authentications per address.
//!
//! Two limits apply to an address. Rejected requests: when there are too many, it gets 429. Failed lookups, that is,
//! well-formed invalid keys that needed a database lookup: when there are too many, unknown keys are no longer looked
//! up. A client that repeats one invalid key causes few lookups, so it does not lock out other clients behind the same
//! proxy. Keys known to be valid are always accepted.
//!
//! A lookup is charged when it starts, and the concurrent lookups of an address are limited. Otherwise, all keys that
//! arrive before the first result would be looked up, ahead of the keys from other addresses.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::address::network;
use super::bucket::{Bucket, Limit};
use crate::problem::Excess;

/// The maximum number of tracked addresses. All others share one entry.
const MAX_ADDRESSES: usize = 10_000;

/// The maximum number of concurrent lookups of unknown keys from one address.
const LOOKUPS: usize = 2;

/// The minimum interval between two sweeps of empty entries.
const PAUSE: Duration = Duration::from_secs(1);

/// The entry of all other addresses.
const OTHER_ADDRESSES: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

pub(super) struct Failures {
    limit: Limit,
    addresses: Mutex<Addresses>,
}

struct Addresses {
    map: HashMap<IpAddr, Counts>,
    /// The time of the last sweep.
    swept: Option<Instant>,
}

struct Counts {
    rejections: Bucket,
    failed_lookups: Bucket,
    /// Limits concurrent lookups of unknown keys.
    lookups: Arc<Semaphore>,
}

/// A lookup of an unknown key, charged to an address.
pub(super) struct Charge {
    charged: IpAddr,
}

impl Failures {
    pub(super) fn new(limit: Limit) -> Failures {
        Failures { limit, addresses: Mutex::new(Addresses { map: HashMap::new(), swept: None }) }
    }

    /// Counts a failed authentication.
    pub(super) fn rejected(&self, address: IpAddr, now: Instant) -> Result<(), Excess> {
        self.with(address, now, |_, counts| counts.rejections.add(self.limit, now))
    }

    /// The permits of an address for concurrent lookups of unknown keys.
    pub(super) fn lookups(&self, address: IpAddr, now: Instant) -> Arc<Semaphore> {
        self.with(address, now, |_, counts| Arc::clone(&counts.lookups))
    }

    /// Charges a lookup of an unknown key to its address, if the address has not reached the limit.
    pub(super) fn charge(&self, address: IpAddr, now: Instant) -> Result<Charge, Excess> {
        self.with(address, now, |charged, counts| {
            counts.failed_lookups.add(self.limit, now).map(|()| Charge { charged })
        })
    }

    /// Refunds a lookup: the key is valid, or its validity is unknown.
    pub(super) fn refund(&self, charge: Charge) {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counts) = addresses.map.get_mut(&charge.charged) {
            counts.failed_lookups.refund();
        }
    }

    fn with<T>(&self, address: IpAddr, now: Instant, count: impl FnOnce(IpAddr, &mut Counts) -> T) -> T {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.map.len() >= MAX_ADDRESSES {
            addresses.sweep(self.limit, now);
        }
        let address = addresses.name(address);
        count(address, addresses.map.entry(address).or_insert_with(|| Counts::new(self.limit, now)))
    }
}

impl Counts {
    fn new(limit: Limit, now: Instant) -> Counts {
        // At most the limit, so that valid keys are not rejected while they are being looked up.
        let lookups = Arc::new(Semaphore::new(limit.burst().min(LOOKUPS)));
        Counts { rejections: Bucket::empty(now), failed_lookups: Bucket::empty(now), lookups }
    }

    /// Whether the entry can be removed.
    fn is_empty(&mut self, limit: Limit, now: Instant) -> bool {
        Arc::strong_count(&self.lookups) == 1
            && self.rejections.is_empty(limit, now)
            && self.failed_lookups.is_empty(limit, now)
    }
}

impl Addresses {
    /// The entry in which an address is counted.
    fn name(&self, address: IpAddr) -> IpAddr {
        let network = network(address);
        if self.map.len() < MAX_ADDRESSES || self.map.contains_key(&network) {
            network
        } else {
            OTHER_ADDRESSES
        }
    }

    fn sweep(&mut self, limit: Limit, now: Instant) {
        if self.swept.is_none_or(|swept| now.saturating_duration_since(swept) >= PAUSE) {
            self.swept = Some(now);
            self.map.retain(|_, counts| !counts.is_empty(limit, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn failures_are_counted_per_address() {
        let (failures, now) = (Failures::new(Limit::per_minute(3)), Instant::now());
        let one = address("192.0.2.1");
        assert_eq!((0..10).filter(|_| failures.rejected(one, now).is_ok()).count(), 3);
        assert!(failures.rejected(address("192.0.2.2"), now).is_ok());
        assert!(failures.rejected(one, now + Duration::from_secs(21)).is_ok());
    }

    #[test]
    fn unknown_keys_have_their_own_limit() {
        let (failures, now) = (Failures::new(Limit::per_minute(3)), Instant::now());
        let one = address("2001:db8::1");
        for _ in 0..10 {
            let _ = failures.rejected(one, now);
        }
        assert!((0..3).all(|_| failures.charge(one, now).is_ok()));
        assert!(failures.charge(one, now).is_err());
        assert!(failures.charge(address("2001:db8::ffff:1"), now).is_err(), "the same /64");
        assert!(failures.charge(address("2001:db8:0:1::1"), now).is_ok(), "another /64");
    }

    #[test]
    fn refunded_lookup_frees_capacity() {
        let (failures, now) = (Failures::new(Limit::per_minute(1)), Instant::now());
        let one = address("192.0.2.1");
        for _ in 0..10 {
            let charge = failures.charge(one, now).expect("the previous one was refunded");
            assert!(failures.charge(one, now).is_err());
            failures.refund(charge);
        }
    }

    #[test]
    fn addresses_use_bounded_memory() {
        let (failures, now) = (Failures::new(Limit::per_minute(3)), Instant::now());
        for number in 0..MAX_ADDRESSES as u32 + 1000 {
            let _ = failures.rejected(IpAddr::V4(Ipv4Addr::from(number + 1)), now);
        }
        let count = || failures.addresses.lock().expect("no panic").map.len();
        assert!(count() <= MAX_ADDRESSES + 1);
        // Addresses without an entry share one.
        assert!(failures.rejected(address("203.0.113.1"), now).is_err());
        let later = now + Duration::from_secs(120);
        assert!(failures.rejected(address("203.0.113.1"), later).is_ok());
        assert_eq!(count(), 1);
    }
}
