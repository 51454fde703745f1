//! A cluster that listens with TLS.

use crate::cluster::{Durability, initialize};
use crate::{Authority, Cluster, Identity, server_user};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A cluster that listens with TLS on its own address, on PostgreSQL's default port.
pub struct TlsCluster {
    /// The cluster.
    pub cluster: Arc<Cluster>,
    /// The address on which it listens, in addition to its socket.
    pub address: Ipv4Addr,
}

impl TlsCluster {
    /// Starts the server with a certificate of its own. It accepts client certificates of the authority. `rules` are
    /// the lines of pg_hba.conf for connections over the network.
    pub fn start(identity: &Identity, clients: &Authority, rules: &str) -> Self {
        let programs = server_user::programs();
        let address = own_address();
        let listen: &'static str = format!("listen_addresses={address}").leak();
        let settings: &'static [&'static str] =
            vec![listen, "ssl=on", "ssl_ca_file=clients.crt", "log_connections=on"].leak();
        let cluster = Cluster::start_from(&programs, Durability::None, settings, |data| {
            initialize(&programs, data, &[]);
            for (name, text) in [
                ("server.crt", identity.certificate.as_str()),
                ("server.key", &identity.key),
                ("clients.crt", &clients.certificate()),
                ("pg_hba.conf", &format!("local all all trust\n{rules}\n")),
            ] {
                write(&data.join(name), text);
            }
        });
        Self { cluster: Arc::new(cluster), address }
    }
}

/// Only the server may read the key.
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the folder can be written");
    server_user::give(path);
}

/// All of 127.0.0.0/8 is this machine. With an address of its own, the server needs no port that another program may
/// use.
fn own_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, high.max(1), low, NEXT.fetch_add(1, Ordering::Relaxed))
}
