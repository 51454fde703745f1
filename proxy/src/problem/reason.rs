//! The limit that a request exceeds: as logs and metrics name it, and its state.

use std::time::Duration;

/// Why a valid request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// `KEYED_KEY_RATE`.
    KeyRate,
    /// `KEYED_MAX_REQUESTS_PER_KEY`.
    KeyRequests,
    /// The part of `KEYED_MAX_LISTENERS` that one key may have.
    KeyListeners,
    /// `KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY`.
    KeyConnections,
    /// The part of `KEYED_POOL_SIZE` that the keys of one role may have.
    RoleConnections,
    /// `KEYED_MAX_TRANSFERS_PER_KEY`.
    KeyFiles,
    /// The part of `KEYED_BODY_BUDGET` that one key may have.
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

/// The state of a limit that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    /// The limit.
    pub(crate) limit: u64,
    /// The time until one more is allowed.
    pub(crate) next: Duration,
    /// The time until the full limit is available.
    pub(crate) reset: Duration,
}

impl Excess {
    /// Of a limit of concurrency: the end of none is known.
    pub(crate) fn of_concurrent(limit: usize) -> Excess {
        let soon = Duration::from_secs(1);
        Excess { limit: limit as u64, next: soon, reset: soon }
    }
}
