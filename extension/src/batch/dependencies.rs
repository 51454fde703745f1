//! Orders operations so that records come after those that they refer to. Not the order that all batches share, so
//! two such batches may deadlock; it is used when references are refused repeatedly and no key changes its record.

use super::operation::{Operation, OperationKind, take};
use super::order::arrange;
use crate::value::change::{Change, Changes, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// For each record that is named by its key, by template and key: the last operation on it, and whether any of them may
/// bring it into being.
type Last = HashMap<(i32, String), (usize, bool)>;

/// Puts operations into that order, and takes out of them the references that have to wait all the same: they are part of
/// a cycle. Gives them back by the new places.
pub(super) fn sort_by_dependency<'a>(operations: &mut Vec<Operation<'a>>) -> Vec<(usize, Changes<'a>)> {
    let (last, order) = order(operations);
    let mut places = vec![0; order.len()];
    for (place, before) in order.iter().enumerate() {
        places[*before] = place;
    }
    let mut put_off = Vec::new();
    for (place, before) in order.iter().enumerate() {
        let operation = &mut operations[*before];
        let is_late = |attribute: usize, change: &Change| {
            !operation.template.attributes[attribute].required
                && target(operation, attribute, change, &last).is_some_and(|target| places[target] >= place)
        };
        let late = operation.changes.iter().filter(|(attribute, change)| is_late(*attribute, change));
        let late: Vec<usize> = late.map(|(attribute, _)| *attribute).collect();
        if !late.is_empty() {
            put_off.push((place, take(&mut operation.changes, &late)));
        }
    }
    let mut slots: Vec<Option<Operation>> = std::mem::take(operations).into_iter().map(Some).collect();
    operations.extend(order.into_iter().filter_map(|before| slots[before].take()));
    put_off
}

fn order(operations: &[Operation]) -> (Last, Vec<usize>) {
    let mut last = Last::new();
    let mut needs = vec![Vec::new(); operations.len()];
    for (place, operation) in operations.iter().enumerate() {
        // Operations on one record stay in their order.
        if let Some(key) = operation.key.value() {
            let brings = matches!(operation.kind, OperationKind::Create | OperationKind::Upsert);
            match last.entry((operation.template.id, key.to_owned())) {
                Entry::Vacant(vacant) => {
                    vacant.insert((place, brings));
                }
                Entry::Occupied(mut occupied) => {
                    let (before, brought) = *occupied.get();
                    needs[place].push(before);
                    occupied.insert((place, brings || brought));
                }
            }
        }
        // One that names its record by id stands beside those that name it by its key.
        if place > 0 && (operation.id.is_some() || operations[place - 1].id.is_some()) {
            needs[place].push(place - 1);
        }
    }
    let base: Vec<usize> = (0..operations.len()).collect();
    for (place, operation) in operations.iter().enumerate() {
        let targets = operation.changes.iter();
        needs[place]
            .extend(targets.filter_map(|(attribute, change)| target(operation, *attribute, change, &last)));
    }
    let order = arrange(&base, &needs);
    (last, order)
}

/// The last operation on the record that a reference names by key, if the batch may bring it into being.
fn target(operation: &Operation, attribute: usize, change: &Change, last: &Last) -> Option<usize> {
    let Change::Set(Value::ReferenceByKey(key)) = change else { return None };
    let target = operation.template.attributes[attribute].target?;
    let (place, brings) = *last.get(&(target, key.as_ref().to_owned()))?;
    brings.then_some(place)
}
