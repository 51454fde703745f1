//! Keys that other transactions take while an atomic batch runs.

use super::mode::Conflict;
use super::operation::{Operation, OperationKind};
use super::outcome::{Done, Outcome};
use crate::access::Caller;
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::array;
use crate::postgres::snapshot::CommandMark;
use crate::postgres::spi::{Snapshot, connected};
use crate::record::refusal::key_taken;
use crate::template::Template;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// The upserts of a batch that met a record which the batch did not make itself.
pub struct Watch {
    /// The upserts, and when the batch began; `None` if conflicts are allowed.
    met: Option<(CommandMark, Vec<Met>)>,
    /// Template and key of records that the batch made, or gave the key.
    own: HashSet<(i32, String)>,
}

struct Met {
    template: Rc<Template>,
    key: String,
    index: usize,
}

impl Watch {
    /// A watch that minds, or does not.
    pub fn new(conflict: Conflict) -> Watch {
        let met = (conflict == Conflict::Fail).then(|| (CommandMark::now(), Vec::new()));
        Watch { met, own: HashSet::new() }
    }

    /// Takes note of an operation that has run. Operations must come in the order in which they ran.
    pub fn note(&mut self, operation: &Operation, outcome: &Outcome) {
        let (Some((_, met)), Ok(Done { created, .. }), Some(key)) =
            (&mut self.met, outcome, operation.key.value())
        else {
            return;
        };
        let name = (operation.template.id, key.to_owned());
        match operation.kind {
            OperationKind::Upsert if !created => {
                if !self.own.contains(&name) {
                    let (template, index) = (Rc::clone(&operation.template), operation.index);
                    met.push(Met { template, key: name.1, index });
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

    /// The first operation of the request that met a record which was not there when the batch began.
    pub fn first_taken(&self, caller: &Caller) -> Option<(usize, Error)> {
        let (began, met) = self.met.as_ref()?;
        let mut templates: BTreeMap<i32, Vec<&Met>> = BTreeMap::new();
        for met in met {
            templates.entry(met.template.id).or_default().push(met);
        }
        let taken = templates.values().flat_map(|met| taken_since(*began, met));
        taken.min_by_key(|met| met.index).map(|met| (met.index, refusal(caller, met)))
    }
}

/// Those whose key no live record held when the batch began.
fn taken_since<'m>(began: CommandMark, met: &[&'m Met]) -> Vec<&'m Met> {
    let Some(template) = met.first().map(|met| &met.template) else { return Vec::new() };
    let sql = format!(
        "select t.external_key from {} t where t.external_key = any ($1) and t.deleted_at is null",
        template.table_sql()
    );
    let keys = array(met.iter().map(|met| met.key.as_str()));
    // This shows neither what others wrote since the statement that runs the batch began, nor what the batch wrote; but what
    // was written before it by the same statement, for one by another batch.
    let held: HashSet<String> = began.with_snapshot(|| {
        as_owner(|| {
            connected(|spi| {
                let rows = template.run(spi, &sql, Snapshot::Active, &[keys]);
                rows.column::<String>().collect()
            })
        })
    });
    met.iter().copied().filter(|met| !held.contains(&met.key)).collect()
}

fn refusal(caller: &Caller, met: &Met) -> Error {
    Error { is_retryable: true, ..key_taken(caller, &met.template, &met.key) }.hint(
        "The record was written after the batch began. Send the batch again to update it, or use \
         \"conflict\": \"wait\".",
    )
}
