//! Values that are valid only if the record already has them: references to deleted or invisible records, and list
//! elements that are no longer options. So a client can write back the values that it has read.

use crate::access::visibility::{WriteScope, condition_column};
use crate::access::{Action, Caller};
use crate::attribute_type::list;
use crate::error::Error;
use crate::postgres::datum::{self, Argument};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{array, params};
use crate::postgres::spi::{Rows, Snapshot, connected};
use crate::quota::reserve;
use crate::template::{Attribute, Template};
use crate::value::change::{Change, Changes, Value};
use std::collections::{BTreeSet, HashMap};
use uuid::Uuid;

/// The record to which the changes apply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RecordIdentity<'k> {
    /// A new record, which has no values.
    None,
    /// The live record with this id.
    Id(Uuid),
    /// The live record with this key.
    Key(&'k str),
}

/// A locked record with its stored values, by position of the attribute.
struct LockedRecord {
    is_writable: bool,
    values: HashMap<usize, Stored>,
}

/// A stored value.
enum Stored {
    Reference(Uuid),
    List(Vec<String>),
}

/// Whether one of the changes is valid only if the record already has the value.
pub fn has(changes: &Changes) -> bool {
    changes.iter().any(|(_, change)| matches!(change, Change::Keep(..)))
}

/// Removes changes to values that the record already has, and rejects other invalid values. The caller must have the right
/// to read and write the record, so that errors disclose no more than the record. Returns whether the record keeps values;
/// it is then locked until the write.
pub fn settle(
    caller: &Caller,
    template: &Template,
    changes: &mut Changes,
    identity: RecordIdentity,
) -> Result<bool, Error> {
    if !has(changes) {
        return Ok(false);
    }
    settle_all(caller, template, &mut [(identity, changes)]).pop().unwrap_or(Ok(false))
}

/// The same for many records, by one statement.
pub fn settle_all(
    caller: &Caller,
    template: &Template,
    rows: &mut [(RecordIdentity, &mut Changes)],
) -> Vec<Result<bool, Error>> {
    let locked = lock_records(caller, template, rows);
    rows.iter_mut()
        .map(|(identity, changes)| settle_one(caller, template, locked.get(identity), changes))
        .collect()
}

fn settle_one(
    caller: &Caller,
    template: &Template,
    record: Option<&LockedRecord>,
    changes: &mut Changes,
) -> Result<bool, Error> {
    let (mut keeps, mut errors) = (false, Vec::new());
    changes.retain_mut(|(position, change)| {
        let Change::Keep(value, error) = change else { return true };
        let stored = record.and_then(|record| record.values.get(position));
        match compare(&template.attributes[*position], value, error, stored) {
            Ok(Effect::Unchanged) => keeps = true,
            Ok(Effect::Changed) => {
                keeps = true;
                *change = Change::Set(std::mem::replace(value, Value::Null));
                return true;
            }
            Err(error) => errors.push(error),
        }
        false
    });
    if let Some(error) = Error::join(errors) {
        return Err(error);
    }
    match record {
        Some(record) if keeps && !record.is_writable => Err(caller.out_of_scope(Action::Update, template)),
        _ => Ok(keeps),
    }
}

/// The effect of a change that keeps values.
enum Effect {
    /// The value is equal.
    Unchanged,
    /// A list keeps some elements and adds or removes others.
    Changed,
}

fn compare(
    attribute: &Attribute,
    value: &Value,
    error: &Error,
    stored: Option<&Stored>,
) -> Result<Effect, Error> {
    match (value, stored) {
        (Value::Reference(id), Some(Stored::Reference(stored))) if id == stored => Ok(Effect::Unchanged),
        (Value::List(list), Some(Stored::List(stored))) => {
            if list.iter().eq(stored.iter()) {
                return Ok(Effect::Unchanged);
            }
            // The pointer of an array element ends with its position; the first error shows whether it is an array.
            let is_array =
                error.violations.first().is_some_and(|violation| violation.pointer != attribute.pointer);
            let pointer = |position| match is_array {
                true => format!("{}/{position}", attribute.pointer),
                false => attribute.pointer.clone(),
            };
            list::check_new(list, stored, &attribute.rules(), pointer).map(|()| Effect::Changed)
        }
        _ => Err(error.clone()),
    }
}

/// Locks these records and reads their stored values. Empty if the caller lacks `read` or `update`.
fn lock_records<'k>(
    caller: &Caller,
    template: &Template,
    rows: &[(RecordIdentity<'k>, &mut Changes)],
) -> HashMap<RecordIdentity<'k>, LockedRecord> {
    let is_kept = |change: &Change| matches!(change, Change::Keep(..));
    let of_row = |changes: &Changes| {
        let kept = changes.iter().filter(|(_, change)| is_kept(change));
        kept.map(|(position, _)| *position).collect::<Vec<_>>()
    };
    let positions: BTreeSet<usize> = rows.iter().flat_map(|(_, changes)| of_row(changes)).collect();
    let positions: Vec<usize> = positions.into_iter().collect();
    let named = rows.iter().filter(|(identity, changes)| *identity != RecordIdentity::None && has(changes));
    let keepers: Vec<&RecordIdentity> = named.map(|(identity, _)| identity).collect();
    let may = |action| caller.require(action, template).is_ok();
    if keepers.is_empty() || !may(Action::Read) || !may(Action::Update) {
        return HashMap::new();
    }
    // The lock order: quotas before records.
    reserve::for_change(template);
    let ids: Vec<Uuid> = keepers
        .iter()
        .filter_map(|it| if let RecordIdentity::Id(id) = it { Some(*id) } else { None })
        .collect();
    let keys: Vec<&str> = keepers
        .iter()
        .filter_map(|it| if let RecordIdentity::Key(key) = it { Some(*key) } else { None })
        .collect();
    let scope = WriteScope::of(caller, Action::Update, template);
    let columns: String =
        positions.iter().map(|position| format!(", t.\"{}\"", template.attributes[*position].slug)).collect();
    let sql = format!(
        "select t.id, t.external_key{}{}{columns} from {} t \
         where (t.id = any ($1) or t.external_key = any ($2)) and t.deleted_at is null \
         order by t.external_key, t.id for no key update of t",
        condition_column(scope.visible.as_deref()),
        condition_column(scope.writable.as_deref()),
        template.table_sql()
    );
    let arguments = params![array(ids.iter().copied()), array(keys.iter().copied().map(Some))];
    as_owner(|| {
        connected(|spi| {
            let found = template.run(spi, &sql, Snapshot::Latest, &arguments);
            let mut by_id: HashMap<Uuid, usize> = HashMap::with_capacity(found.len());
            let mut by_key: HashMap<String, usize> = HashMap::with_capacity(found.len());
            for row in (0..found.len()).filter(|row| found.get(*row, 2)) {
                by_id.insert(found.get(row, 0), row);
                by_key.extend(found.get::<Option<String>>(row, 1).map(|key| (key, row)));
            }
            let row_of = |identity: &RecordIdentity| match identity {
                RecordIdentity::Id(id) => by_id.get(id),
                RecordIdentity::Key(key) => by_key.get(*key),
                RecordIdentity::None => None,
            };
            let locked = |identity: &&RecordIdentity<'k>| {
                let row = *row_of(identity)?;
                Some(((*identity).clone(), read(template, &found, row, &positions)))
            };
            keepers.iter().filter_map(locked).collect()
        })
    })
}

/// Reads the attributes from a row, after two standard columns and two conditions.
fn read(template: &Template, rows: &Rows, row: usize, positions: &[usize]) -> LockedRecord {
    let stored = |(column, position): (usize, &usize)| {
        let value = rows.datum(row, 4 + column)?;
        Some((*position, stored(&template.attributes[*position], Some(value))?))
    };
    let values = positions.iter().enumerate().filter_map(stored).collect();
    LockedRecord { is_writable: rows.get(row, 3), values }
}

fn stored(attribute: &Attribute, value: Argument) -> Option<Stored> {
    match attribute.target {
        Some(_) => value.map(datum::read_uuid).map(Stored::Reference),
        None => value.and_then(datum::read_text_array).map(Stored::List),
    }
}
