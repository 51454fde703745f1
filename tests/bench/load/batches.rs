//! Load by this process itself: batches of records, which are too large for a script. The time to generate and check
//! them does not count.

use super::transport::{Failure, Response, Session, Transport};
use super::{Turn, median, tail};
use futures_util::future::join_all;
use harness::Cluster;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::iter::repeat_with;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Batches of records by one transport.
pub(crate) struct Batches {
    pub(crate) transport: Transport,
    pub(crate) format: Format,
    pub(crate) shape: Shape,
}

/// What the batches of a workload are like.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) clients: u32,
    /// How many records each batch writes.
    pub(crate) size: usize,
    /// The keys are those of records among the first `among`; without a number they are new.
    pub(crate) among: Option<u32>,
}

/// How a batch is written down.
pub(crate) struct Format {
    pub(crate) before: String,
    /// One record: `$key` is its key, `$n` a unique number, so that every write changes it.
    pub(crate) record: String,
    pub(crate) between: &'static str,
    pub(crate) after: &'static str,
}

/// How one client fared.
#[derive(Default)]
struct Work {
    /// The milliseconds that each batch took.
    latencies: Vec<f64>,
    /// How many records were written.
    done: usize,
    created: usize,
    problem: Option<String>,
}

impl Batches {
    pub(crate) fn run(&self, cluster: &Cluster, seconds: u32) -> Turn {
        let work = async {
            let sessions = join_all((0..self.shape.clients).map(|_| self.transport.open(cluster))).await;
            let end = Instant::now() + Duration::from_secs(seconds.into());
            join_all(sessions.iter().map(|session| self.work(session, end))).await
        };
        // The other contenders are programs that are waited for, so turns know nothing of asynchrony.
        let work = tokio::task::block_in_place(|| Handle::current().block_on(work));
        let rate = |work: &Work| work.done as f64 / work.latencies.iter().sum::<f64>() * 1000.0;
        let latencies: Vec<f64> = work.iter().flat_map(|work| work.latencies.clone()).collect();
        Turn {
            rate: work.iter().map(rate).sum(),
            median: median(latencies.clone()),
            tail: tail(latencies),
            done: work.iter().map(|work| work.done as f64).sum(),
            created: work.iter().map(|work| work.created as u64).sum(),
            problems: work.into_iter().filter_map(|work| work.problem).collect(),
            ..Turn::default()
        }
    }

    /// Sends batch after batch until the time is up or an answer is wrong.
    async fn work(&self, session: &Session, end: Instant) -> Work {
        let Shape { size, among, .. } = self.shape;
        let mut work = Work::default();
        while Instant::now() < end && work.problem.is_none() {
            let body = self.body();
            let began = Instant::now();
            let response = session.send(body).await;
            work.latencies.push(began.elapsed().as_secs_f64() * 1000.0);
            let new = if among.is_none() { size } else { 0 };
            match response.and_then(Response::read) {
                Ok(written) if written.records == size && written.created.is_none_or(|made| made == new) => {
                    work.done += size;
                    work.created += new;
                }
                Ok(written) => work.problem = Some(format!("a batch of {size} is answered with {written:?}")),
                // The server's log has it.
                Err(Failure::Deadlock) => {}
                Err(Failure::Rejected(text)) => work.problem = Some(text),
            }
        }
        work
    }

    /// The text of the next batch.
    fn body(&self) -> String {
        static RECORD: AtomicU64 = AtomicU64::new(1);
        let Format { before, record, between, after } = &self.format;
        let old = self.shape.among.map(|records| distinct(self.shape.size, records));
        let records = (0..self.shape.size).map(|position| {
            let n = RECORD.fetch_add(1, Ordering::Relaxed);
            let key = old.as_ref().map_or_else(|| format!("N-{n}"), |old| format!("A-{}", old[position]));
            record.replace("$key", &key).replace("$n", &n.to_string())
        });
        format!("{before}{}{after}", records.collect::<Vec<_>>().join(between))
    }
}

/// This many different numbers up to a bound, in random order.
fn distinct(count: usize, bound: u32) -> Vec<u64> {
    let mut drawn = HashSet::new();
    // Each state of the standard library's hasher is another random one.
    let random = || RandomState::new().hash_one(0) % u64::from(bound) + 1;
    repeat_with(random).filter(|number| drawn.insert(*number)).take(count).collect()
}
