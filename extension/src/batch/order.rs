//! The order in which operations run, which is not that of the request: row locks are taken in one order that all
//! batches share, so that concurrent batches wait for each other but never in a circle.
//!
//! The order is: templates that others refer to first, then by template, then by key, then by id; operations on
//! the same key keep the order of the request. An operation that refers to a record of its own batch by key runs
//! after the operation that writes it.

use super::parse::{Kind, Operation};
use super::refers_by_key;
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, connected};
use crate::record::value::{Change, Value};
use crate::template::{Template, catalog};
use pgrx::pg_sys;
use std::collections::HashMap;
use uuid::Uuid;

/// One operation to run, without the references (attribute positions) that can only be made afterwards.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// Its position among the operations.
    pub operation: usize,
    /// References that go round in a circle, to be made when all records exist.
    pub put_off: Vec<usize>,
}

/// Sorts out in which order to run the operations.
pub fn plan(operations: &mut [Operation]) -> Vec<Step> {
    let writers = writers_by_key(operations);
    let needs: Vec<Vec<(usize, usize)>> =
        operations.iter().map(|operation| needed(operation, &writers)).collect();
    // A batch that moves keys from record to record depends on the order of the request; so does the
    // meaning of its keys. It runs as it was sent, and may have to be repeated when it meets another such.
    let base: Vec<usize> = if operations.iter().any(Operation::sets_key) {
        (0..operations.len()).collect()
    } else {
        sorted(operations)
    };
    arrange(&base, &needs, |operation, attribute| {
        let attribute = &operations[operation].template.attributes[attribute];
        !attribute.required
    })
}

fn sorted(operations: &[Operation]) -> Vec<usize> {
    let mut ranks: HashMap<i32, usize> = HashMap::new();
    let mut places: Vec<Place> = Vec::with_capacity(operations.len());
    for (position, operation) in operations.iter().enumerate() {
        let template = &operation.template;
        let rank = *ranks.entry(template.id).or_insert_with(|| rank(template, &mut Vec::new()));
        // A record named by id stands where its key puts it, so that it is locked in the same place by both names.
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

/// Where an operation stands; the order of the fields is the order of importance. Records without a key come
/// last: they can only be named by id.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rank: usize,
    template: i32,
    has_no_key: bool,
    key: Option<String>,
    id: Option<Uuid>,
    position: usize,
}

/// How many references lie between a template and one that refers to nothing; a circle counts once.
fn rank(template: &Template, path: &mut Vec<i32>) -> usize {
    if path.contains(&template.id) || path.len() > 32 {
        return 0;
    }
    path.push(template.id);
    let targets = template.attributes.iter().filter_map(|attribute| attribute.target);
    let deepest = targets
        .filter(|target| *target != template.id)
        .filter_map(catalog::by_id)
        .map(|target| rank(&target, path) + 1)
        .max();
    path.pop();
    deepest.unwrap_or(0)
}

fn current_key(template: &Template, id: Uuid) -> Option<String> {
    let sql = format!(
        "select t.external_key from {} t where t.id = $1 and t.deleted_at is null",
        template.table_sql()
    );
    as_owner(|| {
        let plan = template.plan(&sql, || vec![pg_sys::UUIDOID]);
        connected(|spi| {
            let rows = spi.run(&plan, Access::Latest, &[datum::uuid(id)]);
            if rows.is_empty() { None } else { rows.get(0, 0).map(datum::read_text) }
        })
    })
}

/// Which operation brings a key into existence first.
fn writers_by_key(operations: &[Operation]) -> HashMap<(i32, String), usize> {
    let mut writers = HashMap::new();
    for (position, operation) in operations.iter().enumerate() {
        if let (Kind::Create | Kind::Upsert, Some(key)) = (operation.kind, operation.key.value()) {
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

/// Puts what is needed before what needs it, and otherwise keeps the base order. A need that would close a circle
/// is put off, when the attribute may be empty for a while.
fn arrange(
    base: &[usize],
    needs: &[Vec<(usize, usize)>],
    may_wait: impl Fn(usize, usize) -> bool,
) -> Vec<Step> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum State {
        Unseen,
        Open,
        Placed,
    }
    let mut states = vec![State::Unseen; needs.len()];
    let mut put_off: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    let mut steps = Vec::with_capacity(base.len());
    for &start in base {
        // Each entry is an operation and how many of its needs were looked at: a walk without recursion.
        let mut walk = vec![(start, 0)];
        while let Some((operation, seen)) = walk.pop() {
            if states[operation] == State::Placed {
                continue;
            }
            states[operation] = State::Open;
            match needs[operation].get(seen) {
                Some(&(needed, attribute)) => {
                    walk.push((operation, seen + 1));
                    match states[needed] {
                        State::Unseen => walk.push((needed, 0)),
                        State::Open if may_wait(operation, attribute) => put_off[operation].push(attribute),
                        State::Open | State::Placed => {}
                    }
                }
                None => {
                    states[operation] = State::Placed;
                    steps.push(Step { operation, put_off: std::mem::take(&mut put_off[operation]) });
                }
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(base: &[usize], needs: &[Vec<(usize, usize)>]) -> Vec<(usize, Vec<usize>)> {
        arrange(base, needs, |_, _| true).into_iter().map(|step| (step.operation, step.put_off)).collect()
    }

    #[test]
    fn without_needs_the_base_order_stays() {
        assert_eq!(order(&[2, 0, 1], &[vec![], vec![], vec![]]), [(2, vec![]), (0, vec![]), (1, vec![])]);
    }

    #[test]
    fn what_is_needed_runs_first() {
        let needs = [vec![(1, 0)], vec![(2, 0)], vec![]];
        assert_eq!(order(&[0, 1, 2], &needs), [(2, vec![]), (1, vec![]), (0, vec![])]);
    }

    #[test]
    fn a_circle_is_opened_at_one_reference() {
        let needs = [vec![(1, 7)], vec![(0, 8)]];
        assert_eq!(order(&[0, 1], &needs), [(1, vec![8]), (0, vec![])]);
        assert_eq!(order(&[0], &[vec![(0, 7)]]), [(0, vec![7])]);
    }

    proptest! {
        #[test]
        fn every_operation_runs_once_and_after_its_needs(edges in prop::collection::vec((0..20usize, 0..20usize), 0..60)) {
            let mut needs = vec![Vec::new(); 20];
            for (from, to) in edges {
                needs[from].push((to, 0));
            }
            let base: Vec<usize> = (0..20).collect();
            let steps = arrange(&base, &needs, |_, _| true);
            let mut placed = Vec::new();
            for step in &steps {
                let met = needs[step.operation].iter().all(|(needed, _)| placed.contains(needed));
                prop_assert!(met || !step.put_off.is_empty());
                placed.push(step.operation);
            }
            placed.sort_unstable();
            prop_assert_eq!(placed, base);
        }
    }
}
