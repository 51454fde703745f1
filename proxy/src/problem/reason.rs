//! The limit that refused a request, as logs and metrics name it.

/// Why a request was refused although nothing was wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// `KEYED_KEY_RATE`.
    KeyRate,
    /// `KEYED_KEY_REQUESTS`.
    KeyRequests,
    /// `KEYED_KEY_CONNECTIONS`.
    KeyConnections,
    /// The part of `KEYED_POOL_SIZE` that the keys of one role may have.
    RoleConnections,
    /// `KEYED_KEY_FILES`.
    KeyFiles,
    /// The part of `KEYED_BODY_BUDGET` that one key may have.
    KeyBodyBudget,
    /// `KEYED_AUTH_FAILURES`.
    AuthFailures,
    /// `KEYED_PUBLIC_RATE`.
    PublicRate,
    /// Too many unknown keys were being looked up.
    KeyLookups,
    /// `KEYED_REQUESTS`.
    Requests,
    /// `KEYED_FILES`.
    Files,
    /// `KEYED_BODY_BUDGET`.
    BodyBudget,
    /// `KEYED_RESPONSE_BUDGET`.
    ResponseBudget,
    /// Every connection to the database was busy for `KEYED_POOL_WAIT`.
    PoolWait,
    /// `KEYED_CONNECTIONS`.
    Connections,
    /// `KEYED_ADDRESS_CONNECTIONS`.
    AddressConnections,
    /// Proxy and extension do not fit.
    Version,
}

impl Reason {
    pub(crate) const ALL: [Reason; 17] = [
        Reason::KeyRate,
        Reason::KeyRequests,
        Reason::KeyConnections,
        Reason::RoleConnections,
        Reason::KeyFiles,
        Reason::KeyBodyBudget,
        Reason::AuthFailures,
        Reason::PublicRate,
        Reason::KeyLookups,
        Reason::Requests,
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
            Reason::KeyConnections => "key_connections",
            Reason::RoleConnections => "role_connections",
            Reason::KeyFiles => "key_files",
            Reason::KeyBodyBudget => "key_body_budget",
            Reason::AuthFailures => "auth_failures",
            Reason::PublicRate => "public_rate",
            Reason::KeyLookups => "key_lookups",
            Reason::Requests => "requests",
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
