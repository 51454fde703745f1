//! A hundred times as many records must have little effect.

use super::{Keys, Run, sql};
use crate::bed::filled_database;
use crate::rounds::{Claim, Contender, Quantity, READS, WRITES_WITHOUT_DISK, Workload};

const FEW: u32 = 10_000;
const MANY: u32 = 1_000_000;

pub(super) async fn run(run: &mut Run<'_>) {
    eprintln!("Filling a table with {MANY} records …");
    let few = filled_database(&run.bed.cluster, FEW).await;
    let many = filled_database(&run.bed.cluster, MANY).await;
    for (name, commits, script) in [
        ("lookup in SQL by number of records", READS, include_str!("../scripts/lookup_keyed.sql")),
        (
            "upsert in SQL by number of records",
            WRITES_WITHOUT_DISK,
            include_str!("../scripts/upsert_keyed.sql"),
        ),
    ] {
        let contender = |name, database, records| {
            Contender::new(name, sql(database, script, 1, &Keys { fresh: 50, records }.variables()))
        };
        run.measure(&Workload {
            name,
            commits,
            contenders: vec![
                contender("1,000,000 records", &many, MANY),
                contender("10,000 records", &few, FEW),
            ],
            claims: vec![Claim {
                about: "1,000,000 records",
                against: "10,000 records",
                quantity: Quantity::Latency,
                gate: Some(1.3),
                aim: Some(1.2),
            }],
        });
    }
}
