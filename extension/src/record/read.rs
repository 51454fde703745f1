//! Looks up one record by its id or its key, as JSON.
//!
//! A lookup runs no statement: it scans the index like the executor (`postgres/index.rs`), which takes a third less time,
//! and evaluates the caller's scope on the row (`postgres/condition.rs`). So there is no plan for each role, and the cost
//! does not depend on the length of the table's ACL. A scope that reads other tables needs a statement.

use super::released;
use super::shape::{self, Projection};
use super::shown::{self, Rendered};
use super::statement::{columns, columns_of_any};
use crate::access::visibility::{self, WriteScope, and, condition_column};
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::postgres::datum::{self, Argument};
use crate::postgres::direct_access::Unsupported;
use crate::postgres::guard::as_owner;
use crate::postgres::index::{self, Equality, Found, Index, Which};
use crate::postgres::parameter::{IntoParameter, Parameter, array};
use crate::postgres::spi::{Rows, Snapshot, connected};
use crate::template::{Template, catalog, column};
use crate::value::{key, record_id};
use pgrx::pg_sys::Datum;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use uuid::Uuid;

/// The states of records that a lookup includes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Only live records.
    Live,
    /// Live and deleted records.
    Any,
}

/// The template of the record with this id, if the caller has the privilege on it.
pub fn template_of(caller: &Caller, id: Uuid, action: Action) -> Result<Rc<Template>, Error> {
    let template = record_id::template_of(id).and_then(catalog::by_id).ok_or_else(Error::not_found)?;
    caller.require(action, &template)?;
    Ok(template)
}

/// The record with this id, if it satisfies the condition `visible`.
pub fn by_id(
    template: &Template,
    id: Uuid,
    visible: Option<&str>,
    lifetime: Lifetime,
    projection: &Projection,
    snapshot: Snapshot,
) -> Result<Rendered, Error> {
    let by = By { index: Index::PrimaryKey, column: column::ID, equality: index::UUID };
    if snapshot == Snapshot::Active
        && let Some(found) = by_index(template, by, datum::uuid(id), visible, lifetime, projection)
    {
        return found;
    }
    let condition = match lifetime {
        Lifetime::Live => "t.id = $1 and t.deleted_at is null",
        Lifetime::Any => "t.id = $1",
    };
    let columns = match lifetime {
        Lifetime::Live => columns(template),
        Lifetime::Any => columns_of_any(template),
    };
    let condition = format!("{condition}{}", and(visible));
    one(template, &columns, &condition, id.into_parameter(), projection, snapshot)
}

/// The live record with this key, if it satisfies the condition `visible`. An invalid key is reported as not found.
pub fn by_key(
    template: &Template,
    key: &str,
    visible: Option<&str>,
    projection: &Projection,
) -> Result<Rendered, Error> {
    let Ok(key) = key::normalize(key) else { return Err(Error::not_found()) };
    let key = key.into_parameter();
    if let Some(index) = template.key_index.map(Index::Known)
        && let by = (By { index, column: column::EXTERNAL_KEY, equality: index::KEY })
        && let Some(found) = by_index(template, by, key.value(), visible, Lifetime::Live, projection)
    {
        return found;
    }
    let condition = format!("t.external_key = $1 and t.deleted_at is null{}", and(visible));
    one(template, &columns(template), &condition, key, projection, Snapshot::Active)
}

/// A record with the privileges of the caller.
#[derive(Clone, Copy, Debug)]
pub struct FoundRecord {
    /// Its id.
    pub id: Uuid,
    /// Whether it is visible to the caller.
    pub is_visible: bool,
    /// Whether the caller may write it.
    pub is_writable: bool,
}

/// The id of the live record with this key, regardless of the caller.
pub fn id_by_key(template: &Template, key: &str) -> Option<Uuid> {
    holder(template, key, &WriteScope::default()).map(|found| found.id)
}

/// The record with this id, deleted or not.
pub fn by_id_in_scope(template: &Template, id: Uuid, write_scope: &WriteScope) -> Option<FoundRecord> {
    found(template, "t.id = $1", "", write_scope, id.into_parameter())
}

/// The live record with this key.
pub fn holder(template: &Template, key: &str, write_scope: &WriteScope) -> Option<FoundRecord> {
    let condition = "t.external_key = $1 and t.deleted_at is null";
    found(template, condition, "", write_scope, key.into_parameter())
}

/// Locks the row that satisfies a condition until the transaction ends. No other transaction can write it, and earlier
/// writes are visible to all following statements.
pub fn lock(
    template: &Template,
    condition: &str,
    write_scope: &WriteScope,
    argument: Parameter,
) -> Option<FoundRecord> {
    found(template, condition, " for no key update", write_scope, argument)
}

fn found(
    template: &Template,
    condition: &str,
    locking: &str,
    write_scope: &WriteScope,
    argument: Parameter,
) -> Option<FoundRecord> {
    let condition_columns = match write_scope.is_open() {
        true => String::new(),
        false => {
            condition_column(write_scope.visible.as_deref())
                + &condition_column(write_scope.writable.as_deref())
        }
    };
    let sql =
        format!("select t.id{condition_columns} from {} t where {condition}{locking}", template.table_sql());
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &[argument]);
            let id = rows.value()?;
            let holds = |column| write_scope.is_open() || rows.get(0, column);
            Some(FoundRecord { id, is_visible: holds(1), is_writable: holds(2) })
        })
    })
}

/// Requires that the live or deleted record with this id is visible to the caller.
pub fn require_visible(caller: &Caller, template: &Template, id: Uuid) -> Result<(), Error> {
    let Some(visible) = visibility::row_of_any(caller, template) else { return Ok(()) };
    let write_scope = WriteScope { visible: Some(visible), writable: None };
    by_id_in_scope(template, id, &write_scope)
        .filter(|it| it.is_visible)
        .map(|_| ())
        .ok_or_else(Error::not_found)
}

/// The index and column of a lookup.
struct By {
    index: Index,
    column: i16,
    equality: Equality,
}

/// The record that an index scan finds, if it satisfies the condition. `None` if a statement is needed: without the index,
/// or if the condition or the projection reads other rows.
fn by_index(
    template: &Template,
    by: By,
    value: Argument,
    visible: Option<&str>,
    lifetime: Lifetime,
    projection: &Projection,
) -> Option<Result<Rendered, Error>> {
    let value = value?;
    if projection.runs_statements() {
        return None;
    }
    let visible = match visible {
        Some(visible) => Some(template.condition(visible)?),
        None => None,
    };
    let By { index, column, equality } = by;
    let record = index::find_one(template.table, index, &[column], equality, value, Which::Only, |found| {
        if visible.as_ref().is_some_and(|visible| !visible.ready().holds_for(found)) {
            return None;
        }
        if lifetime == Lifetime::Live && found.get(column::DELETED_AT).is_some() {
            return None;
        }
        Some(Rendered::of(template, &columns_of(template, found), projection))
    });
    Some(record.ok()?.flatten().ok_or_else(Error::not_found))
}

fn one(
    template: &Template,
    columns: &str,
    condition: &str,
    argument: Parameter,
    projection: &Projection,
    snapshot: Snapshot,
) -> Result<Rendered, Error> {
    let sql = format!("select {columns} from {} t where {condition}", template.table_sql());
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, snapshot, &[argument]);
            if rows.is_empty() { Err(Error::not_found()) } else { Ok(shown(template, &rows, 0, projection)) }
        })
    })
}

/// Passes the records with these ids that satisfy the condition over `t` to `read`, as JSON with the position of the id,
/// until `read` returns false. An error if a statement is needed.
pub fn each_by_id(
    template: &Template,
    ids: impl Iterator<Item = Uuid>,
    condition: &str,
    projection: &Projection,
    mut read: impl FnMut(usize, String) -> bool,
) -> Result<(), Unsupported> {
    if projection.runs_statements() {
        return Err(Unsupported);
    }
    let condition = template.condition(condition).ok_or(Unsupported)?;
    let condition = condition.ready();
    let ids = ids.filter_map(datum::uuid);
    index::find_each(template.table, Index::PrimaryKey, &[column::ID], index::UUID, ids, |position, found| {
        !condition.holds_for(found)
            || read(position, shown::render(template, &columns_of(template, found), projection))
    })
}

/// Passes the live records with these keys, which must be normalized and distinct, that satisfy the condition `visible` to
/// `read`, as JSON with the position of the key, until `read` returns false.
pub fn each_by_key(
    template: &Template,
    keys: &[&str],
    visible: Option<&str>,
    projection: &Projection,
    mut read: impl FnMut(usize, String) -> bool,
) {
    if each_by_key_index(template, keys, visible, projection, &mut read).is_ok() {
        return;
    }
    let sql = format!(
        "select {} from {} t where t.external_key = any ($1) and t.deleted_at is null{}",
        columns(template),
        template.table_sql(),
        and(visible)
    );
    let positions: HashMap<&str, usize> =
        keys.iter().enumerate().map(|(position, key)| (*key, position)).collect();
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Active, &[array(keys.iter().copied())]);
            for row in 0..rows.len() {
                let key = rows.get::<Option<String>>(row, KEY);
                let Some(position) = key.and_then(|key| positions.get(key.as_str())) else { continue };
                if !read(*position, to_json(template, &rows, row, projection)) {
                    break;
                }
            }
        });
    });
}

fn each_by_key_index(
    template: &Template,
    keys: &[&str],
    visible: Option<&str>,
    projection: &Projection,
    read: &mut impl FnMut(usize, String) -> bool,
) -> Result<(), Unsupported> {
    if projection.runs_statements() {
        return Err(Unsupported);
    }
    let index = template.key_index.map(Index::Known).ok_or(Unsupported)?;
    let visible = visible.map(|visible| template.condition(visible).ok_or(Unsupported)).transpose()?;
    let visible = visible.as_ref().map(|visible| visible.ready());
    let values = keys.iter().filter_map(|key| datum::text(key));
    index::find_each(template.table, index, &[column::EXTERNAL_KEY], index::KEY, values, |position, found| {
        if visible.as_ref().is_some_and(|visible| !visible.holds_for(found))
            || found.get(column::DELETED_AT).is_some()
        {
            return true;
        }
        read(position, shown::render(template, &columns_of(template, found), projection))
    })
}

/// Filters live records by a condition over `t`.
pub fn passing(template: &Template, ids: &[Uuid], condition: &str) -> HashSet<Uuid> {
    let mut passing = HashSet::with_capacity(ids.len());
    let direct = template.condition(condition).ok_or(Unsupported).and_then(|condition| {
        let condition = condition.ready();
        let values = ids.iter().copied().filter_map(datum::uuid);
        index::find_each(
            template.table,
            Index::PrimaryKey,
            &[column::ID],
            index::UUID,
            values,
            |position, found| {
                if condition.holds_for(found) {
                    passing.insert(ids[position]);
                }
                true
            },
        )
    });
    if direct.is_err() {
        let sql =
            format!("select t.id from {} t where t.id = any ($1) and {condition}", template.table_sql());
        passing = connected(|spi| {
            spi.run_once(&sql, Snapshot::Active, &[array(ids.iter().copied())]).column::<Uuid>().collect()
        });
    }
    passing
}

/// The position of the key in [`columns`].
const KEY: usize = column::EXTERNAL_KEY as usize - 1;

/// The columns of a record in a row that an index scan found.
fn columns_of<'f>(template: &'f Template, found: &'f Found) -> impl Fn(usize) -> Option<Datum> + 'f {
    |position| match position.checked_sub(shape::STANDARD_COLUMNS) {
        None if position == KEY => released::shown(template, |number| found.get(number)),
        None => found.get(position as i16 + 1),
        Some(position) => found.get(template.attributes[position].column),
    }
}

/// A row of [`columns`] as a response.
pub fn shown(template: &Template, rows: &Rows, row: usize, projection: &Projection) -> Rendered {
    Rendered::of(template, &|position| rows.datum(row, position), projection)
}

/// A row of [`columns`] as JSON.
pub fn to_json(template: &Template, rows: &Rows, row: usize, projection: &Projection) -> String {
    shown::render(template, &|position| rows.datum(row, position), projection)
}
