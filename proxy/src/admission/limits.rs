//! The limits of the process, and their usage.

use std::net::IpAddr;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::bucket::Limit;
use super::budget::Budget;
use super::credential;
use super::credentials::Table;
use super::failures::Failures;
use super::kind::CredentialKind;
use super::refusal::too_many_failures;
use crate::problem::Problem;
use crate::settings::bounds::Bounds;

/// The maximum number of concurrent lookups of unknown keys, and of keys that were valid. Each takes well under a
/// millisecond.
const LOOKUPS: usize = 2;

/// The limits of the process, and their usage.
pub(crate) struct Admission {
    keys: Table,
    tokens: Table,
    pub(super) failures: Failures,
    /// Requests in flight of authenticated callers.
    pub(super) requests: AtomicUsize,
    pub(super) most_requests: usize,
    pub(super) most_requests_of_a_key: usize,
    pub(super) bodies: Budget,
    /// Concurrent lookups of unknown keys, limited so that they leave connections to others.
    pub(super) lookups: Semaphore,
    /// The same of keys that were valid before, which do not wait for strangers.
    pub(super) renewals: Semaphore,
    pub(super) files: Semaphore,
    pub(super) trusted_proxies: usize,
    /// How long a request waits for a busy resource.
    pub(super) patience: Duration,
}

impl Admission {
    /// The configured limits, for a pool of this many unshared connections.
    pub(crate) fn new(
        bounds: &Bounds,
        connections: usize,
        body_limit: usize,
        patience: Duration,
    ) -> Admission {
        let each = credential::Parts {
            rate: Limit::per_second(bounds.key_rate),
            connections: bounds.connections_of_a_key(connections),
            files: bounds.files_of_a_key(connections),
            body_bytes: (bounds.body_budget / 2).max(body_limit),
            memory: bounds.refusal_memory,
        };
        Admission {
            keys: Table::new(each),
            tokens: Table::new(each),
            failures: Failures::new(Limit::per_minute(bounds.auth_failures)),
            requests: AtomicUsize::new(0),
            most_requests: bounds.requests,
            most_requests_of_a_key: bounds.key_requests,
            bodies: Budget::new(bounds.body_budget),
            lookups: Semaphore::new(LOOKUPS),
            renewals: Semaphore::new(LOOKUPS),
            files: Semaphore::new(bounds.files(connections)),
            trusted_proxies: bounds.trusted_proxies,
            patience,
        }
    }

    pub(super) fn table(&self, kind: CredentialKind) -> &Table {
        match kind {
            CredentialKind::ApiKey => &self.keys,
            CredentialKind::DeliveryToken => &self.tokens,
        }
    }

    /// Refuses an invalid key, with 429 if the address has too many failures.
    pub(super) fn refuse(&self, kind: CredentialKind, address: IpAddr, now: Instant) -> Problem {
        match self.failures.refused(address, now) {
            Ok(()) => kind.refusal(),
            Err(excess) => too_many_failures(excess),
        }
    }
}
