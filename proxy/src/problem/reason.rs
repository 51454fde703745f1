//! The limit that a request exceeds: its name in logs and metrics, and its state.

use std::time::Duration;

/// Why a valid request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// `KEYED_KEY_RATE`.
    KeyRate,
    /// `KEYED_MAX_REQUESTS_PER_KEY`.
    KeyRequests,
    /// The share of `KEYED_MAX_LISTENERS` that one key can use.
    KeyListeners,
    /// `KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY`.
    KeyConnections,
    /// The share of `KEYED_POOL_SIZE` that the keys of one role can use.
    RoleConnections,
    /// `KEYED_MAX_TRANSFERS_PER_KEY`.
    KeyFiles,
    /// The share of `KEYED_BODY_BUDGET` that one key can use.
    KeyBodyBudget,
    /// `KEYED_AUTH_FAILURES`.
    AuthFailures,
    /// `KEYED_PUBLIC_RATE`.
    PublicRate,
    /// Too many unknown keys were being looked up.
    KeyLookups,
    /// `KEYED_MAX_REQUESTS`.
    Requests,
    /// `KEYED_MAX_LISTENERS`.
    Listeners,
    /// `KEYED_MAX_TRANSFERS`.
    Files,
    /// `KEYED_BODY_BUDGET`.
    BodyBudget,
    /// `KEYED_RESPONSE_BUDGET`.
    ResponseBudget,
    /// Every connection to the database was busy for `KEYED_POOL_WAIT`.
    PoolWait,
    /// `KEYED_MAX_CONNECTIONS`.
    Connections,
    /// `KEYED_MAX_CONNECTIONS_PER_ADDRESS`.
    AddressConnections,
    /// Proxy and extension have incompatible versions.
    Version,
}

impl Reason {
    pub(crate) const ALL: [Reason; 19] = [
        Reason::KeyRate,
        Reason::KeyRequests,
        Reason::KeyListeners,
        Reason::KeyConnections,
        Reason::RoleConnections,
        Reason::KeyFiles,
        Reason::KeyBodyBudget,
        Reason::AuthFailures,
        Reason::PublicRate,
        Reason::KeyLookups,
        Reason::Requests,
        Reason::Listeners,
        Reason::Files,
        Reason::BodyBudget,
        Reason::ResponseBudget,
        Reason::PoolWait,
        Reason::Connections,
        Reason::AddressConnections,
        Reason::Version,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Reason::KeyRate => "key_rate",
            Reason::KeyRequests => "key_requests",
            Reason::KeyListeners => "key_listeners",
            Reason::KeyConnections => "key_connections",
            Reason::RoleConnections => "role_connections",
            Reason::KeyFiles => "key_files",
            Reason::KeyBodyBudget => "key_body_budget",
            Reason::AuthFailures => "auth_failures",
            Reason::PublicRate => "public_rate",
            Reason::KeyLookups => "key_lookups",
            Reason::Requests => "requests",
            Reason::Listeners => "listeners",
            Reason::Files => "files",
            Reason::BodyBudget => "body_budget",
            Reason::ResponseBudget => "response_budget",
            Reason::PoolWait => "pool_wait",
            Reason::Connections => "connections",
            Reason::AddressConnections => "address_connections",
            Reason::Version => "version",
        }
    }
}

/// The state of an exceeded limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    /// The limit.
    pub(crate) limit: u64,
    /// The time until one more request is allowed.
    pub(crate) next: Duration,
    /// The time until the full limit is available.
    pub(crate) reset: Duration,
}

impl Excess {
    /// For a concurrency limit, whose next release is unknown.
    pub(crate) fn of_concurrent(limit: usize) -> Excess {
        let soon = Duration::from_secs(1);
        Excess { limit: limit as u64, next: soon, reset: soon }
    }
}
