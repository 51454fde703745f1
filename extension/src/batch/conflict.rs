//! Keys that other transactions take while an atomic batch runs.

use super::operation::{Conflict, Operation, OperationKind};
use super::single::{Done, Outcome};
use crate::access::Caller;
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::array;
use crate::postgres::snapshot::CommandMark;
use crate::postgres::spi::{Snapshot, connected};
use crate::record::write_error::key_taken;
use crate::template::Template;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// The upserts of a batch that found a record which the batch did not write.
pub struct Watch {
    /// The upserts, and when the batch began; `None` if conflicts are allowed.
    found: Option<(CommandMark, Vec<Found>)>,
    /// The templates and keys of the records that the batch created or gave a key.
    own: HashSet<(i32, String)>,
}

struct Found {
    template: Rc<Template>,
    key: String,
    index: usize,
}

impl Watch {
    /// A watch that either reports conflicts or allows them.
    pub fn new(conflict: Conflict) -> Watch {
        let found = (conflict == Conflict::Fail).then(|| (CommandMark::now(), Vec::new()));
        Watch { found, own: HashSet::new() }
    }

    /// Records an operation that has run. Operations must come in the order in which they ran.
    pub fn note(&mut self, operation: &Operation, outcome: &Outcome) {
        let (Some((_, found)), Ok(Done { created, .. }), Some(key)) =
            (&mut self.found, outcome, operation.key.value())
        else {
            return;
        };
        let name = (operation.template.id, key.to_owned());
        match operation.kind {
            OperationKind::Upsert if !created => {
                if !self.own.contains(&name) {
                    let (template, index) = (Rc::clone(&operation.template), operation.index);
                    found.push(Found { template, key: name.1, index });
                }
            }
            // An update or deletion by key does not assign the key.
            OperationKind::Update | OperationKind::Delete if operation.id.is_none() => {}
            OperationKind::Delete => {}
            OperationKind::Create | OperationKind::Upsert | OperationKind::Update => {
                self.own.insert(name);
            }
        }
    }

    /// The first operation of the request that found a record which did not exist when the batch began.
    pub fn first_taken(&self, caller: &Caller) -> Option<(usize, Error)> {
        let (began, all) = self.found.as_ref()?;
        let mut templates: BTreeMap<i32, Vec<&Found>> = BTreeMap::new();
        for found in all {
            templates.entry(found.template.id).or_default().push(found);
        }
        let taken = templates.values().flat_map(|found| taken_since(*began, found));
        taken.min_by_key(|found| found.index).map(|found| (found.index, error(caller, found)))
    }
}

/// The keys that no live record had when the batch began.
fn taken_since<'f>(began: CommandMark, found: &[&'f Found]) -> Vec<&'f Found> {
    let Some(template) = found.first().map(|found| &found.template) else { return Vec::new() };
    let sql = format!(
        "select t.external_key from {} t where t.external_key = any ($1) and t.deleted_at is null",
        template.table_sql()
    );
    let keys = array(found.iter().map(|found| found.key.as_str()));
    // This snapshot includes neither the batch's own writes nor writes that other transactions committed after the calling
    // statement began. It includes earlier writes of the same statement, for example those of another batch.
    let held: HashSet<String> = began.with_snapshot(|| {
        as_owner(|| {
            connected(|spi| {
                let rows = template.run(spi, &sql, Snapshot::Active, &[keys]);
                rows.column::<String>().collect()
            })
        })
    });
    found.iter().copied().filter(|found| !held.contains(&found.key)).collect()
}

fn error(caller: &Caller, found: &Found) -> Error {
    Error { is_retryable: true, ..key_taken(caller, &found.template, &found.key) }.hint(
        "The record was written after the batch began. Send the batch again to update it, or use \
         \"conflict\": \"wait\".",
    )
}
