//! A thousand other templates must not slow down requests, and the next one must be created as fast.

use super::{Keys, Run, sql};
use crate::bed::{Bed, Commit, filled_database};
use crate::load::median;
use crate::report::Figure;
use crate::rounds::{Claim, Contender, Quantity, READS, WRITES_WITHOUT_DISK, Workload};
use harness::Database;
use std::time::Instant;

const TEMPLATES: u32 = 1_000;
const RECORDS: u32 = 20_000;

pub(super) async fn run(run: &mut Run<'_>) {
    let one = filled_database(&run.bed.cluster, RECORDS).await;
    let many = filled_database(&run.bed.cluster, RECORDS).await;
    eprintln!("Making {TEMPLATES} templates …");
    let times = fill_with_templates(run.bed, &many, TEMPLATES).await;
    run.report.begin(format!("create template number {TEMPLATES}"));
    let times_from = |first: usize| median(times[first..first + 10].to_vec());
    let figure = |name: String, value, gate, aim| Figure {
        name,
        value,
        related: Vec::new(),
        more_is_better: false,
        unit: " ms",
        gate,
        aim,
    };
    run.report.add_figure(&figure("the first ten, median".to_owned(), times_from(0), None, None));
    let last = times_from(times.len() - 10);
    run.report.add_figure(&figure("the last ten, median".to_owned(), last, Some(50.0), Some(10.0)));

    let variables = Keys { fresh: 50, records: RECORDS }.variables();
    let names = ["with 1,000 templates", "with 1 template"];
    let both = |script| {
        let contender = |name, database| Contender::new(name, sql(database, script, 1, &variables));
        vec![contender(names[0], &many), contender(names[1], &one)]
    };
    let claim = Claim {
        about: names[0],
        against: names[1],
        quantity: Quantity::Latency,
        gate: Some(1.15),
        aim: Some(1.05),
    };
    let in_turn =
        sql(&many, include_str!("../scripts/lookup_spread.sql"), 1, &[("templates", TEMPLATES - 1)]);
    let mut lookups = both(include_str!("../scripts/lookup_keyed.sql"));
    lookups.push(Contender::new("in 999 templates at random", in_turn));
    run.measure(&Workload {
        name: "lookup in SQL with other templates",
        commits: READS,
        contenders: lookups,
        claims: vec![claim.clone()],
    });
    run.measure(&Workload {
        name: "upsert in SQL with other templates",
        commits: WRITES_WITHOUT_DISK,
        contenders: both(include_str!("../scripts/upsert_keyed.sql")),
        claims: vec![claim],
    });
}

/// Creates templates up to this number, each with a record; returns the milliseconds of each.
pub(super) async fn fill_with_templates(bed: &Bed, database: &Database, templates: u32) -> Vec<f64> {
    let client = database.client().await;
    let mut times = Vec::new();
    for number in 1..templates {
        // Only the times of the first and the last templates count, so the others can take a shortcut.
        match number {
            11 => bed.set_commit(Commit::DoesNotWait),
            _ if number == templates - 10 => bed.set_commit(Commit::Waits),
            _ => {}
        }
        let create = format!(
            "select keyed.create_template('bench', 't{number}', '[{{\"slug\": \"name\", \"type\": \"string\"}}, \
             {{\"slug\": \"score\", \"type\": \"number\", \"indexed\": true}}]')"
        );
        let began = Instant::now();
        client.batch_execute(&create).await.expect("a template");
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        let fill = format!("select keyed.upsert_by_key('bench.t{number}', 'A-1', '{{\"name\": \"Ada\"}}')");
        client.batch_execute(&fill).await.expect("a record");
    }
    times
}
