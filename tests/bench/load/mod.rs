//! What makes load and tells how it went: pgbench and wrk, which are cheap, for they share the processors with what
//! they measure; and for batches this process itself.

/// Batches of records.
mod batches;
/// Reading beside writers.
mod beside;
/// Statements.
mod pgbench;
/// Where batches are sent.
mod transport;
/// Requests.
mod wrk;
/// How long requests took.
mod wrk_latencies;

use harness::{Cluster, target_folder};
use std::path::PathBuf;

pub(crate) use batches::{Batches, Format, Shape};
pub(crate) use beside::Beside;
pub(crate) use pgbench::Sql;
pub(crate) use transport::Transport;
pub(crate) use wrk::Http;

/// Work for one kind of client.
pub(crate) enum Load {
    Sql(Sql),
    Http(Http),
    Batches(Batches),
    Beside(Beside),
}

/// How one turn went.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// Statements or requests per second; of batches, the records in them.
    pub(crate) rate: f64,
    /// The median latency in milliseconds.
    pub(crate) median: f64,
    /// The latency in milliseconds that one in a hundred exceeds.
    pub(crate) tail: f64,
    /// How many statements or requests were done, or records in batches.
    pub(crate) done: f64,
    /// The microseconds of processor time that the servers spent on each.
    pub(crate) cost: f64,
    /// How many answers said that they created a record.
    pub(crate) created: u64,
    /// How often the server found a deadlock.
    pub(crate) deadlocks: u64,
    /// What went wrong, in words.
    pub(crate) problems: Vec<String>,
}

impl Load {
    pub(crate) fn run(&self, cluster: &Cluster, seconds: u32) -> Turn {
        match self {
            Self::Sql(load) => load.run(cluster, seconds),
            Self::Http(load) => load.run(seconds),
            Self::Batches(load) => load.run(cluster, seconds),
            Self::Beside(load) => load.run(cluster, seconds),
        }
    }

    pub(crate) fn clients(&self) -> u32 {
        match self {
            Self::Sql(load) => load.clients,
            Self::Http(load) => load.clients,
            Self::Batches(load) => load.shape.clients,
            Self::Beside(load) => load.reading.clients,
        }
    }
}

/// A folder for files of the bench, which stays between runs.
pub(crate) fn folder() -> PathBuf {
    let folder = target_folder().join("bench");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// The figure that one in a hundred exceeds.
pub(crate) fn tail(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() * 99 / 100).copied().unwrap_or(f64::NAN)
}

/// The median of figures; of an even number the mean of the two in the middle.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    match figures.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => figures[count / 2],
        count => (figures[count / 2 - 1] + figures[count / 2]) / 2.0,
    }
}
