//! The order in which operations run.
//!
//! All batches take row locks in the same order, so that concurrent batches cannot deadlock: referenced templates first,
//! then by template, by key, by id. Operations on the same key keep the order of the request. A reference to a record
//! that a later operation writes is deferred: it is set when all records exist. If it is required, that operation moves
//! forward.

use super::operation::{Operation, OperationKind, RecordKey, references_by_key};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::record::read;
use crate::template::{Template, catalog};
use keyed_write_order::cycles::{self, Dependency};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// One operation to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Its position among the operations.
    pub(super) operation: usize,
    /// Deferred references, by the positions of their attributes.
    pub(super) deferred: Vec<usize>,
}

/// The order that all batches share.
pub(super) fn by_locks(operations: &[Operation]) -> Vec<Step> {
    // The first operation that may create the record with a key.
    let mut writers: HashMap<RecordKey, usize> = HashMap::new();
    for (position, operation) in operations.iter().enumerate() {
        if matches!(operation.kind, OperationKind::Create | OperationKind::Upsert) {
            let record = operation.key.value().map(|key| (operation.template.id, key));
            record.map(|record| writers.entry(record).or_insert(position));
        }
    }
    // An optional reference is deferred, which keeps the order of locks. A required one moves the operation that writes
    // its record forward.
    let (mut required, mut optional) = (vec![Vec::new(); operations.len()], Vec::new());
    for (position, operation) in operations.iter().enumerate() {
        for (attribute, record) in references_by_key(&operation.template, &operation.changes) {
            match writers.get(&record) {
                Some(writer) if operation.template.attributes[attribute].required => {
                    required[position].push(*writer);
                }
                Some(writer) => optional.push((position, attribute, record, *writer)),
                None => {}
            }
        }
    }
    // In a batch that moves keys from record to record, the order of the request decides what a key means. It runs in that
    // order, and may deadlock with another such batch.
    let base: Vec<usize> = if operations.iter().any(Operation::sets_key) {
        (0..operations.len()).collect()
    } else {
        sorted(operations)
    };
    let order = arrange(&base, &required);
    let mut places = vec![0; operations.len()];
    for (place, &operation) in order.iter().enumerate() {
        places[operation] = place;
    }
    let mut deferred = vec![Vec::new(); operations.len()];
    for (operation, attribute, record, writer) in optional {
        if places[writer] >= places[operation] && !exists(record) {
            deferred[operation].push(attribute);
        }
    }
    let step = |operation: usize| Step { operation, deferred: std::mem::take(&mut deferred[operation]) };
    order.into_iter().map(step).collect()
}

/// Whether a live record has the key.
pub(super) fn exists((template, key): RecordKey) -> bool {
    catalog::by_id(template).is_some_and(|template| read::id_by_key(&template, key).is_some())
}

fn sorted(operations: &[Operation]) -> Vec<usize> {
    let mut levels: HashMap<i32, usize> = HashMap::new();
    let mut places: Vec<Place> = Vec::with_capacity(operations.len());
    for (position, operation) in operations.iter().enumerate() {
        let template = &operation.template;
        let level = *levels.entry(template.id).or_insert_with(|| reference_level(template));
        // A record named by id is ordered by its key, so that it is locked at the same position by both names.
        let key = match operation.id {
            Some(id) => current_key(template, id),
            None => operation.key.value().map(str::to_owned),
        };
        // Operations that name one record by key and by id keep the order of the request.
        let id = if key.is_some() { None } else { operation.id };
        places.push(Place { level, template: template.id, has_no_key: key.is_none(), key, id, position });
    }
    places.sort_unstable();
    places.into_iter().map(|place| place.position).collect()
}

/// The position of an operation in the order of locks. Records without a key, which only an id names, come last.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    level: usize,
    template: i32,
    has_no_key: bool,
    key: Option<String>,
    id: Option<Uuid>,
    position: usize,
}

/// The number of templates that a template references, directly or through others. A referenced template has a lower number,
/// except in a cycle, whose templates are ordered by their own numbers.
fn reference_level(template: &Template) -> usize {
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

/// Puts dependencies first, and otherwise keeps the base order. The references of a cycle will be rejected.
fn arrange(base: &[usize], needs: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(base.len());
    let dependency = |operation: u32, number: usize| match needs[operation as usize].get(number) {
        Some(needed) => Dependency::On(*needed as u32),
        None => Dependency::End,
    };
    let base = base.iter().map(|operation| *operation as u32);
    cycles::search(base, needs.len(), dependency, |cycle| {
        order.extend(cycle.iter().map(|operation| *operation as usize));
    });
    order
}
