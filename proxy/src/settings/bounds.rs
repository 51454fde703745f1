//! The settings of bounds. Each is one field, and its comment is its help text.

use std::time::Duration;

use clap::Args;

use super::value::{bytes, cores, seconds, whole};

#[derive(Args, Clone)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct Bounds {
    /// The most connections of callers at once. One more is answered 503 and closed.
    #[arg(long, env = "KEYED_CONNECTIONS", default_value_t = 4096, value_name = "N", value_parser = whole::<usize>)]
    pub(crate) connections: usize,

    /// The most connections from one address at once, of IPv6 from one /64. One more is answered 503 and closed.
    ///
    /// The default is half of KEYED_CONNECTIONS; behind trusted reverse proxies, whose connections these then are, all.
    #[arg(long, env = "KEYED_ADDRESS_CONNECTIONS", value_name = "N", value_parser = whole::<usize>)]
    pub(crate) address_connections: Option<usize>,

    /// The most requests in flight at once. One more is answered 503.
    #[arg(long, env = "KEYED_REQUESTS", default_value_t = 2048, value_name = "N", value_parser = whole::<usize>)]
    pub(crate) requests: usize,

    /// The most memory for request bodies, of all requests together; one key has half of it at most.
    ///
    /// A request waits as long for room as for a connection to the database, then it is answered 503. It must be at
    /// least as large as the largest body.
    #[arg(long, env = "KEYED_BODY_BUDGET", default_value = "64MiB", value_parser = bytes, value_name = "SIZE")]
    pub(crate) body_budget: usize,

    /// How many seconds the first request's headers may take on a connection, and how long it may be silent before.
    ///
    /// The connections of trusted reverse proxies may be silent for 75 seconds, as any may between two requests.
    #[arg(long, env = "KEYED_HEADER_TIMEOUT", default_value = "10", value_parser = seconds, value_name = "SECONDS")]
    pub(crate) header_timeout: Duration,

    /// The least rate, in bytes per second, at which a caller must send a body and take an answer.
    #[arg(long, env = "KEYED_LEAST_RATE", default_value = "4KiB", value_parser = bytes, value_name = "SIZE")]
    pub(crate) least_rate: usize,

    /// How many seconds a body or an answer may stand still, or fall behind the least rate.
    #[arg(long, env = "KEYED_STALL_TIMEOUT", default_value = "30", value_parser = seconds, value_name = "SECONDS")]
    pub(crate) stall_timeout: Duration,

    /// The most imports and exports at once; the default is half of the connections that are not shared.
    #[arg(long, env = "KEYED_FILES", value_name = "N", value_parser = whole::<usize>)]
    pub(crate) files: Option<usize>,

    /// How many seconds an export, or an import in one transaction (abort, dry run), may take altogether.
    #[arg(long, env = "KEYED_FILE_TIMEOUT", default_value = "3600", value_parser = seconds, value_name = "SECONDS")]
    pub(crate) file_timeout: Duration,

    /// The most requests per second with one API key or delivery token (429 beyond); 0 sets no limit.
    ///
    /// The default is 50000 for each core, which no integration of this machine reaches.
    #[arg(long, env = "KEYED_KEY_RATE", default_value_t = default_key_rate(), value_name = "N", value_parser = whole::<u32>)]
    pub(crate) key_rate: u32,

    /// The most requests in flight with one API key or delivery token (429 beyond).
    #[arg(long, env = "KEYED_KEY_REQUESTS", default_value_t = 1024, value_name = "N", value_parser = whole::<usize>)]
    pub(crate) key_requests: usize,

    /// The most connections to the database in use for one key at once; the default leaves a quarter of them to others.
    ///
    /// Further requests wait as long as for any connection, and are then answered 429. Lookups of single records share
    /// connections of their own and are not counted.
    #[arg(long, env = "KEYED_KEY_CONNECTIONS", value_name = "N", value_parser = whole::<usize>)]
    pub(crate) key_connections: Option<usize>,

    /// The most imports and exports at once with one key (429 beyond); the default leaves a place to others.
    #[arg(long, env = "KEYED_KEY_FILES", value_name = "N", value_parser = whole::<usize>)]
    pub(crate) key_files: Option<usize>,

    /// The most failed authentications per minute from one address, of IPv6 from one /64 (429 beyond); 0 sets no limit.
    ///
    /// Keys that are known to be good are let in whatever else comes from their address.
    #[arg(long, env = "KEYED_AUTH_FAILURES", default_value_t = 100, value_name = "N", value_parser = whole::<u32>)]
    pub(crate) auth_failures: u32,

    /// For how many seconds a wrong key is refused without asking the database again.
    #[arg(long, env = "KEYED_REFUSAL_MEMORY", default_value = "1", value_parser = seconds, value_name = "SECONDS")]
    pub(crate) refusal_memory: Duration,

    /// How many reverse proxies stand before this one and add the address that they see to X-Forwarded-For.
    ///
    /// The caller's address is then what the first of them saw. Without any, the header is not looked at.
    #[arg(long, env = "KEYED_TRUSTED_PROXIES", default_value_t = 0, value_name = "N", value_parser = whole::<usize>)]
    pub(crate) trusted_proxies: usize,
}

impl Bounds {
    pub(crate) fn validate(&self, body_limit: usize) -> Result<(), String> {
        for (name, number) in [
            ("KEYED_CONNECTIONS", Some(self.connections)),
            ("KEYED_ADDRESS_CONNECTIONS", self.address_connections),
            ("KEYED_REQUESTS", Some(self.requests)),
            ("KEYED_FILES", self.files),
            ("KEYED_KEY_REQUESTS", Some(self.key_requests)),
            ("KEYED_KEY_CONNECTIONS", self.key_connections),
            ("KEYED_KEY_FILES", self.key_files),
        ] {
            if number.is_some_and(|number| !(1..=1_000_000).contains(&number)) {
                return Err(format!("{name} must be between 1 and 1000000."));
            }
        }
        if self.body_budget < body_limit {
            return Err("KEYED_BODY_BUDGET must be at least KEYED_BODY_LIMIT.".into());
        }
        if self.body_budget > u32::MAX as usize {
            return Err("KEYED_BODY_BUDGET must be less than 4096MiB.".into());
        }
        if self.least_rate == 0 {
            return Err("KEYED_LEAST_RATE must be at least 1.".into());
        }
        Ok(())
    }

    /// How many connections may come from one address.
    pub(crate) fn connections_of_an_address(&self) -> usize {
        let default = if self.trusted_proxies == 0 { self.connections.div_ceil(2) } else { self.connections };
        self.address_connections.unwrap_or(default)
    }

    /// How many files may be on their way, each of which may hold one of so many connections for long.
    pub(crate) fn files(&self, connections: usize) -> usize {
        self.files.unwrap_or((connections / 2).max(1))
    }

    pub(crate) fn files_of_a_key(&self, connections: usize) -> usize {
        let files = self.files(connections);
        self.key_files.unwrap_or(files.saturating_sub(1).max(1))
    }

    /// How many of so many connections one key may use at once; none where that is all of them.
    pub(crate) fn connections_of_a_key(&self, connections: usize) -> Option<usize> {
        let rest = (connections / 4).max(1);
        let most = self.key_connections.unwrap_or(connections.saturating_sub(rest).max(1));
        Some(most).filter(|most| *most < connections)
    }
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
    fn by_default_no_key_has_all_connections_or_files() {
        let bounds = bounds(&[]);
        assert_eq!(bounds.validate(16 << 20), Ok(()));
        for (connections, of_a_key) in [(1, None), (2, Some(1)), (6, Some(5)), (24, Some(18))] {
            assert_eq!(bounds.connections_of_a_key(connections), of_a_key);
        }
        for (connections, files, of_a_key) in [(1, 1, 1), (2, 1, 1), (6, 3, 2), (24, 12, 11)] {
            assert_eq!((bounds.files(connections), bounds.files_of_a_key(connections)), (files, of_a_key));
        }
    }

    #[test]
    fn by_default_no_address_has_all_connections_unless_it_is_a_trusted_proxy() {
        for (arguments, of_an_address) in [
            (&["--connections", "8"][..], 4),
            (&["--connections", "1"], 1),
            (&["--connections", "8", "--trusted-proxies", "1"], 8),
            (&["--connections", "8", "--address-connections", "3"], 3),
        ] {
            assert_eq!(bounds(arguments).connections_of_an_address(), of_an_address, "{arguments:?}");
        }
    }

    #[test]
    fn bounds_that_contradict_each_other_are_refused() {
        for (arguments, name) in [
            (["--body-budget", "1MiB"], "KEYED_BODY_BUDGET"),
            (["--body-budget", "4096MiB"], "KEYED_BODY_BUDGET"),
            (["--connections", "0"], "KEYED_CONNECTIONS"),
            (["--key-files", "0"], "KEYED_KEY_FILES"),
            (["--least-rate", "0"], "KEYED_LEAST_RATE"),
        ] {
            let message = bounds(&arguments).validate(16 << 20);
            assert!(message.is_err_and(|message| message.contains(name)), "{arguments:?}");
        }
    }
}
