//! The order in which operations run: all batches take row locks in the same order, so that concurrent batches cannot
//! deadlock.
//!
//! The order is: referenced templates first, then by template, by key, by id; operations on the same key keep the
//! order of the request. A reference to a record that a later operation writes is set when all records exist; if it
//! is required, that operation moves forward.

use super::operation::{Operation, OperationKind, refers_by_key};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::record::read;
use crate::template::{Template, catalog};
use crate::value::change::{Change, Value};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// One operation to run.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// Its position among the operations.
    pub operation: usize,
    /// Deferred references (attribute positions), set when all records exist.
    pub put_off: Vec<usize>,
}

/// Sorts out in which order to run the operations.
pub fn plan(operations: &[Operation]) -> Vec<Step> {
    let writers = writers_by_key(operations);
    // A reference that may stay empty for a while waits until all records are written, which keeps the order of
    // locks; only one that is required pulls what it needs forward.
    let (mut pulling, mut waiting) = (Vec::new(), Vec::new());
    for operation in operations {
        let needed = needed(operation, &writers).into_iter();
        let (required, optional): (Vec<_>, Vec<_>) =
            needed.partition(|(_, attribute)| operation.template.attributes[*attribute].required);
        pulling.push(required.into_iter().map(|(writer, _)| writer).collect());
        waiting.push(optional);
    }
    // A batch that moves keys from record to record depends on the order of the request; so does the
    // meaning of its keys. It runs as it was sent, and may have to be repeated when it meets another such.
    let base: Vec<usize> = if operations.iter().any(Operation::sets_key) {
        (0..operations.len()).collect()
    } else {
        sorted(operations)
    };
    let order = arrange(&base, &pulling);
    let mut places = vec![0; operations.len()];
    for (place, &operation) in order.iter().enumerate() {
        places[operation] = place;
    }
    let put_off = |operation: usize| {
        let later = waiting[operation].iter().filter(|(writer, _)| places[*writer] >= places[operation]);
        let missing = later.filter(|(_, attribute)| !target_exists(&operations[operation], *attribute));
        missing.map(|(_, attribute)| *attribute).collect()
    };
    order.iter().map(|&operation| Step { operation, put_off: put_off(operation) }).collect()
}

/// Whether the record of a reference by key exists before the batch begins.
fn target_exists(operation: &Operation, attribute: usize) -> bool {
    let change = operation.changes.iter().find(|change| change.0 == attribute);
    let target = operation.template.attributes[attribute].target.and_then(catalog::by_id);
    match (change, target) {
        (Some((_, Change::Set(Value::ReferenceByKey(key)))), Some(target)) => {
            read::id_by_key(&target, key).is_some()
        }
        _ => false,
    }
}

fn sorted(operations: &[Operation]) -> Vec<usize> {
    let mut ranks: HashMap<i32, usize> = HashMap::new();
    let mut places: Vec<Place> = Vec::with_capacity(operations.len());
    for (position, operation) in operations.iter().enumerate() {
        let template = &operation.template;
        let rank = *ranks.entry(template.id).or_insert_with(|| rank(template));
        // A record named by id is ordered by its key, so that it is locked at the same position by both names.
        let key = match operation.id {
            Some(id) => current_key(template, id),
            None => operation.key.value().map(str::to_owned),
        };
        // The same key by two names is one record: then the request's order counts, not the id.
        let id = if key.is_some() { None } else { operation.id };
        places.push(Place { rank, template: template.id, has_no_key: key.is_none(), key, id, position });
    }
    places.sort_unstable();
    places.into_iter().map(|place| place.position).collect()
}

/// The position of an operation; fields are in order of importance. Records without a key come last: they can only be
/// named by id.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rank: usize,
    template: i32,
    has_no_key: bool,
    key: Option<String>,
    id: Option<Uuid>,
    position: usize,
}

/// The number of templates that a template refers to, directly or indirectly: a referenced template has fewer, except
/// in a cycle, whose members are ordered by number.
fn rank(template: &Template) -> usize {
    let mut reached: HashSet<i32> = HashSet::new();
    let mut open: Vec<i32> = template.attributes.iter().filter_map(|attribute| attribute.target).collect();
    while let Some(id) = open.pop() {
        if reached.insert(id)
            && let Some(target) = catalog::by_id(id)
        {
            open.extend(target.attributes.iter().filter_map(|attribute| attribute.target));
        }
    }
    reached.len()
}

fn current_key(template: &Template, id: Uuid) -> Option<String> {
    let sql = format!(
        "select t.external_key from {} t where t.id = $1 and t.deleted_at is null",
        template.table_sql()
    );
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &params![id]);
            rows.value::<Option<String>>().flatten()
        })
    })
}

/// Which operation brings a key into existence first.
fn writers_by_key(operations: &[Operation]) -> HashMap<(i32, String), usize> {
    let mut writers = HashMap::new();
    for (position, operation) in operations.iter().enumerate() {
        if let (OperationKind::Create | OperationKind::Upsert, Some(key)) =
            (operation.kind, operation.key.value())
        {
            writers.entry((operation.template.id, key.to_owned())).or_insert(position);
        }
    }
    writers
}

/// The operations that write what this one refers to by key, each with the attribute that refers.
fn needed(operation: &Operation, writers: &HashMap<(i32, String), usize>) -> Vec<(usize, usize)> {
    let mut needed = Vec::new();
    for (attribute, change) in operation.changes.iter().filter(|(_, change)| refers_by_key(change)) {
        let Change::Set(Value::ReferenceByKey(key)) = change else { continue };
        let target = operation.template.attributes[*attribute].target.unwrap_or(0);
        if let Some(writer) = writers.get(&(target, key.as_ref().to_owned())) {
            needed.push((*writer, *attribute));
        }
    }
    needed
}

/// Puts dependencies first, and otherwise keeps the base order. A cycle keeps its order: its references will be
/// refused.
pub(super) fn arrange(base: &[usize], needs: &[Vec<usize>]) -> Vec<usize> {
    let mut is_visible = vec![false; needs.len()];
    let mut is_placed = vec![false; needs.len()];
    let mut order = Vec::with_capacity(base.len());
    for &start in base {
        // Each entry is an operation and how many of its needs were looked at: a walk without recursion.
        let mut walk = vec![(start, 0)];
        while let Some((operation, looked_at)) = walk.pop() {
            if is_placed[operation] {
                continue;
            }
            is_visible[operation] = true;
            match needs[operation].get(looked_at) {
                Some(&needed) => {
                    walk.push((operation, looked_at + 1));
                    if !is_visible[needed] {
                        walk.push((needed, 0));
                    }
                }
                None => {
                    is_placed[operation] = true;
                    order.push(operation);
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_needs_the_base_order_stays() {
        assert_eq!(arrange(&[2, 0, 1], &[vec![], vec![], vec![]]), [2, 0, 1]);
    }

    #[test]
    fn what_is_needed_runs_first() {
        assert_eq!(arrange(&[0, 1, 2], &[vec![1], vec![2], vec![]]), [2, 1, 0]);
    }

    #[test]
    fn a_cycle_ends() {
        assert_eq!(arrange(&[0, 1], &[vec![1], vec![0]]), [1, 0]);
        assert_eq!(arrange(&[0], &[vec![0]]), [0]);
    }

    proptest! {
        #[test]
        fn every_operation_runs_once_and_after_its_needs(edges in prop::collection::vec((0..20usize, 0..20usize), 0..60)) {
            // Needs that point downwards only can have no cycle.
            let mut needs = vec![Vec::new(); 20];
            for (from, to) in edges {
                if to < from {
                    needs[from].push(to);
                }
            }
            let base: Vec<usize> = (0..20).rev().collect();
            let mut placed = Vec::new();
            for operation in arrange(&base, &needs) {
                prop_assert!(needs[operation].iter().all(|needed| placed.contains(needed)));
                placed.push(operation);
            }
            placed.sort_unstable();
            prop_assert_eq!(placed, (0..20).collect::<Vec<_>>());
        }
    }
}
