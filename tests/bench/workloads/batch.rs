//! Batches of a thousand upserts, from one client.

use super::Run;
use super::batch_contenders::{
    COPY, IN_SQL, IN_SQL_ATOMIC, OVER_HTTP, OVER_HTTP_ATOMIC, POSTGREST, SAME_WRITES, copy, hand_written,
    keyed_in_sql, keyed_over_http, over_postgrest,
};
use crate::bed::RECORDS;
use crate::load::Shape;
use crate::rounds::{BATCHES, Claim, Quantity, Workload};

pub(super) fn run(run: &mut Run) {
    measure(run, "batch of 1000 new records", None);
    measure(run, "batch of 1000 existing records", Some(RECORDS));
}

fn measure(run: &mut Run, name: &'static str, among: Option<u32>) {
    let bed = run.bed;
    let shape = Shape { clients: 1, size: 1_000, among };
    let mut contenders = vec![
        keyed_over_http(bed, shape, false),
        keyed_over_http(bed, shape, true),
        keyed_in_sql(bed, shape, false),
        keyed_in_sql(bed, shape, true),
        hand_written(bed, shape),
    ];
    let rate = |about, against, gate, aim| Claim { about, against, quantity: Quantity::Rate, gate, aim };
    let time = |about, against| {
        let quantity = Quantity::Latency;
        Claim { about, against, quantity, gate: Some(1.5), aim: Some(1.1) }
    };
    let mut claims = vec![
        rate(OVER_HTTP, SAME_WRITES, Some(0.5), Some(0.8)),
        rate(IN_SQL, SAME_WRITES, Some(0.5), Some(0.8)),
        time(OVER_HTTP, OVER_HTTP_ATOMIC),
        time(IN_SQL, IN_SQL_ATOMIC),
    ];
    if among.is_none() {
        contenders.push(copy(bed, shape));
        claims.push(rate(IN_SQL, COPY, None, Some(0.4)));
    }
    if let Some(postgrest) = &bed.postgrest {
        contenders.push(over_postgrest(postgrest, shape));
    }
    claims.push(rate(OVER_HTTP, POSTGREST, None, Some(1.2)));
    run.measure(&Workload { name, commits: BATCHES, contenders, claims });
}
