//! Runs operations in sequence, and those of one shape by one statement.

use super::few::{self, Few, Stop};
use super::group::{self, Group, Outside};
use super::operation::Operation;
use super::outcome::Outcome;
use super::single;
use crate::access::Caller;
use crate::record::kept::Keeper;
use crate::record::reference;
use std::ops::Range;

/// Runs some operations one after the other, those that fit together by one statement.
pub(super) fn pass(
    caller: &Caller,
    operations: &[&Operation],
    few: &Few,
    some: Range<usize>,
) -> Result<few::Done, Stop> {
    let mut done = few::Done::with_capacity(some.len());
    let (mut group, mut members) = (Group::default(), Vec::new());
    for step in some.filter(|step| few.is_wanted(*step)) {
        pgrx::check_for_interrupts!();
        let operation = operations[step];
        // What this operation needs may be waiting in the group.
        if !few.may_join(step) || !group.accepts(operation) || operation.refers_by_key() {
            finish(caller, &mut group, &mut members, few, &mut done)?;
        }
        if few.may_be_joined(step) && group::is_groupable(operation) {
            few.begin(&[step]);
            match group.add(caller, operation.clone()) {
                Ok(true) => members.push(step),
                Ok(false) => {
                    finish(caller, &mut group, &mut members, few, &mut done)?;
                    few.begin(&[step]);
                    done.push((step, keeping(caller, step, operation)?));
                }
                Err(error) => done.push((step, Err(error))),
            }
        } else {
            few.begin(&[step]);
            let outcome = single::run(caller, operation, operation.changes.clone());
            done.push((step, Ok(outcome.map_err(|error| Stop::Refused(step, Box::new(error)))?)));
        }
    }
    finish(caller, &mut group, &mut members, few, &mut done)?;
    Ok(done)
}

/// Runs an upsert whose record may keep values.
fn keeping(caller: &Caller, step: usize, operation: &Operation) -> Result<Outcome, Stop> {
    let keeper = operation.key.value().map_or(Keeper::None, Keeper::Key);
    // What is rejected here has written nothing, so nothing is rolled back for it.
    if let Err(error) =
        reference::resolve(caller, &operation.template, &mut operation.changes.clone(), keeper)
    {
        return Ok(Err(error));
    }
    let outcome = single::run(caller, operation, operation.changes.clone());
    Ok(Ok(outcome.map_err(|error| Stop::Refused(step, Box::new(error)))?))
}

fn finish(
    caller: &Caller,
    group: &mut Group,
    members: &mut Vec<usize>,
    few: &Few,
    done: &mut few::Done,
) -> Result<(), Stop> {
    let (group, members) = (std::mem::take(group), std::mem::take(members));
    few.begin(&members);
    match (group.members(), members.as_slice()) {
        ([], _) => {}
        ([operation], [step]) => {
            let outcome = single::run(caller, operation, operation.changes.clone());
            done.push((*step, Ok(outcome.map_err(|error| Stop::Refused(*step, Box::new(error)))?)));
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
