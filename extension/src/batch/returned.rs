//! Reads the records that a batch wrote, for its report. They are read when all operations have run: if several write one
//! record, their results have the same version.

use super::operation::{Operation, OperationKind};
use super::single::{Done, Outcome};
use crate::access::Caller;
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::array;
use crate::postgres::spi::{Snapshot, connected};
use crate::record::by_keys::{MAX_BYTES, too_large};
use crate::record::read;
use crate::record::shape::Projection;
use crate::record::statement::columns;
use crate::template::Template;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use uuid::Uuid;

/// The requested parts of the records in the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// The version.
    pub versions: bool,
    /// The record, and its version.
    pub records: bool,
}

/// The record, or its version, in the result of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenRecord {
    /// The version, if the caller may read the record.
    pub version: Option<String>,
    /// The record as JSON.
    pub record: Option<String>,
}

/// The templates of the operations whose results have a version, by position in the request.
pub type Requested = HashMap<usize, Rc<Template>>;

/// Finds the operations whose results have a version: all if it is requested, otherwise those with a precondition.
pub fn requested(operations: &[Result<Operation, Error>], returned: Returned) -> Requested {
    let is_requested = |operation: &&Operation| {
        operation.kind != OperationKind::Delete
            && (returned.versions || returned.records || !operation.preconditions.is_empty())
    };
    let operations = operations.iter().filter_map(|operation| operation.as_ref().ok()).filter(is_requested);
    operations.map(|operation| (operation.index, Rc::clone(&operation.template))).collect()
}

/// A template, and the operations that wrote its records: their positions and the ids of the records.
type OfTemplate<'t> = (&'t Rc<Template>, Vec<(usize, Uuid)>);

/// Reads the records of these operations. A record that a later operation deleted has none.
pub fn read(
    caller: &Caller,
    outcomes: &[Option<Outcome>],
    requested: &Requested,
    returned: Returned,
) -> Result<HashMap<usize, WrittenRecord>, Error> {
    let mut of_templates: BTreeMap<i32, OfTemplate> = BTreeMap::new();
    for (index, template) in requested {
        if let Some(Some(Ok(Done { id, .. }))) = outcomes.get(*index) {
            of_templates.entry(template.id).or_insert((template, Vec::new())).1.push((*index, *id));
        }
    }
    let (mut results, mut bytes) = (HashMap::with_capacity(requested.len()), 0);
    for (template, written) in of_templates.into_values() {
        let records = read_of_template(caller, template, written.iter().map(|(_, id)| *id));
        for (index, id) in written {
            let Some(mut record) = records.get(&id).cloned() else { continue };
            match &record.record {
                Some(json) if returned.records => bytes += json.len(),
                _ => record.record = None,
            }
            if bytes > MAX_BYTES {
                return Err(too_large("/operations", "Send fewer operations, or omit return=record."));
            }
            results.insert(index, record);
        }
    }
    Ok(results)
}

fn read_of_template(
    caller: &Caller,
    template: &Template,
    ids: impl ExactSizeIterator<Item = Uuid>,
) -> HashMap<Uuid, WrittenRecord> {
    let projection = Projection::of_written(caller, template);
    let sql = format!(
        "select {} from {} t where t.id = any ($1) and t.deleted_at is null",
        columns(template),
        template.table_sql()
    );
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &[array(ids)]);
            let mut records = HashMap::with_capacity(rows.len());
            for row in 0..rows.len() {
                pgrx::check_for_interrupts!();
                let Some(id) = rows.get::<Option<Uuid>>(row, 0) else { continue };
                let shown = read::shown(template, &rows, row, &projection);
                records.insert(id, WrittenRecord { version: shown.tag(), record: Some(shown.json) });
            }
            records
        })
    })
}
