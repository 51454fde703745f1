//! The URL of an endpoint. Pure. The worker checks addresses when it connects, because a name can resolve to different
//! addresses over time.

use crate::error::{Code, Error};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The maximum size of a URL.
const MAX_BYTES: usize = 2048;

/// Rejects a URL to which no delivery can be sent.
pub fn check(url: &str, pointer: &str) -> Result<(), Error> {
    let violation = |message: &str| Err(Error::at(Code::InvalidValue, pointer, message).hint(HINT));
    if url.len() > MAX_BYTES {
        return violation("the URL is longer than 2048 bytes");
    }
    if url.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b'\\') {
        return violation("the URL has characters that need percent-encoding or Punycode");
    }
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return violation("the URL begins with neither https:// nor http://");
    };
    if url.contains('#') {
        return violation("the URL has a fragment");
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return violation("the URL contains a user name or a password");
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((host, "")) if host.parse::<Ipv6Addr>().is_ok() => (host, None),
            Some((host, port)) if host.parse::<Ipv6Addr>().is_ok() => {
                (host, Some(port.strip_prefix(':').unwrap_or_default()))
            }
            _ => return violation("the URL has an invalid IPv6 address"),
        },
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if port.is_some_and(|port| !is_port(port)) {
        return violation("the URL has an invalid port");
    }
    if !authority.starts_with('[') && !is_host(host) {
        return violation("the URL has an invalid host");
    }
    Ok(())
}

fn is_port(port: &str) -> bool {
    !port.is_empty()
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Whether it is a name or an IPv4 address in its usual form. Some programs interpret a number such as `0x7f000001` as an
/// address.
fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let name = host.strip_suffix('.').unwrap_or(host);
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_numeric = last.bytes().all(|byte| byte.is_ascii_digit())
        || last.len() > 1 && last[..2].eq_ignore_ascii_case("0x");
    name.len() <= 253 && name.split('.').all(is_label) && (!is_numeric || host.parse::<Ipv4Addr>().is_ok())
}

const HINT: &str = "Write an absolute URL such as https://example.com/hooks.";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn url_names_a_host_and_perhaps_a_port() {
        for good in [
            "https://example.com",
            "https://example.com/hooks?token=a%20b",
            "http://localhost:8080/",
            "https://192.0.2.1/x",
            "https://[2001:db8::1]:8443/x",
            "https://xn--bcher-kva.example./",
            "https://example.com?x=1:2@3",
        ] {
            assert!(check(good, "/url").is_ok(), "{good}");
        }
    }

    #[test]
    fn url_that_cannot_be_delivered_to_is_rejected() {
        let long = format!("https://example.com/{}", "a".repeat(MAX_BYTES));
        for bad in [
            "",
            "example.com",
            "ftp://example.com",
            "HTTPS://example.com",
            "https://",
            "https:///x",
            "https://?x",
            "https://user@example.com",
            "https://user:secret@example.com",
            "https://example.com/#x",
            "https://example.com:",
            "https://example.com:0",
            "https://example.com:65536",
            "https://example.com:80a",
            "https://example.com:+80",
            "https://exa mple.com",
            "https://bücher.example",
            "https://a..b/",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://0177.0.0.1/",
            "https://127.1/",
            "https://1.2.3.4.5/",
            "https://[::1",
            "https://[1.2.3.4]/",
            "https://[fe80::1%25eth0]/",
            "https://[::1]80/",
            "https://a\\b/",
            "https://example.com\r\nX: y",
            &long,
        ] {
            let error = check(bad, "/url").expect_err(bad);
            assert_eq!(error.violations[0].pointer, "/url", "{bad}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_url_is_checked_without_panic(text in prop_oneof![any::<String>(), "https?://[\\[\\]:@/?#%.a-z0-9]{0,40}"]) {
            let _ = check(&text, "/url");
        }
    }
}
