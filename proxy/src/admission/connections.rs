//! Counts client connections, in total and per address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use super::address::network;
use crate::problem::Reason;

/// The open connections.
pub(crate) struct Connections {
    max: usize,
    max_per_address: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    count: usize,
    /// The connections per address; addresses without a connection have no entry.
    of_addresses: HashMap<IpAddr, usize>,
}

/// Why another connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    Process,
    Address,
}

impl Full {
    pub(crate) fn reason(self) -> Reason {
        match self {
            Full::Process => Reason::Connections,
            Full::Address => Reason::AddressConnections,
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Full::Process => "the service has reached its maximum number of connections",
            Full::Address => {
                "this address has reached its maximum number of connections (KEYED_MAX_CONNECTIONS_PER_ADDRESS)"
            }
        }
    }
}

/// The slot of one connection, released when it is dropped.
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    address: IpAddr,
}

impl Connections {
    pub(crate) fn new(max: usize, max_per_address: usize) -> Arc<Connections> {
        Arc::new(Connections { max, max_per_address, open: Mutex::default() })
    }

    /// Acquires a slot for a connection from `address`.
    pub(crate) fn enter(self: &Arc<Connections>, address: IpAddr) -> Result<ConnectionSlot, Full> {
        let address = network(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.count >= self.max {
            return Err(Full::Process);
        }
        let of_address = open.of_addresses.entry(address).or_default();
        // The limit is at least one, so a new entry never stays at zero.
        if *of_address >= self.max_per_address {
            return Err(Full::Address);
        }
        *of_address += 1;
        open.count += 1;
        Ok(ConnectionSlot { connections: Arc::clone(self), address })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.count -= 1;
        if let Some(of_address) = open.of_addresses.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                open.of_addresses.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(connections: &Arc<Connections>, address: &str) -> Option<Full> {
        connections.enter(address.parse().expect("an address")).err()
    }

    #[test]
    fn address_has_a_connection_limit() {
        let connections = Connections::new(3, 2);
        let mut slots: Vec<ConnectionSlot> = (0..2)
            .map(|_| connections.enter("2001:db8::1".parse().expect("an address")).expect("a slot"))
            .collect();
        assert_eq!(rejection(&connections, "2001:db8::ffff:1"), Some(Full::Address), "the same /64");
        let other = connections.enter("192.0.2.1".parse().expect("an address")).ok();
        assert!(other.is_some());
        assert_eq!(rejection(&connections, "192.0.2.2"), Some(Full::Process));
        slots.pop();
        assert_eq!(rejection(&connections, "2001:db8::1"), None);
    }

    #[test]
    fn closed_connection_is_removed() {
        let connections = Connections::new(2, 2);
        drop(connections.enter("192.0.2.1".parse().expect("an address")));
        let open = connections.open.lock().expect("no panic");
        assert_eq!((open.count, open.of_addresses.len()), (0, 0));
    }
}
