//! Networks to which webhooks are not delivered. Pure.
//!
//! Administrators of keyed set the URLs of endpoints, but need not be administrators of the service's machine or
//! network. Deliveries therefore go only to public addresses, unless the operator of the service allows other networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// IPv4 networks that are not public: those in the registry of special-purpose addresses (RFC 6890), and multicast.
const NOT_PUBLIC_V4: [Ipv4Net; 16] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
    v4(255, 255, 255, 255, 32),
];

/// The only IPv6 network with public addresses (global unicast), and its subnets that are not public: protocol
/// assignments with Teredo, and documentation.
const PUBLIC_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
const NOT_PUBLIC_V6: [Ipv6Net; 3] = [
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(parts: [u16; 8], length: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = parts;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), length)
}

/// Whether an address is public.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) => match embedded(address) {
            Some(embedded) => is_public(IpAddr::V4(embedded)),
            None => {
                PUBLIC_V6.contains(&address)
                    && !NOT_PUBLIC_V6.iter().any(|network| network.contains(&address))
            }
        },
    }
}

/// The IPv4 address embedded in an IPv6 address: mapped, translated (NAT64), or tunneled (6to4).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => of(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => of(high, low),
        [0x2002, high, low, ..] => of(high, low),
        _ => None,
    }
}

/// Networks to which deliveries are allowed although they are not public.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(Vec<IpNet>);

impl Allowed {
    /// Parses networks and addresses, separated by commas.
    pub fn parse(text: &str) -> Result<Allowed, String> {
        let networks = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let network = |part: &str| {
            let address = part.parse::<IpAddr>().map(IpNet::from);
            part.parse::<IpNet>()
                .or(address)
                .map_err(|_| format!("{part:?} is not a network such as 10.1.0.0/16"))
        };
        networks.map(network).collect::<Result<_, _>>().map(Allowed)
    }

    /// Whether an address is in one of the networks. IPv4-mapped IPv6 addresses count as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Whether webhooks can be delivered to an address. Without TLS, only the allowed networks are permitted.
    pub fn permits(&self, address: IpAddr, is_encrypted: bool) -> bool {
        self.contains(address) || is_encrypted && is_public(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect(text)
    }

    #[test]
    fn address_of_the_internet_is_public() {
        for text in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2600::1",
            "2a00:1450::1",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "2002:101:101::1",
        ] {
            assert!(is_public(ip(text)), "{text}");
        }
    }

    #[test]
    fn other_address_is_not_public() {
        for text in [
            // Unspecified, private, shared, loopback, link-local.
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            // Protocols, documentation, 6to4 relays, benchmarks, multicast, reserved, broadcast.
            "192.0.0.1",
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "100::1",
            "5f00::1",
            "2001::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "3fff::1",
            "::127.0.0.1",
            "::1.1.1.1",
            // Embedded in IPv6: mapped, NAT64, local NAT64, 6to4.
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1.1.1.1",
            "2002:7f00:1::1",
            "2002:a00:1::1",
            "2002:c0a8:1::1",
        ] {
            assert!(!is_public(ip(text)), "{text}");
        }
    }

    #[test]
    fn listed_network_is_allowed_in_either_form_and_without_tls() {
        let allowed = Allowed::parse("10.1.0.0/16, 127.0.0.1,fd00::/8").expect("networks");
        for text in ["10.1.2.3", "127.0.0.1", "fd00::1", "::ffff:10.1.2.3"] {
            assert!(allowed.permits(ip(text), false) && allowed.permits(ip(text), true), "{text}");
        }
        for text in ["10.2.0.1", "127.0.0.2", "fe80::1", "64:ff9b::10.1.2.3"] {
            assert!(!allowed.permits(ip(text), true), "{text}");
        }
        assert!(allowed.permits(ip("1.1.1.1"), true) && !allowed.permits(ip("1.1.1.1"), false));
        assert_eq!(Allowed::parse(" "), Ok(Allowed::default()));
        for text in ["localhost", "10.0.0.0/33", "10.0.0.0-10.0.0.9", "10.0.0.0/8;127.0.0.1"] {
            assert!(Allowed::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn embedded_ipv4_address_is_checked(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let [high, low] = [(bits >> 16) as u16, bits as u16];
            let is_public_v4 = is_public(IpAddr::V4(address));
            for form in [
                address.to_ipv6_mapped(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            ] {
                prop_assert_eq!(is_public(IpAddr::V6(form)), is_public_v4, "{}", form);
            }
        }

        #[test]
        fn public_address_is_not_special_in_the_standard_library(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let is_special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_multicast() || address.is_unspecified() || address.is_documentation()
                || address.is_broadcast();
            prop_assert!(!(is_special && is_public(IpAddr::V4(address))), "{}", address);
        }
    }
}
