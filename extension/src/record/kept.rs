//! Values that a record may keep and that no record may get: references to records that are deleted or that the caller
//! does not see, and elements of lists that are no longer options. What a caller reads in a record can so be written back.

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

/// The record whose values changes may keep.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Keeper<'k> {
    /// A new one, which has none.
    None,
    /// The live record with this id.
    Id(Uuid),
    /// The live record with this key.
    Key(&'k str),
}

/// A record, locked, with what it has.
struct Held {
    is_writable: bool,
    values: HashMap<usize, Stored>,
}

/// What a record has of an attribute.
enum Stored {
    Reference(Uuid),
    List(Vec<String>),
}

/// Whether one of the changes can only keep a value.
pub fn has(changes: &Changes) -> bool {
    changes.iter().any(|(_, change)| matches!(change, Change::Keep(..)))
}

/// Takes out what the record has already, if the caller may read and write it, and rejects the rest: no one learns more than
/// what the record shows. Says whether the record keeps values: it is locked then, so that it has them when it is written.
pub fn settle(
    caller: &Caller,
    template: &Template,
    changes: &mut Changes,
    keeper: Keeper,
) -> Result<bool, Error> {
    if !has(changes) {
        return Ok(false);
    }
    settle_all(caller, template, &mut [(keeper, changes)]).pop().unwrap_or(Ok(false))
}

/// The same for many records, by one statement.
pub fn settle_all(
    caller: &Caller,
    template: &Template,
    rows: &mut [(Keeper, &mut Changes)],
) -> Vec<Result<bool, Error>> {
    let held = held(caller, template, rows);
    rows.iter_mut().map(|(keeper, changes)| settle_one(caller, template, held.get(keeper), changes)).collect()
}

fn settle_one(
    caller: &Caller,
    template: &Template,
    held: Option<&Held>,
    changes: &mut Changes,
) -> Result<bool, Error> {
    let (mut keeps, mut errors) = (false, Vec::new());
    changes.retain_mut(|(position, change)| {
        let Change::Keep(value, error) = change else { return true };
        let stored = held.and_then(|held| held.values.get(position));
        match judge(&template.attributes[*position], value, error, stored) {
            Ok(Verdict::Unchanged) => keeps = true,
            Ok(Verdict::Changed) => {
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
    match held {
        Some(held) if keeps && !held.is_writable => Err(caller.out_of_scope(Action::Update, template)),
        _ => Ok(keeps),
    }
}

/// What a change does that keeps values.
enum Verdict {
    /// Nothing.
    Unchanged,
    /// Something else beside: it adds options to a list, or takes elements out.
    Changed,
}

fn judge(
    attribute: &Attribute,
    value: &Value,
    error: &Error,
    stored: Option<&Stored>,
) -> Result<Verdict, Error> {
    match (value, stored) {
        (Value::Reference(id), Some(Stored::Reference(stored))) if id == stored => Ok(Verdict::Unchanged),
        (Value::List(list), Some(Stored::List(stored))) => {
            if list.iter().eq(stored.iter()) {
                return Ok(Verdict::Unchanged);
            }
            // In an array the place of an element is part of the pointer, as the error of the first one shows.
            let is_array = error.faults.first().is_some_and(|fault| fault.pointer != attribute.pointer);
            let pointer = |position| match is_array {
                true => format!("{}/{position}", attribute.pointer),
                false => attribute.pointer.clone(),
            };
            list::check_new(list, stored, &attribute.rules(), pointer).map(|()| Verdict::Changed)
        }
        _ => Err(error.clone()),
    }
}

/// What these records have, by how they are named: those that the caller may read and change some records of.
fn held<'k>(
    caller: &Caller,
    template: &Template,
    rows: &[(Keeper<'k>, &mut Changes)],
) -> HashMap<Keeper<'k>, Held> {
    let is_kept = |change: &Change| matches!(change, Change::Keep(..));
    let of_row = |changes: &Changes| {
        let kept = changes.iter().filter(|(_, change)| is_kept(change));
        kept.map(|(position, _)| *position).collect::<Vec<_>>()
    };
    let positions: BTreeSet<usize> = rows.iter().flat_map(|(_, changes)| of_row(changes)).collect();
    let positions: Vec<usize> = positions.into_iter().collect();
    let named = rows.iter().filter(|(keeper, changes)| *keeper != Keeper::None && has(changes));
    let keepers: Vec<&Keeper> = named.map(|(keeper, _)| keeper).collect();
    let may = |action| caller.require(action, template).is_ok();
    if keepers.is_empty() || !may(Action::Read) || !may(Action::Update) {
        return HashMap::new();
    }
    // Quotas are waited for before records are locked.
    reserve::for_change(template);
    let ids: Vec<Uuid> =
        keepers.iter().filter_map(|it| if let Keeper::Id(id) = it { Some(*id) } else { None }).collect();
    let keys: Vec<&str> =
        keepers.iter().filter_map(|it| if let Keeper::Key(key) = it { Some(*key) } else { None }).collect();
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
            let mut places: HashMap<Uuid, usize> = HashMap::with_capacity(found.len());
            let mut keyed: HashMap<String, usize> = HashMap::with_capacity(found.len());
            for row in (0..found.len()).filter(|row| found.get(*row, 2)) {
                places.insert(found.get(row, 0), row);
                keyed.extend(found.get::<Option<String>>(row, 1).map(|key| (key, row)));
            }
            let place = |keeper: &Keeper| match keeper {
                Keeper::Id(id) => places.get(id),
                Keeper::Key(key) => keyed.get(*key),
                Keeper::None => None,
            };
            let held = |keeper: &&Keeper<'k>| {
                let row = *place(keeper)?;
                Some(((*keeper).clone(), read(template, &found, row, &positions)))
            };
            keepers.iter().filter_map(held).collect()
        })
    })
}

/// The columns that two standard ones and two conditions come before.
fn read(template: &Template, rows: &Rows, row: usize, positions: &[usize]) -> Held {
    let stored = |(column, position): (usize, &usize)| {
        let value = rows.datum(row, 4 + column)?;
        Some((*position, stored(&template.attributes[*position], Some(value))?))
    };
    let values = positions.iter().enumerate().filter_map(stored).collect();
    Held { is_writable: rows.get(row, 3), values }
}

fn stored(attribute: &Attribute, value: Argument) -> Option<Stored> {
    match attribute.target {
        Some(_) => value.map(datum::read_uuid).map(Stored::Reference),
        None => value.and_then(datum::read_text_array).map(Stored::List),
    }
}
