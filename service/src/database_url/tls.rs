//! The TLS parameters of a database URL, as in libpq. The client library does not support all of them. Pure.

use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslNegotiation};

/// The required level of TLS, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Plain.
    Disable,
    /// Plain, and TLS if the server requires it.
    Allow,
    /// TLS, and plain if the server does not support it.
    Prefer,
    /// TLS, whatever the certificate.
    Require,
    /// TLS, with a certificate from a trusted authority.
    VerifyCa,
    /// TLS, with a certificate from a trusted authority for this host.
    VerifyFull,
}

/// The trusted root certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Not set.
    Unnamed,
    /// The system's root certificates.
    System,
    /// The certificates in a file.
    File(PathBuf),
}

/// TLS of the connections to a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseTls {
    /// The value of `sslmode`.
    pub mode: Mode,
    /// Whether the URL sets it.
    pub is_chosen: bool,
    /// The trusted root certificates.
    pub roots: Roots,
    /// Certificate and key of the client.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The certificate revocation list.
    pub revoked: Option<PathBuf>,
    /// Whether the TLS handshake starts immediately, without an SSLRequest.
    pub is_direct: bool,
    /// Whether the server is on this machine.
    pub is_local: bool,
}

/// Evaluates the parameters for these hosts.
pub(super) fn read(words: &[(String, String)], config: &Config) -> Result<DatabaseTls, String> {
    // The last of several values applies. An empty value counts as not set.
    let word = |name: &str| {
        let mut values = words.iter().rev().filter(|(word, value)| word == name && !value.is_empty());
        values.next().map(|(_, value)| value.as_str())
    };
    let file = |name: &str| word(name).map(PathBuf::from);
    let chosen = word("sslmode").map(mode).transpose()?;
    let roots = match word("sslrootcert") {
        None => Roots::Unnamed,
        Some("system") => Roots::System,
        Some(file) => Roots::File(file.into()),
    };
    let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
    let is_local = is_local(config);
    let mode = match chosen {
        _ if is_socket(config) => Mode::Disable,
        Some(mode) => mode,
        None if roots == Roots::System => Mode::VerifyFull,
        // On the same machine, encryption has a cost and no benefit.
        None if is_local && !is_direct && roots == Roots::Unnamed => Mode::Allow,
        None => Mode::Prefer,
    };
    if roots == Roots::System && chosen.is_some_and(|mode| mode < Mode::VerifyFull) {
        return Err(
            "sslrootcert=system requires sslmode=verify-full: public authorities issue certificates to anyone"
                .into(),
        );
    }
    if is_direct && mode < Mode::Require && !is_socket(config) {
        return Err("sslnegotiation=direct requires sslmode=require, verify-ca or verify-full".into());
    }
    let identity = match (file("sslcert"), file("sslkey")) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err("sslcert and sslkey must both be set, or neither".into()),
    };
    let revoked = file("sslcrl");
    if revoked.is_some() && !matches!(roots, Roots::File(_)) {
        return Err("sslcrl requires a file in sslrootcert".into());
    }
    Ok(DatabaseTls { mode, is_chosen: chosen.is_some(), roots, identity, revoked, is_direct, is_local })
}

fn mode(word: &str) -> Result<Mode, String> {
    Ok(match word {
        "disable" => Mode::Disable,
        "allow" => Mode::Allow,
        "prefer" => Mode::Prefer,
        "require" => Mode::Require,
        "verify-ca" => Mode::VerifyCa,
        "verify-full" => Mode::VerifyFull,
        // The message does not repeat the value, which may be part of a password that should have been encoded.
        _ => return Err("sslmode must be disable, allow, prefer, require, verify-ca or verify-full".into()),
    })
}

/// Whether all hosts are Unix sockets, which PostgreSQL does not encrypt.
fn is_socket(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_))) && config.get_hostaddrs().is_empty()
}

/// Whether all hosts are on this machine.
fn is_local(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(|address| address.is_loopback());
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) if name.eq_ignore_ascii_case("localhost") => true,
        Host::Tcp(name) => name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback()),
    })
}

impl DatabaseTls {
    /// The files of the TLS settings.
    pub fn files(&self) -> Vec<&Path> {
        let root = match &self.roots {
            Roots::File(path) => Some(path),
            Roots::Unnamed | Roots::System => None,
        };
        let (certificate, key) = self.identity.as_ref().map(|(certificate, key)| (certificate, key)).unzip();
        [root, certificate, key, self.revoked.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect()
    }

    /// A warning if others could read the connections or impersonate the server.
    pub fn warning(&self) -> Option<&'static str> {
        if self.is_local {
            return None;
        }
        match self.mode {
            // An explicit sslmode is a decision of the operator.
            Mode::Disable | Mode::VerifyCa | Mode::VerifyFull => None,
            Mode::Allow | Mode::Prefer => Some(
                "the connection to the database may not be encrypted, and the server is not authenticated: add \
                 sslmode=verify-full and sslrootcert to the database URL",
            ),
            Mode::Require if matches!(self.roots, Roots::File(_)) => None,
            Mode::Require => Some(
                "the connection to the database is encrypted, and the server is not authenticated: add \
                 sslmode=verify-full and sslrootcert to the database URL",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::take;
    use super::*;

    fn tls(url: &str) -> Result<DatabaseTls, String> {
        let (rest, words) = take(url);
        read(&words, &rest.parse().expect("the library reads the rest"))
    }

    fn mode_of(url: &str) -> Mode {
        tls(url).expect("a good URL").mode
    }

    #[test]
    fn sslmode_behaves_like_libpq() {
        for (word, mode) in [
            ("disable", Mode::Disable),
            ("allow", Mode::Allow),
            ("prefer", Mode::Prefer),
            ("require", Mode::Require),
            ("verify-ca", Mode::VerifyCa),
            ("verify-full", Mode::VerifyFull),
        ] {
            assert_eq!(mode_of(&format!("postgres://db/crm?sslmode={word}")), mode);
            assert_eq!(mode_of(&format!("host=db sslmode={word} user=a")), mode);
            assert_eq!(mode_of(&format!("host=/run sslmode={word}")), Mode::Disable, "a Unix socket");
        }
        assert!(tls("host=db sslmode=VERIFY").is_err());
    }

    #[test]
    fn default_sslmode_depends_on_the_host() {
        assert_eq!(mode_of("postgres://db/crm"), Mode::Prefer);
        assert_eq!(mode_of("host=localhost,db"), Mode::Prefer);
        for host in ["localhost", "127.0.0.1", "::1", "127.0.0.1,localhost"] {
            assert_eq!(mode_of(&format!("host={host}")), Mode::Allow, "{host}");
        }
        assert_eq!(mode_of("host=db hostaddr=127.0.0.1"), Mode::Allow);
        assert_eq!(mode_of("host=localhost hostaddr=192.0.2.1"), Mode::Prefer);
        assert_eq!(mode_of("host=db sslrootcert=system"), Mode::VerifyFull);
    }

    #[test]
    fn contradictory_parameters_are_rejected() {
        for url in [
            "host=db sslrootcert=system sslmode=require",
            "host=db sslnegotiation=direct",
            "host=db sslnegotiation=direct sslmode=prefer",
            "host=db sslcert=a",
            "host=db sslkey=a sslmode=require",
            "host=db sslcrl=a sslmode=verify-ca",
        ] {
            assert!(tls(url).is_err(), "{url}");
        }
        assert!(tls("host=db sslnegotiation=direct sslmode=require").expect("it may be").is_direct);
        assert!(tls("host=db sslcrl=a sslrootcert=b sslmode=verify-ca").is_ok());
    }

    #[test]
    fn warning_names_remote_servers_without_a_verified_certificate() {
        let warning = |url: &str| tls(url).expect("a good URL").warning();
        for url in ["host=db", "host=db sslmode=require", "host=db,localhost sslmode=allow"] {
            assert!(warning(url).is_some_and(|words| words.contains("sslmode=verify-full")), "{url}");
        }
        for url in [
            "host=db sslmode=disable",
            "host=db sslmode=verify-full",
            "host=db sslmode=require sslrootcert=a",
            "host=localhost",
            "host=/run sslmode=require",
        ] {
            assert_eq!(warning(url), None, "{url}");
        }
    }
}
