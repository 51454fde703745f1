//! Settings of limits. Each is one field, and its comment is its help text.

use std::time::Duration;

use clap::Args;

use keyed_service::value::{bytes, cores, seconds, whole};

/// The limits of callers and of the process.
#[derive(Args, Clone)]
#[command(next_help_heading = "Bounds")]
pub struct Bounds {
    /// Maximum number of open client connections. Additional connections get 503 and are closed.
    #[arg(long, env = "KEYED_MAX_CONNECTIONS", default_value_t = 4096, value_name = "N", value_parser = whole::<usize>)]
    pub max_connections: usize,

    /// Maximum number of open client connections per address (IPv6: per /64). Additional connections get 503 and are closed.
    ///
    /// Default: half of KEYED_MAX_CONNECTIONS, or all of them behind trusted reverse proxies.
    #[arg(long, env = "KEYED_MAX_CONNECTIONS_PER_ADDRESS", value_name = "N", value_parser = whole::<usize>)]
    pub max_connections_per_address: Option<usize>,

    /// Maximum number of requests in flight. Additional requests get 503.
    #[arg(long, env = "KEYED_MAX_REQUESTS", default_value_t = 2048, value_name = "N", value_parser = whole::<usize>)]
    pub max_requests: usize,

    /// Maximum memory for the bodies of all requests. One key can use half of it.
    ///
    /// A request waits for memory as long as for a database connection (KEYED_POOL_WAIT), then it gets 503. Must be at
    /// least KEYED_BODY_LIMIT.
    #[arg(long, env = "KEYED_BODY_BUDGET", default_value = "64MiB", value_parser = bytes, value_name = "SIZE")]
    pub body_budget: usize,

    /// Maximum memory for responses that are being sent or computed. One key can use half of it.
    ///
    /// Additional requests wait as long as for a database connection (KEYED_POOL_WAIT), then they get 503. Lookups of
    /// single records do not wait.
    #[arg(long, env = "KEYED_RESPONSE_BUDGET", default_value = "128MiB", value_parser = bytes, value_name = "SIZE")]
    pub response_budget: usize,

    /// Seconds within which a client must send the first byte, and then the complete headers of its first request.
    ///
    /// Connections of trusted reverse proxies, and all connections between two requests, may be idle for 75 seconds.
    #[arg(long, env = "KEYED_HEADER_TIMEOUT", default_value = "10", value_parser = seconds, value_name = "SECONDS")]
    pub header_timeout: Duration,

    /// Minimum rate, in bytes per second, at which a client must send a body and read a response.
    #[arg(long, env = "KEYED_MINIMUM_RATE", default_value = "4KiB", value_parser = bytes, value_name = "SIZE")]
    pub minimum_rate: usize,

    /// Seconds that a body or a response may stall or stay below the minimum rate.
    #[arg(long, env = "KEYED_STALL_TIMEOUT", default_value = "30", value_parser = seconds, value_name = "SECONDS")]
    pub stall_timeout: Duration,

    /// Maximum number of concurrent imports and exports. Default: half of the connections that are not shared.
    #[arg(long, env = "KEYED_MAX_TRANSFERS", value_name = "N", value_parser = whole::<usize>)]
    pub max_transfers: Option<usize>,

    /// Maximum seconds for an export, or for an import in one transaction (abort, dry run).
    #[arg(long, env = "KEYED_TRANSFER_TIMEOUT", default_value = "3600", value_parser = seconds, value_name = "SECONDS")]
    pub transfer_timeout: Duration,

    /// Maximum requests per second of each API key or delivery token, otherwise 429; 0 for no limit.
    ///
    /// Default: 50000 per core, which is more than one integration can reach.
    #[arg(long, env = "KEYED_KEY_RATE", default_value_t = default_key_rate(), value_name = "N", value_parser = whole::<u32>)]
    pub key_rate: u32,

    /// Maximum requests per second from each address (IPv6: /64) to resources that need no API key: the web application
    /// and /openapi.json. Otherwise 429; 0 for no limit.
    #[arg(long, env = "KEYED_PUBLIC_RATE", default_value_t = 100, value_name = "N", value_parser = whole::<u32>)]
    pub public_rate: u32,

    /// Maximum requests in flight of each API key or delivery token, otherwise 429.
    #[arg(long, env = "KEYED_MAX_REQUESTS_PER_KEY", default_value_t = 1024, value_name = "N", value_parser = whole::<usize>)]
    pub max_requests_per_key: usize,

    /// Maximum number of requests that wait for changes. One key can use half of it. Additional requests get 503, or
    /// 429 at the limit of the key.
    ///
    /// They do not count as requests in flight, so they do not use up the limit of reads and writes.
    #[arg(long, env = "KEYED_MAX_LISTENERS", default_value_t = 4096, value_name = "N", value_parser = whole::<usize>)]
    pub max_listeners: usize,

    /// Maximum database connections of each key. All keys of a role can use three quarters of the connections, or this
    /// number if it is larger. Default: three quarters of the maximum of a role.
    ///
    /// Additional requests wait for KEYED_POOL_WAIT, then they get 429. Lookups of single records use separate, shared
    /// connections and do not count.
    #[arg(long, env = "KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY", value_name = "N", value_parser = whole::<usize>)]
    pub max_database_connections_per_key: Option<usize>,

    /// Maximum number of concurrent imports and exports of each key, otherwise 429. The default leaves at least one to
    /// other keys.
    #[arg(long, env = "KEYED_MAX_TRANSFERS_PER_KEY", value_name = "N", value_parser = whole::<usize>)]
    pub max_transfers_per_key: Option<usize>,

    /// Maximum failed authentications per minute from each address (IPv6: /64), otherwise 429; 0 for no limit.
    ///
    /// Verified keys are accepted regardless of failures from their address.
    #[arg(long, env = "KEYED_AUTH_FAILURES", default_value_t = 100, value_name = "N", value_parser = whole::<u32>)]
    pub auth_failures: u32,

    /// Seconds for which an invalid key is rejected without another lookup.
    #[arg(long, env = "KEYED_INVALID_KEY_TTL", default_value = "1", value_parser = seconds, value_name = "SECONDS")]
    pub invalid_key_ttl: Duration,

    /// Number of reverse proxies in front of this one that append the client address to X-Forwarded-For.
    ///
    /// The client address is then the one that the first of them reports. With 0, the header is ignored.
    #[arg(long, env = "KEYED_TRUSTED_PROXIES", default_value_t = 0, value_name = "N", value_parser = whole::<usize>)]
    pub trusted_proxies: usize,
}

impl Bounds {
    pub(crate) fn validate(&self, body_limit: usize) -> Result<(), String> {
        for (name, number) in [
            ("KEYED_MAX_CONNECTIONS", Some(self.max_connections)),
            ("KEYED_MAX_CONNECTIONS_PER_ADDRESS", self.max_connections_per_address),
            ("KEYED_MAX_REQUESTS", Some(self.max_requests)),
            ("KEYED_MAX_LISTENERS", Some(self.max_listeners)),
            ("KEYED_MAX_TRANSFERS", self.max_transfers),
            ("KEYED_MAX_REQUESTS_PER_KEY", Some(self.max_requests_per_key)),
            ("KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY", self.max_database_connections_per_key),
            ("KEYED_MAX_TRANSFERS_PER_KEY", self.max_transfers_per_key),
        ] {
            if number.is_some_and(|number| !(1..=1_000_000).contains(&number)) {
                return Err(format!("{name} must be between 1 and 1000000."));
            }
        }
        if !(1..=1 << 30).contains(&body_limit) {
            return Err("KEYED_BODY_LIMIT must be between 1 and 1024MiB.".into());
        }
        if self.response_budget < 1 << 20 {
            return Err("KEYED_RESPONSE_BUDGET must be at least 1MiB.".into());
        }
        if self.trusted_proxies > 100 {
            return Err("KEYED_TRUSTED_PROXIES must be at most 100.".into());
        }
        if self.body_budget < body_limit {
            return Err("KEYED_BODY_BUDGET must be at least KEYED_BODY_LIMIT.".into());
        }
        if self.body_budget > u32::MAX as usize {
            return Err("KEYED_BODY_BUDGET must be less than 4096MiB.".into());
        }
        if !(1..=1 << 30).contains(&self.minimum_rate) {
            return Err("KEYED_MINIMUM_RATE must be between 1 and 1024MiB.".into());
        }
        Ok(())
    }

    /// The maximum number of connections from one address.
    pub(crate) fn connections_of_an_address(&self) -> usize {
        let default =
            if self.trusted_proxies == 0 { self.max_connections.div_ceil(2) } else { self.max_connections };
        self.max_connections_per_address.unwrap_or(default)
    }

    /// The maximum number of waiting requests of one key.
    pub(crate) fn listeners_of_a_key(&self) -> usize {
        self.max_listeners.div_ceil(2)
    }

    /// The maximum number of concurrent imports and exports, each of which can hold a connection for a long time.
    pub(crate) fn files(&self, connections: usize) -> usize {
        self.max_transfers.unwrap_or((connections / 2).max(1))
    }

    pub(crate) fn files_of_a_key(&self, connections: usize) -> usize {
        let files = self.files(connections);
        self.max_transfers_per_key.unwrap_or(files.saturating_sub(1).max(1))
    }

    /// The maximum number of connections of the keys of one role: three quarters, or the maximum of a key if that is larger.
    pub(crate) fn connections_of_a_role(&self, connections: usize) -> usize {
        three_quarters(connections).max(self.connections_of_a_key(connections))
    }

    /// The maximum number of connections of one key: three quarters of the maximum of a role.
    pub(crate) fn connections_of_a_key(&self, connections: usize) -> usize {
        let most =
            self.max_database_connections_per_key.unwrap_or(three_quarters(three_quarters(connections)));
        most.min(connections.max(1))
    }
}

/// Three quarters of a number, but at least one less than the number if it is greater than one.
fn three_quarters(number: usize) -> usize {
    number.saturating_sub((number / 4).max(1)).max(1)
}

fn default_key_rate() -> u32 {
    u32::try_from(cores()).map_or(u32::MAX, |cores| cores.saturating_mul(50_000))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        bounds: Bounds,
    }

    fn bounds(arguments: &[&str]) -> Bounds {
        Only::try_parse_from(["test"].iter().chain(arguments)).expect("well-formed arguments").bounds
    }

    #[test]
    fn default_limit_of_a_key_leaves_connections_and_transfers() {
        let bounds = bounds(&[]);
        assert_eq!(bounds.validate(16 << 20), Ok(()));
        for (connections, of_a_role, of_a_key) in [(1, 1, 1), (2, 1, 1), (3, 2, 1), (6, 5, 4), (24, 18, 14)] {
            let shares =
                (bounds.connections_of_a_role(connections), bounds.connections_of_a_key(connections));
            assert_eq!(shares, (of_a_role, of_a_key));
        }
        for (connections, files, of_a_key) in [(1, 1, 1), (2, 1, 1), (6, 3, 2), (24, 12, 11)] {
            assert_eq!((bounds.files(connections), bounds.files_of_a_key(connections)), (files, of_a_key));
        }
    }

    #[test]
    fn default_limit_of_an_address_leaves_connections() {
        for (arguments, of_an_address) in [
            (&["--max-connections", "8"][..], 4),
            (&["--max-connections", "1"], 1),
            (&["--max-connections", "8", "--trusted-proxies", "1"], 8),
            (&["--max-connections", "8", "--max-connections-per-address", "3"], 3),
        ] {
            assert_eq!(bounds(arguments).connections_of_an_address(), of_an_address, "{arguments:?}");
        }
    }

    #[test]
    fn contradictory_limits_are_rejected() {
        for (arguments, name) in [
            (["--body-budget", "1MiB"], "KEYED_BODY_BUDGET"),
            (["--body-budget", "4096MiB"], "KEYED_BODY_BUDGET"),
            (["--max-connections", "0"], "KEYED_MAX_CONNECTIONS"),
            (["--max-transfers-per-key", "0"], "KEYED_MAX_TRANSFERS_PER_KEY"),
            (["--minimum-rate", "0"], "KEYED_MINIMUM_RATE"),
        ] {
            let message = bounds(&arguments).validate(16 << 20);
            assert!(message.is_err_and(|message| message.contains(name)), "{arguments:?}");
        }
    }
}
