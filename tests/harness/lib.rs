//! The foundation of the tests: a temporary PostgreSQL cluster, a database per test, and the real proxy.
//!
//! The harness uses keyed from outside and links none of the crates under test. If it cannot do its work, it panics
//! with the reason.
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
pub mod read_mode;
mod receiver;
mod relay;
pub mod release;
#[cfg(test)]
mod released;
pub mod relevance;
mod replicas;
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
pub use http::{Request, Response, encode};
pub use inbound::{Sender, unix_time};
pub use node::run_script;
pub use packages::{run_node, run_python};
pub use patroni::{NODES, Patroni};
pub use pg_upgrade::upgrade_path;
pub use proxy::{Proxy, proxy_path, proxy_program};
pub use receiver::{Delivery, Reaction, Receiver};
pub use relay::Relay;
pub use replicas::Replicated;
pub use server_user::major_version;
pub use session::{Rows, Session, SqlError, quote};
pub use shards::{Shards, has_shards};
pub use side_table::{cards, companies, customers, notes, paintings};
pub use transfer::output;
pub use vectors::{SYNTHETIC, array, similar, vector};
pub use wait::{PATIENCE, Stopwatch, peak_memory, processor_time, until};
pub use watchdog::Watchdog;
pub use wire::{Wire, status_of};

use std::path::PathBuf;

/// Cargo's target folder, derived from the path of this program.
pub fn target_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a running program has a path");
    program
        .ancestors()
        .find(|folder| folder.ends_with("debug") || folder.ends_with("release"))
        .and_then(|profile| profile.parent())
        .expect("tests run from inside cargo's target folder")
        .to_path_buf()
}

/// Whether keyed finds and inserts single rows without a statement. It does unless `KEYED_TEST_DIRECT=off`. The results
/// are the same, so only a test that measures cost may call this. It then states what it measures, and skips that part
/// or returns.
pub fn has_direct_access() -> bool {
    std::env::var_os("KEYED_TEST_DIRECT").is_none_or(|value| value != "off")
}

/// The root of the repository, for tests that read its files.
pub fn repository_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository is there")
}

/// Creates a log file for `what`. Logs stay after the tests, in `target/test-logs`.
pub(crate) fn log_file(what: &str) -> PathBuf {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NUMBER: AtomicUsize = AtomicUsize::new(1);

    let folder = target_folder().join("test-logs");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let program = std::env::current_exe().expect("a running program has a path");
    let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo appends a hash to the name.
    let kind = program.split('-').next().unwrap_or_default();
    // Runs with and without direct access keep separate logs.
    let kind = if has_direct_access() { kind.to_owned() } else { format!("{kind}-indirect") };
    let file = folder.join(format!("{kind}-{what}-{}.log", NUMBER.fetch_add(1, Ordering::Relaxed)));
    std::fs::write(&file, "").expect("the target folder can be written");
    file
}
