//! The search box: suggestions, highlights and typo tolerance.

use super::{OURS, Run, THEIRS, over_works};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

pub(super) async fn run(run: &mut Run<'_>) {
    for (name, ours, theirs, gate) in [
        (
            "completions of one to four letters",
            include_str!("../scripts/suggest_proxy.sql"),
            include_str!("../scripts/suggest_plain.sql"),
            1.5,
        ),
        (
            "search with highlights",
            include_str!("../scripts/highlight_proxy.sql"),
            include_str!("../scripts/part_proxy.sql"),
            2.0,
        ),
    ] {
        let theirs_is = if theirs.contains("keyed_http") { "without highlights" } else { THEIRS };
        run.measure_warm(&Workload {
            name,
            commits: READS,
            contenders: vec![
                Contender::new(OURS, over_works(run.bed, ours).await),
                Contender::new(theirs_is, over_works(run.bed, theirs).await),
            ],
            claims: vec![Claim {
                about: OURS,
                against: theirs_is,
                quantity: Quantity::Latency,
                gate: Some(gate),
                aim: Some(1.2),
            }],
        })
        .await;
    }
}
