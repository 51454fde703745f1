//! Lists and searches for words while the records change.

use super::Run;
use crate::load::{Beside, Load, Sql};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

const CLIENTS: u32 = 8;

/// Which share of what each could do alone the readers and the writers ask for: together half of the machine, so that
/// a latency is that of a search and not of a queue.
const SHARE: f64 = 0.25;

/// What one in a hundred exceeds takes some hundreds to see.
const LENGTH: f64 = 3.0;

pub(super) async fn run(run: &mut Run<'_>) {
    run.bed.works().await;
    let searches = paced(run, include_str!("../scripts/churn_search.sql"));
    let upserts = paced(run, include_str!("../scripts/churn_upsert.sql"));
    let beside = Beside { reading: searches(), writing: upserts() };
    run.measure_warm(&Workload {
        name: "lists and searches at a fixed rate",
        commits: READS,
        contenders: vec![
            Contender::new("while 8 writers upsert", Load::Beside(beside)).lasting(LENGTH),
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

/// The script at a share of the pace that it has when it may have all.
fn paced(run: &Run, script: &'static str) -> impl Fn() -> Sql + use<> {
    let database = run.bed.database.name().to_owned();
    let load = move |pace| Sql { clients: CLIENTS, pace, ..Sql::new(script, &database) };
    // The first time warms everything.
    load(None).run(&run.bed.cluster, 1);
    let pace = load(None).run(&run.bed.cluster, run.arguments.seconds).rate * SHARE;
    move || load(Some(pace))
}
