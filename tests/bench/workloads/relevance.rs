//! Forty searches, and the rank of the expected record. This is not a time, so one round is enough.

use super::Run;
use crate::report::Figure;
use harness::relevance::{fill, mean_reciprocal_rank, open_drawer, ranks};

pub(super) async fn run(run: &mut Run<'_>) {
    let database = &run.bed.database;
    let session = database.session().await;
    fill(&session).await;
    let clerk = database.create_role("clerk").await;
    database.grant_within(&clerk, "desk.cards", "read", &open_drawer()).await;
    run.report.begin("forty searches, mean reciprocal rank of the expected record".to_owned());
    for (name, session) in
        [("administrator", session), ("role with a scope", database.session_as(&clerk).await)]
    {
        let ranks = ranks(&session).await;
        run.report.add_figure(&Figure {
            name: name.to_owned(),
            value: mean_reciprocal_rank(&ranks),
            unit: "",
            related: Vec::new(),
            more_is_better: true,
            gate: Some(0.96),
            aim: Some(1.0),
        });
    }
}
