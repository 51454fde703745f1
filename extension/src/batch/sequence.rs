//! Runs operations in sequence, and consecutive ones of one shape by one statement.

use super::group::{self, Group, Outside};
use super::operation::Operation;
use super::single::{self, Outcome};
use super::subtransactions::{Done, Stop, Subtransactions};
use crate::access::Caller;
use crate::record::kept::RecordIdentity;
use crate::record::reference;
use std::ops::Range;

/// Runs a range of operations.
pub(super) fn run(
    caller: &Caller,
    operations: &[&Operation],
    subtransactions: &Subtransactions,
    steps: Range<usize>,
) -> Result<Done, Stop> {
    let mut done = Done::with_capacity(steps.len());
    let (mut group, mut members) = (Group::default(), Vec::new());
    for step in steps.filter(|step| subtransactions.is_requested(*step)) {
        pgrx::check_for_interrupts!();
        let operation = operations[step];
        // The record that this operation references may be in the pending group.
        if !subtransactions.may_join(step) || !group.accepts(operation) || operation.refers_by_key() {
            finish(caller, &mut group, &mut members, subtransactions, &mut done)?;
        }
        if subtransactions.may_be_joined(step) && group::is_groupable(operation) {
            subtransactions.begin(&[step]);
            match group.add(caller, operation.clone()) {
                Ok(true) => members.push(step),
                Ok(false) => {
                    finish(caller, &mut group, &mut members, subtransactions, &mut done)?;
                    subtransactions.begin(&[step]);
                    done.push((step, run_keeping(caller, step, operation)?));
                }
                Err(error) => done.push((step, Err(error))),
            }
        } else {
            subtransactions.begin(&[step]);
            let outcome = single::run(caller, operation, operation.changes.clone());
            done.push((step, Ok(outcome.map_err(|error| Stop::Rejected(step, Box::new(error)))?)));
        }
    }
    finish(caller, &mut group, &mut members, subtransactions, &mut done)?;
    Ok(done)
}

/// Runs an upsert whose record may keep values.
fn run_keeping(caller: &Caller, step: usize, operation: &Operation) -> Result<Outcome, Stop> {
    let identity = operation.key.value().map_or(RecordIdentity::None, RecordIdentity::Key);
    // An operation that is rejected here has written nothing, so nothing is rolled back.
    if let Err(error) =
        reference::resolve(caller, &operation.template, &mut operation.changes.clone(), identity)
    {
        return Ok(Err(error));
    }
    let outcome = single::run(caller, operation, operation.changes.clone());
    Ok(Ok(outcome.map_err(|error| Stop::Rejected(step, Box::new(error)))?))
}

fn finish(
    caller: &Caller,
    group: &mut Group,
    members: &mut Vec<usize>,
    subtransactions: &Subtransactions,
    done: &mut Done,
) -> Result<(), Stop> {
    let (group, members) = (std::mem::take(group), std::mem::take(members));
    subtransactions.begin(&members);
    match (group.members(), members.as_slice()) {
        ([], _) => {}
        ([operation], [step]) => {
            let outcome = single::run(caller, operation, operation.changes.clone());
            done.push((*step, Ok(outcome.map_err(|error| Stop::Rejected(*step, Box::new(error)))?)));
        }
        _ => match group.run(caller) {
            Ok(outcomes) => {
                done.extend(members.into_iter().zip(outcomes).map(|(step, (_, outcome))| (step, outcome)));
            }
            Err(Outside(places)) => {
                let outside = places.into_iter().map(|place| members[place]).collect();
                return Err(Stop::Together { steps: members, outside });
            }
        },
    }
    Ok(())
}
