//! Lists and full-text searches while the records change.

use super::Run;
use crate::load::{Concurrent, Load, Sql};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

const CLIENTS: u32 = 8;

/// The load of readers and writers as a share of the maximum rate of each: together half of the machine's capacity, so
/// that a latency contains no queueing.
const SHARE: f64 = 0.25;

/// The 99th percentile needs some hundreds of samples.
const LENGTH: f64 = 3.0;

pub(super) async fn run(run: &mut Run<'_>) {
    run.bed.works().await;
    let searches = paced(run, include_str!("../scripts/churn_search.sql"));
    let upserts = paced(run, include_str!("../scripts/churn_upsert.sql"));
    let beside = Concurrent { reading: searches(), writing: upserts() };
    run.measure_warm(&Workload {
        name: "lists and searches at a fixed rate",
        commits: READS,
        contenders: vec![
            Contender::new("while 8 writers upsert", Load::Concurrent(beside)).lasting(LENGTH),
            Contender::new("no writers", Load::Sql(searches())).lasting(LENGTH),
        ],
        claims: vec![Claim {
            about: "while 8 writers upsert",
            against: "no writers",
            quantity: Quantity::Tail,
            gate: Some(3.0),
            aim: Some(1.5),
        }],
    })
    .await;
}

/// The script at a share of its maximum rate.
fn paced(run: &Run, script: &'static str) -> impl Fn() -> Sql + use<> {
    let database = run.bed.database.name().to_owned();
    let load = move |pace| Sql { clients: CLIENTS, pace, ..Sql::new(script, &database) };
    // The first run is a warm-up.
    load(None).run(&run.bed.cluster, 1);
    let pace = load(None).run(&run.bed.cluster, run.arguments.seconds).rate * SHARE;
    move || load(Some(pace))
}
