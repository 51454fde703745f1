//! Files of many rows, from one client.

use super::Run;
use super::batch_contenders::{COPY, POSTGREST, copy, file_over_postgrest, keyed_file};
use crate::bed::RECORDS;
use crate::load::Shape;
use crate::rounds::{BATCHES, Claim, Quantity, Workload};

/// The number of rows in a file.
const ROWS: usize = 50_000;

pub(super) const SKIP: &str = "keyed, on_error=skip";
pub(super) const ABORT: &str = "keyed, on_error=abort";

pub(super) fn run(run: &mut Run) {
    measure(run, "import of 50,000 new rows", None);
    measure(run, "import of 50,000 existing rows", Some(RECORDS));
}

fn measure(run: &mut Run, name: &'static str, among: Option<u32>) {
    let bed = run.bed;
    let shape = Shape { clients: 1, size: ROWS, among };
    let mut contenders = vec![keyed_file(bed, shape, SKIP, "skip"), keyed_file(bed, shape, ABORT, "abort")];
    let rate = |about, against, gate, aim| Claim { about, against, quantity: Quantity::Rate, gate, aim };
    let mut claims = vec![rate(SKIP, ABORT, Some(0.8), None)];
    if among.is_none() {
        contenders.push(copy(bed, shape));
        claims.push(rate(SKIP, COPY, Some(0.2), Some(0.4)));
    }
    if let Some(postgrest) = &bed.postgrest {
        contenders.push(file_over_postgrest(postgrest, shape));
    }
    claims.push(rate(SKIP, POSTGREST, Some(0.8), Some(1.5)));
    run.measure(&Workload { name, commits: BATCHES, contenders, claims });
}
