//! Random searches compared with a model: a second implementation of filters and sorts, without SQL.

use crate::model::{Case, Random, World, seed};
use harness::{Database, Session};
use std::sync::Arc;
use tokio::task::JoinSet;

const SESSIONS: u64 = 3;
const CASES: usize = 800;

/// Checks random cases; returns how many of them find some records but not all.
async fn check(
    session: Session,
    world: Arc<World>,
    mut random: Random,
    uses_indexes: bool,
    look: usize,
) -> usize {
    // Disabled plan nodes count as costly, and JIT compilation would take longer than the query.
    session.run("set jit = off").await;
    if uses_indexes {
        // So few records would be scanned sequentially.
        session.run("set enable_seqscan = off; set enable_sort = off").await;
    }
    // So that few records suffice for a choice between the index of the sort and that of a condition.
    session.run(&format!("set keyed.sample_size = {look}")).await;
    let mut partly = 0;
    for number in 0..CASES {
        let case = Case::random(&world, &mut random);
        partly += usize::from((1..50).contains(&case.expected.len()));
        if let Err(problem) = case.check(&session, &session).await {
            panic!("case {number}: {{{}}}\n{problem}", case.query);
        }
        if let Err(problem) = case.check_closest(&session, &world, &mut random).await {
            panic!("case {number}: {{{}}}\n{problem}", case.query);
        }
    }
    partly
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_searches_agree_with_the_model() {
    let seed = seed();
    let database = Database::new().await;
    let world = Arc::new(World::create(&database.session().await, &mut Random::new(seed)).await);
    let mut checks = JoinSet::new();
    for (number, look) in (1..=SESSIONS).zip([1, 4, 200]) {
        let random = Random::new(seed.wrapping_mul(2 * number + 1));
        checks.spawn(check(database.session().await, Arc::clone(&world), random, number % 2 == 0, look));
    }
    let partly: usize = checks.join_all().await.into_iter().sum();
    assert!(partly > CASES, "most filters match all records or none: {partly}");
    database.cluster().assert_no_crash();
}
