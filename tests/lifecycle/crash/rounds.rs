//! Rounds of writes by eight clients over HTTP. In each round, the server, one of its processes, or the proxy is
//! killed.

use crate::crash::invariants::{assert_invariants, findings, newest_vectors, recall};
use crate::crash::ledger::{Count, Tables};
use crate::crash::load::Writer;
use crate::crash::service::{CLIENTS, Killed, Victim, asked};
use harness::customers::VECTORS;
use harness::{Session, until};
use std::mem::take;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::task::JoinHandle;

/// The number of acknowledged requests of each client before the kill, and after it: more than two cycles of all kinds
/// of requests, and one.
const BEFORE: usize = 24;
pub(super) const AFTER: usize = 11;

/// The minimum recall of any round, which decreases as the number of vectors around each center grows, and the maximum
/// difference from a new index at the end, which allows for chance.
const RECALL: f64 = 0.9;
const LESS: f64 = 0.02;

/// The number of kills of each kind: one, or the number set by `make soak`.
fn rounds() -> usize {
    std::env::var("KEYED_SOAK_ROUNDS").map_or(1, |rounds| rounds.parse().expect("a number of rounds"))
}

/// Lets all clients write until the failure has been caused and they succeed again. Returns the result of `failure`.
/// `before` is the number of acknowledged requests of each client before the failure.
pub(super) async fn write_through<T>(
    writers: &mut Vec<Writer>,
    before: usize,
    failure: impl AsyncFnOnce() -> T,
) -> T {
    let stop = Arc::new(AtomicBool::new(false));
    let answered: Vec<Arc<AtomicUsize>> = (0..CLIENTS).map(|_| Arc::default()).collect();
    let started = take(writers).into_iter().zip(&answered).map(|(mut writer, answered)| {
        writer.round += 1;
        tokio::spawn(writer.run(Arc::clone(&stop), Arc::clone(answered)))
    });
    let tasks: Vec<JoinHandle<Writer>> = started.collect();
    let until_more = async |count: usize| {
        let enough: Vec<usize> = answered.iter().map(|it| it.load(Ordering::Relaxed) + count).collect();
        let all = || answered.iter().zip(&enough).all(|(it, enough)| it.load(Ordering::Relaxed) >= *enough);
        // A failed client reports the reason; the others would wait for it.
        until("every client gets a response", async || all() || tasks.iter().any(JoinHandle::is_finished))
            .await;
    };
    until_more(before).await;
    let response = failure().await;
    until_more(AFTER).await;
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        writers.push(task.await.unwrap_or_else(|error| resume_unwind(error.into_panic())));
    }
    response
}

/// Compares the records of all clients with the database, and starts new ones.
pub(super) async fn settle(session: &Session, writers: &mut [Writer]) -> String {
    let number = async |key: String| -> u64 {
        let sql = "select coalesce(visits, 0) from crm.customers where external_key = $1";
        session.text(sql, &[&key]).await.parse().expect("a number")
    };
    let (mut acknowledged, mut not_written, mut unknown, mut repeated) = (0, 0, 0, 0);
    let (mut there, mut absent) = (0, 0);
    let mut shared = Count::default();
    for writer in &mut *writers {
        repeated += writer.repeat().await;
    }
    let tables = Tables::read(session).await;
    for writer in &mut *writers {
        assert_eq!(
            number(format!("once-{}", writer.number)).await,
            writer.ledger.once,
            "{:?}",
            writer.ledger
        );
        let found = tables.compare(&mut writer.ledger.groups);
        there += found.there;
        absent += found.absent;
        acknowledged += take(&mut writer.ledger.acknowledged);
        not_written += take(&mut writer.ledger.not_written);
        unknown += take(&mut writer.ledger.unknown);
        shared.acknowledged += writer.ledger.shared.acknowledged;
        shared.unknown += writer.ledger.shared.unknown;
        writer.settle_own(session).await;
    }
    let counted = number("shared".to_owned()).await;
    let possible = shared.acknowledged..=shared.acknowledged + shared.unknown;
    assert!(possible.contains(&counted), "{possible:?} were possible, {counted} were counted");
    let known = |writer: &mut Writer| writer.ledger.shared = Count::default();
    writers.iter_mut().for_each(known);
    writers[0].ledger.shared.acknowledged = counted;
    format!(
        "{acknowledged} acknowledged, {not_written} not written, {unknown} unknown (new records: {there} there, {absent} not), \
         {repeated} repeated without effect"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_requests_survive_kills_exactly_once() {
    let (mut killed, mut writers) = Killed::start().await;
    let before = findings(&killed.database);
    let close = asked(&killed.database.session().await, 20).await;
    for round in 1..=rounds() {
        for victim in [Victim::Server, Victim::Process, Victim::Proxy] {
            let seconds = write_through(&mut writers, BEFORE, async || killed.kill(victim).await).await;
            let session = killed.database.session().await;
            let figures = settle(&session, &mut writers).await;
            assert_invariants(&session).await;
            let asked = [close.as_slice(), &newest_vectors(&session, 20).await].concat();
            let recall = recall(&session, &asked).await;
            assert!(recall >= RECALL, "{recall}");
            println!(
                "round {round}, {victim:?}: {figures}; served again after {seconds:.1} s, recall {recall:.3}"
            );
        }
        if round % 5 == 0 || round == rounds() {
            killed.database.assert_valid_indexes().await;
            assert_eq!(findings(&killed.database), before);
        }
    }
    let session = killed.database.session().await;
    let asked = newest_vectors(&session, 50).await;
    let after_crashes = recall(&session, &asked).await;
    session.run(&format!("reindex index {VECTORS}_hnsw")).await;
    let new = recall(&session, &asked).await;
    println!("recall {after_crashes:.3}, of a new index {new:.3}");
    assert!(after_crashes >= new - LESS, "{after_crashes}, {new}");
}
