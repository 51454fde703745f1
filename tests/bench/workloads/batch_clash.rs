//! Batches over the same records, each in a different order. If locks are taken in that order, they deadlock.

use super::Run;
use super::batch_contenders::{
    IN_SQL, OVER_HTTP, POSTGREST, SAME_WRITES, hand_written, keyed_in_sql, keyed_over_http, over_postgrest,
};
use crate::load::Shape;
use crate::rounds::{self, BATCHES, Claim, Quantity, Workload};

pub(super) fn run(run: &mut Run) {
    let bed = run.bed;
    let shape = Shape { clients: 4, size: 100, among: Some(300) };
    let mut contenders =
        vec![keyed_over_http(bed, shape, false), keyed_in_sql(bed, shape, false), hand_written(bed, shape)];
    if let Some(postgrest) = &bed.postgrest {
        contenders.push(over_postgrest(postgrest, shape));
    }
    let claim = |about, against, aim| Claim { about, against, quantity: Quantity::Rate, gate: None, aim };
    let workload = Workload {
        name: "batch of 100 from the same 300 records",
        commits: BATCHES,
        contenders,
        claims: vec![
            claim(OVER_HTTP, SAME_WRITES, Some(0.7)),
            claim(IN_SQL, SAME_WRITES, Some(0.7)),
            claim(OVER_HTTP, POSTGREST, Some(300.0)),
        ],
    };
    let outcome = rounds::run(bed, &workload, run.arguments);
    let deadlocks = outcome.deadlocks.clone();
    run.report.add(&workload, outcome);
    for (contender, count) in workload.contenders.iter().zip(deadlocks) {
        let is_ours = [OVER_HTTP, IN_SQL].contains(&contender.name);
        run.report.add_count(&format!("deadlocks: {}", contender.name), count, is_ours);
    }
}
