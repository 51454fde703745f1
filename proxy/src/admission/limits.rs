//! The limits of the process, and their usage.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use axum::http::{Extensions, HeaderMap};
use tokio::sync::Semaphore;

use super::address::{self, Peer};
use super::bucket::Limit;
use super::budget::Budget;
use super::credential;
use super::credentials::Table;
use super::failures::Failures;
use super::public_requests::PublicRequests;
use super::pulse::Pulse;
use super::rejection::too_many_failures;
use super::responses::ResponseBudget;
use super::shares::Shares;
use super::token::CredentialKind;
use crate::problem::Problem;
use crate::settings::bounds::Bounds;

/// The maximum number of concurrent lookups of unknown keys, and separately of keys that were valid. A lookup takes
/// well under a millisecond.
const LOOKUPS: usize = 2;

/// The limits of the process, and their usage.
pub(crate) struct Admission {
    keys: Table,
    tokens: Table,
    pub(super) failures: Failures,
    /// Requests in flight of authenticated callers.
    pub(super) requests: AtomicUsize,
    pub(super) max_requests: usize,
    pub(super) max_requests_per_key: usize,
    /// Requests that wait for changes.
    pub(super) listeners: AtomicUsize,
    pub(super) max_listeners: usize,
    pub(super) max_listeners_per_key: usize,
    pub(super) bodies: Budget,
    /// Permits for lookups of unknown keys, so that connections remain for other requests.
    pub(super) lookups: Semaphore,
    /// Permits for lookups of keys that were valid, which do not wait for unknown keys.
    pub(super) renewals: Semaphore,
    public_requests: PublicRequests,
    pub(super) responses: Arc<ResponseBudget>,
    /// The connections to the database that are not shared for pipelining.
    pub(super) connections: Arc<Shares>,
    /// The same of each replica.
    pub(super) replicas: Vec<Arc<Shares>>,
    pub(super) pulse: Arc<Pulse>,
    pub(super) files: Semaphore,
    pub(super) trusted_proxies: usize,
    /// The time that a request waits for a resource.
    pub(super) patience: Duration,
}

impl Admission {
    /// Applies the configured limits to pools of this many unshared connections, to the primary and to each replica.
    pub(crate) fn new(
        bounds: &Bounds,
        connections: usize,
        replicas: usize,
        body_limit: usize,
        patience: Duration,
        pulse: Arc<Pulse>,
    ) -> Admission {
        let each = credential::Parts {
            rate: Limit::per_second(bounds.key_rate),
            files: bounds.files_of_a_key(connections),
            body_bytes: (bounds.body_budget / 2).max(body_limit),
            memory: bounds.invalid_key_ttl,
        };
        let shares = || {
            Shares::new(
                connections,
                bounds.connections_of_a_role(connections),
                bounds.connections_of_a_key(connections),
            )
        };
        Admission {
            keys: Table::new(each),
            tokens: Table::new(each),
            failures: Failures::new(Limit::per_minute(bounds.auth_failures)),
            requests: AtomicUsize::new(0),
            max_requests: bounds.max_requests,
            max_requests_per_key: bounds.max_requests_per_key,
            listeners: AtomicUsize::new(0),
            max_listeners: bounds.max_listeners,
            max_listeners_per_key: bounds.listeners_of_a_key(),
            bodies: Budget::new(bounds.body_budget),
            lookups: Semaphore::new(LOOKUPS),
            renewals: Semaphore::new(LOOKUPS),
            public_requests: PublicRequests::new(Limit::per_second(bounds.public_rate)),
            responses: ResponseBudget::new(bounds.response_budget),
            connections: shares(),
            replicas: (0..replicas).map(|_| shares()).collect(),
            pulse,
            files: Semaphore::new(bounds.files(connections)),
            trusted_proxies: bounds.trusted_proxies,
            patience,
        }
    }

    /// Counts a request to a public resource.
    pub(crate) fn count_public_request(
        &self,
        extensions: &Extensions,
        headers: &HeaderMap,
    ) -> Result<(), Problem> {
        match extensions.get::<Peer>() {
            Some(peer) => self
                .public_requests
                .enter(address::client(peer.0, headers, self.trusted_proxies), Instant::now()),
            None => Ok(()),
        }
    }

    pub(super) fn table(&self, kind: CredentialKind) -> &Table {
        match kind {
            CredentialKind::ApiKey => &self.keys,
            CredentialKind::DeliveryToken => &self.tokens,
        }
    }

    /// The error for an invalid key; 429 if the address has too many failures.
    pub(super) fn reject(&self, kind: CredentialKind, address: IpAddr, now: Instant) -> Problem {
        match self.failures.rejected(address, now) {
            Ok(()) => kind.rejection(),
            Err(excess) => too_many_failures(excess),
        }
    }
}
