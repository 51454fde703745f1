//! What the tests stand on: a throw-away PostgreSQL cluster, a database per test, the real proxy.
//!
//! Everything here looks at keyed from outside. Nothing of the crates under test is linked in.
//! A harness that cannot do its work panics with the reason: in a test that is the clearest answer.
#![expect(clippy::missing_panics_doc, reason = "every function of a test harness may panic, as said above")]

mod backup;
pub mod bi;
pub mod catalog;
mod certificates;
mod cluster;
mod cluster_folder;
mod cluster_tls;
pub mod collector;
mod contract;
mod crm;
mod database;
pub mod embeddings;
pub mod everything;
mod exposition;
mod gallery;
mod http;
mod inbound;
#[cfg(test)]
mod layout;
mod node;
mod packages;
mod patroni;
mod pg_upgrade;
mod proxy;
mod receiver;
mod relay;
pub mod release;
#[cfg(test)]
mod released;
pub mod relevance;
#[cfg(test)]
mod scripts;
mod server_user;
mod session;
mod shards;
mod side_table;
mod transfer;
mod vectors;
mod wait;
mod watchdog;
mod wire;

pub use backup::BaseBackup;
pub use certificates::{Authority, Identity};
pub use cluster::{Cluster, Durability};
pub use cluster_tls::TlsCluster;
pub use collector::Collector;
pub use crm::{Service, create_crm, id_of};
pub use database::Database;
pub use embeddings::EmbeddingServer;
pub use exposition::Exposition;
pub use gallery::Gallery;
pub use http::{Answer, Request, encode};
pub use inbound::{Sender, unix_time};
pub use node::run_script;
pub use packages::{run_node, run_python};
pub use patroni::{NODES, Patroni};
pub use pg_upgrade::upgrade_path;
pub use proxy::{Proxy, proxy_path, proxy_program};
pub use receiver::{Arrived, Reaction, Receiver};
pub use relay::Relay;
pub use server_user::major_version;
pub use session::{Refusal, Rows, Session, quote};
pub use shards::Shards;
pub use side_table::{cards, companies, customers, notes, paintings};
pub use transfer::output;
pub use vectors::{SYNTHETIC, array, similar, vector};
pub use wait::{PATIENCE, Stopwatch, most_memory, processor_time, until};
pub use watchdog::Watchdog;
pub use wire::{Wire, status_of};

use std::path::PathBuf;

/// The target folder of cargo, found from the path of this program.
pub fn target_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a running program has a path");
    program
        .ancestors()
        .find(|folder| folder.ends_with("debug") || folder.ends_with("release"))
        .and_then(|profile| profile.parent())
        .expect("tests run from inside cargo's target folder")
        .to_path_buf()
}

/// Whether keyed finds and inserts single rows without a statement, as it does unless `KEYED_TEST_DIRECT=off` has the
/// servers of the tests run its statements instead. Results are the same, so only a test that counts work may ask: it
/// says what it counts, and leaves that out or ends.
pub fn has_direct_access() -> bool {
    std::env::var_os("KEYED_TEST_DIRECT").is_none_or(|value| value != "off")
}

/// The root of the repository, for tests that read its files.
pub fn repository_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository is there")
}

/// A new file for the log of `what`. Logs stay after the tests, in `target/test-logs`.
pub(crate) fn log_file(what: &str) -> PathBuf {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NUMBER: AtomicUsize = AtomicUsize::new(1);

    let folder = target_folder().join("test-logs");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let program = std::env::current_exe().expect("a running program has a path");
    let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo appends a hash to the name, which says nothing to a reader.
    let kind = program.split('-').next().unwrap_or_default();
    // The logs of both runs of a kind stay.
    let kind = if has_direct_access() { kind.to_owned() } else { format!("{kind}-indirect") };
    let file = folder.join(format!("{kind}-{what}-{}.log", NUMBER.fetch_add(1, Ordering::Relaxed)));
    std::fs::write(&file, "").expect("the target folder can be written");
    file
}
