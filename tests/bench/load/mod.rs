//! Load generators: pgbench and wrk, which use little CPU time of the machine that they measure; for batches, this
//! process itself.

/// Batches of records.
mod batches;
/// Readers with concurrent writers.
mod concurrent;
/// Statements.
mod pgbench;
/// The transports of batches.
mod transport;
/// Requests.
mod wrk;
/// The latencies of requests.
mod wrk_latencies;

use harness::{Cluster, target_folder};
use std::path::PathBuf;

pub(crate) use batches::{Batches, Format, Shape};
pub(crate) use concurrent::Concurrent;
pub(crate) use pgbench::Sql;
pub(crate) use transport::Transport;
pub(crate) use wrk::Http;

/// The work of one kind of client.
pub(crate) enum Load {
    Sql(Sql),
    Http(Http),
    Batches(Batches),
    Concurrent(Concurrent),
}

/// The results of one turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// Statements or requests per second; for batches, records per second.
    pub(crate) rate: f64,
    /// The median latency in milliseconds.
    pub(crate) median: f64,
    /// The 99th percentile of the latencies in milliseconds.
    pub(crate) tail: f64,
    /// The number of completed statements or requests, or of records in batches.
    pub(crate) done: f64,
    /// The CPU time of the servers for each operation, in microseconds.
    pub(crate) cost: f64,
    /// The number of responses that report a created record.
    pub(crate) created: u64,
    /// The number of deadlocks that the server detected.
    pub(crate) deadlocks: u64,
    /// Descriptions of all problems.
    pub(crate) problems: Vec<String>,
}

impl Load {
    pub(crate) fn run(&self, cluster: &Cluster, seconds: u32) -> Turn {
        match self {
            Self::Sql(load) => load.run(cluster, seconds),
            Self::Http(load) => load.run(seconds),
            Self::Batches(load) => load.run(cluster, seconds),
            Self::Concurrent(load) => load.run(cluster, seconds),
        }
    }

    pub(crate) fn clients(&self) -> u32 {
        match self {
            Self::Sql(load) => load.clients,
            Self::Http(load) => load.clients,
            Self::Batches(load) => load.shape.clients,
            Self::Concurrent(load) => load.reading.clients,
        }
    }
}

/// A folder for files of the benchmark, which stays between runs.
pub(crate) fn folder() -> PathBuf {
    let folder = target_folder().join("bench");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// The 99th percentile.
pub(crate) fn tail(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() * 99 / 100).copied().unwrap_or(f64::NAN)
}

/// The median; for an even count, the mean of the two middle values.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    match figures.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => figures[count / 2],
        count => (figures[count / 2 - 1] + figures[count / 2]) / 2.0,
    }
}
