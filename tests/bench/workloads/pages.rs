//! The thousandth page must be as fast as the first.

use super::{Run, over_works, responses};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

pub(super) async fn run(run: &mut Run<'_>) {
    let thousandth = include_str!("../scripts/page_thousandth.sql");
    responses::compare(run, thousandth, include_str!("../scripts/page_counted.sql"), None).await;
    let first = include_str!("../scripts/page_first.sql");
    run.measure_warm(&Workload {
        name: "pages of 50 by cursor",
        commits: READS,
        contenders: vec![
            Contender::new("page 1,000", over_works(run.bed, thousandth).await),
            Contender::new("page 1", over_works(run.bed, first).await),
        ],
        claims: vec![Claim {
            about: "page 1,000",
            against: "page 1",
            quantity: Quantity::Latency,
            gate: Some(1.2),
            aim: Some(1.05),
        }],
    })
    .await;
}
