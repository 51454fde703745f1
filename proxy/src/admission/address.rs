//! The client address of a request. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The peer address of the connection.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The client address: the peer address of the connection, or, behind this many trusted proxies, the address that the
/// first of them reported. Earlier entries of the header are not trusted.
pub(super) fn of(parts: &Parts, trusted_proxies: usize) -> IpAddr {
    let peer = parts.extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
    client(peer, &parts.headers, trusted_proxies)
}

/// The client address of a request with these headers on a connection from `peer`.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, trusted_proxies: usize) -> IpAddr {
    if trusted_proxies == 0 { peer } else { forwarded(headers, trusted_proxies).unwrap_or(peer) }
}

fn forwarded(headers: &HeaderMap, trusted_proxies: usize) -> Option<IpAddr> {
    // Each proxy appends the address of its client to the last header or as another header.
    let mut hops = headers
        .get_all(FORWARDED_FOR)
        .iter()
        .rev()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.rsplit(','));
    read(hops.nth(trusted_proxies - 1)?.trim())
}

/// Parses an address, which some proxies write with a port.
fn read(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()))
}

/// The unit of limits: an IPv4 address, or the /64 network of an IPv6 address.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, Request};

    use super::*;

    fn caller(forwarded: &[&'static str], trusted_proxies: usize) -> String {
        let mut request = Request::builder().body(()).expect("a request");
        request.extensions_mut().insert(Peer(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        for value in forwarded {
            request.headers_mut().append(FORWARDED_FOR, HeaderValue::from_static(value));
        }
        of(&request.into_parts().0, trusted_proxies).to_string()
    }

    #[test]
    fn header_is_ignored_without_trusted_proxies() {
        assert_eq!(caller(&["192.0.2.1"], 0), "127.0.0.1");
    }

    #[test]
    fn forged_address_is_ignored() {
        assert_eq!(caller(&["10.9.9.9, 192.0.2.1"], 1), "192.0.2.1");
        assert_eq!(caller(&["10.9.9.9", "192.0.2.1"], 1), "192.0.2.1");
        assert_eq!(caller(&["10.9.9.9, 192.0.2.1, 198.51.100.7"], 2), "192.0.2.1");
        assert_eq!(caller(&["192.0.2.1"], 2), "127.0.0.1");
        assert_eq!(caller(&["unknown"], 1), "127.0.0.1");
        assert_eq!(caller(&[], 1), "127.0.0.1");
    }

    #[test]
    fn address_may_have_brackets_and_a_port() {
        for (text, address) in [
            ("192.0.2.1:4711", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
        ] {
            assert_eq!(caller(&[text], 1), address);
        }
    }

    #[test]
    fn client_is_an_ipv4_address_or_an_ipv6_network() {
        for (text, client) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            assert_eq!(network(text.parse().expect("an address")).to_string(), client);
        }
    }
}
