//! Executes the operations of a batch, in the order that all batches share.

use super::attempts::Attempts;
use super::conflict::Watch;
use super::operation::{Conflict, Mode, Operation, OperationKind, take};
use super::order;
use super::single::Outcome;
use crate::access::Caller;
use crate::error::Error;
use crate::quota::reserve;
use crate::value::change::Changes;
use std::collections::BTreeMap;

/// Runs operations in the order that all batches share. Results are in the order of the request.
pub fn execute(
    caller: &Caller,
    parsed: Vec<Result<Operation, Error>>,
    mode: Mode,
) -> Result<Vec<Option<Outcome>>, Error> {
    let (atomic, conflict) = match mode {
        Mode::Atomic(conflict) => (true, conflict),
        Mode::Each => (false, Conflict::Wait),
    };
    let mut watch = Watch::new(conflict);
    let mut outcomes: Vec<Option<Outcome>> = vec![None; parsed.len()];
    let mut ready: Vec<Operation> = Vec::with_capacity(parsed.len());
    for (index, operation) in parsed.into_iter().enumerate() {
        match operation {
            Ok(operation) => ready.push(operation),
            Err(error) if atomic => return Err(failed(index, error)),
            Err(error) => outcomes[index] = Some(Err(error)),
        }
    }
    reserve_quotas(&ready);
    let steps = order::by_locks(&ready);
    let mut deferred: Vec<(usize, Changes)> = Vec::new();
    for (place, step) in steps.iter().enumerate().filter(|(_, step)| !step.deferred.is_empty()) {
        deferred.push((place, take(&mut ready[step.operation].changes, &step.deferred)));
    }
    let operations: Vec<&Operation> = steps.iter().map(|step| &ready[step.operation]).collect();
    let attempts = Attempts { caller, operations, deferred, atomic };
    let done = attempts.run(&mut watch).map_err(|(index, error)| failed(index, *error))?;
    for (index, outcome) in done {
        outcomes[index] = Some(outcome);
    }
    Ok(outcomes)
}

/// Waits for the quotas of each project before records are locked.
fn reserve_quotas(operations: &[Operation]) {
    let mut of_projects: BTreeMap<i32, (usize, usize)> = BTreeMap::new();
    for operation in operations {
        let (creations, writes) = of_projects.entry(operation.template.project_id).or_default();
        *creations += usize::from(matches!(operation.kind, OperationKind::Create | OperationKind::Upsert));
        *writes += 1;
    }
    for (project, (creations, writes)) in of_projects {
        reserve::for_many(project, creations, writes);
    }
}

fn failed(index: usize, error: Error) -> Error {
    Error { failed_index: Some(index), ..error.below(&format!("/operations/{index}")) }
}
