//! Texts: a part of a word and two words in the search bar, a part of a text as a condition.

use super::{Run, answers, over_works};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

pub(super) async fn run(run: &mut Run<'_>) {
    for (name, ours, theirs) in [
        (
            "search for a part of a word",
            include_str!("../scripts/part_keyed.sql"),
            include_str!("../scripts/part_plain.sql"),
        ),
        (
            "search for two words",
            include_str!("../scripts/words_keyed.sql"),
            include_str!("../scripts/words_plain.sql"),
        ),
        (
            "list by a part of the title",
            include_str!("../scripts/like_keyed.sql"),
            include_str!("../scripts/like_plain.sql"),
        ),
    ] {
        answers::compare(run, ours, theirs).await;
        let contenders = vec![
            Contender::new("keyed in SQL", over_works(run.bed, ours).await),
            Contender::new("hand-written SQL", over_works(run.bed, theirs).await),
        ];
        let claims = vec![Claim {
            about: "keyed in SQL",
            against: "hand-written SQL",
            quantity: Quantity::Latency,
            gate: Some(1.5),
            aim: Some(1.15),
        }];
        run.measure(&Workload { name, commits: READS, contenders, claims });
    }
}
