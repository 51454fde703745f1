//! Requests per address to public resources: the OpenAPI document and the web application.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::address::network;
use super::bucket::{Bucket, Limit};
use crate::problem::{Excess, Problem, Reason};

/// The number of addresses at which those without recent requests are removed.
const MANY: usize = 10_000;

pub(super) struct PublicRequests {
    limit: Limit,
    addresses: Mutex<HashMap<IpAddr, Bucket>>,
}

impl PublicRequests {
    pub(super) fn new(limit: Limit) -> PublicRequests {
        PublicRequests { limit, addresses: Mutex::default() }
    }

    /// Counts a request from an address.
    pub(super) fn enter(&self, address: IpAddr, now: Instant) -> Result<(), Problem> {
        self.count(address, now).map_err(|excess| {
            Problem::rate_limited(
                Reason::PublicRate,
                "this address has sent too many requests without an API key",
                "KEYED_PUBLIC_RATE",
                excess,
            )
        })
    }

    fn count(&self, address: IpAddr, now: Instant) -> Result<(), Excess> {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.len() >= MANY {
            addresses.retain(|_, bucket| !bucket.is_empty(self.limit, now));
        }
        addresses.entry(network(address)).or_insert_with(|| Bucket::empty(now)).add(self.limit, now)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    #[test]
    fn addresses_have_separate_rates_in_bounded_memory() {
        let (public_requests, now) = (PublicRequests::new(Limit::per_second(2)), Instant::now());
        let address = |number: u32| IpAddr::V4(Ipv4Addr::from_bits(number));
        for number in 0..2 * MANY as u32 {
            let now = now + Duration::from_millis(u64::from(number));
            assert!((0..2).all(|_| public_requests.count(address(number), now).is_ok()), "{number}");
            assert!(public_requests.count(address(number), now).is_err(), "{number}");
        }
        let known = public_requests.addresses.lock().expect("not poisoned").len();
        assert!(known <= MANY + 1, "{known}");
    }
}
