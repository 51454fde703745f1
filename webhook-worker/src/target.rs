//! The parts of an endpoint's URL. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hyper::Uri;

/// A host and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The host name, or an IP address in its usual notation.
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// Whether the connection uses TLS.
    pub(crate) is_encrypted: bool,
    /// The header Host.
    pub(crate) authority: String,
    /// The path and the query.
    pub(crate) path: String,
}

/// A name or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
}

impl Target {
    /// Reads a URL.
    pub(crate) fn parse(url: &str) -> Result<Target, String> {
        let invalid = |what: &str| Err(format!("the URL of the endpoint {what}"));
        let Ok(uri) = url.parse::<Uri>() else { return invalid("is not valid") };
        let is_encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return invalid("begins with neither https:// nor http://"),
        };
        let Some(authority) = uri.authority() else { return invalid("has no host") };
        if authority.as_str().contains('@') {
            return invalid("contains a user name or a password");
        }
        let Some(host) = host(authority.host()) else { return invalid("has an invalid host") };
        let has_port = authority.as_str().len() > authority.host().len();
        let port = match authority.port_u16() {
            Some(port) if port > 0 => port,
            None if !has_port => {
                if is_encrypted {
                    443
                } else {
                    80
                }
            }
            _ => return invalid("has an invalid port"),
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Target { host, port, is_encrypted, authority: authority.as_str().to_owned(), path })
    }
}

/// Numbers in other notations are rejected, because some resolvers accept `2130706433`, `0x7f.1` and `0177.0.0.1` as addresses.
fn host(text: &str) -> Option<Host> {
    if let Some(literal) = text.strip_prefix('[') {
        let address: Ipv6Addr = literal.strip_suffix(']')?.parse().ok()?;
        return Some(Host::Address(IpAddr::V6(address)));
    }
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(Host::Address(IpAddr::V4(address)));
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    let last = name.rsplit('.').next()?;
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x"));
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    (!is_number && name.split('.').all(is_label)).then(|| Host::Name(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_has_a_host_a_port_and_a_path() {
        let name = |name: &str| Host::Name(name.to_owned());
        let address = |text: &str| Host::Address(text.parse().expect(text));
        for (url, host, port, is_encrypted, path) in [
            ("https://example.com", name("example.com"), 443, true, "/"),
            ("http://example.com.:81/a?b=1", name("example.com"), 81, false, "/a?b=1"),
            ("https://example.com?b", name("example.com"), 443, true, "/?b"),
            ("http://127.0.0.1:8080/", address("127.0.0.1"), 8080, false, "/"),
            ("https://[::1]/x", address("::1"), 443, true, "/x"),
            ("https://[::1]:8443/x", address("::1"), 8443, true, "/x"),
        ] {
            let target = Target::parse(url).expect(url);
            assert_eq!((target.host, target.port), (host, port), "{url}");
            assert_eq!((target.is_encrypted, target.path.as_str()), (is_encrypted, path), "{url}");
        }
    }

    #[test]
    fn url_with_an_ambiguous_host_is_rejected() {
        for url in [
            "",
            "example.com",
            "/x",
            "ftp://example.com/",
            "https://",
            "https:///x",
            "https://user@example.com",
            "https://user:secret@127.0.0.1/",
            "https://example.com:0",
            "https://example.com:",
            "https://example.com:99999",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://0X7f.1/",
            "https://0177.0.0.1/",
            "https://127.1/",
            "https://017700000001/",
            "https://[::1",
            "https://[1.2.3.4]/",
            "https://[fe80::1%25eth0]/",
            "https://a..b/",
            "https://.example.com/",
            "https://./",
        ] {
            let message = Target::parse(url).expect_err(url);
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
