//! One record, found by its id or its key, as JSON.

use super::shape::{self, View};
use super::statement::columns;
use crate::access::{Caller, Right};
use crate::error::Error;
use crate::key;
use crate::postgres::datum::{self, Argument};
use crate::postgres::guard::as_owner;
use crate::postgres::index::{self, Equality, Index, Which};
use crate::postgres::spi::{Access, Rows, connected};
use crate::record_id;
use crate::template::{Template, catalog, column};
use pgrx::pg_sys::{self, Oid};
use std::rc::Rc;
use uuid::Uuid;

/// Which of the two states of a record are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Only live records.
    Live,
    /// Deleted records too.
    Any,
}

/// The template of the record that an id names, when the caller has the right there.
pub fn template_of(caller: &Caller, id: Uuid, right: Right) -> Result<Rc<Template>, Error> {
    let template = record_id::template_of(id).and_then(catalog::by_id).ok_or_else(Error::not_found)?;
    caller.require(right, &template)?;
    Ok(template)
}

/// The record with this id.
pub fn by_id(
    template: &Template,
    id: Uuid,
    lifetime: Lifetime,
    view: &View,
    access: Access,
) -> Result<String, Error> {
    if access == Access::Snapshot
        && let Some(found) =
            by_index(template, Index::PrimaryKey, column::ID, index::UUID, datum::uuid(id), lifetime, view)
    {
        return found;
    }
    let condition = match lifetime {
        Lifetime::Live => "t.id = $1 and t.deleted_at is null",
        Lifetime::Any => "t.id = $1",
    };
    one(template, condition, pg_sys::UUIDOID, datum::uuid(id), view, access)
}

/// The live record that holds this key; a key that breaks the rules is held by none.
pub fn by_key(template: &Template, key: &str, view: &View) -> Result<String, Error> {
    let Ok(key) = key::normalize(key) else { return Err(Error::not_found()) };
    let value = datum::text(key);
    if let Some(index) = template.key_index.map(Index::Known)
        && let Some(found) =
            by_index(template, index, column::EXTERNAL_KEY, index::KEY, value, Lifetime::Live, view)
    {
        return found;
    }
    let condition = "t.external_key = $1 and t.deleted_at is null";
    one(template, condition, pg_sys::TEXTOID, value, view, Access::Snapshot)
}

/// The id of the live record that holds this key.
pub fn id_by_key(template: &Template, key: &str) -> Option<Uuid> {
    let sql = format!(
        "select t.id from {} t where t.external_key = $1 and t.deleted_at is null",
        template.table_sql()
    );
    as_owner(|| {
        let plan = template.plan(&sql, || vec![pg_sys::TEXTOID]);
        connected(|spi| {
            let rows = spi.run(&plan, Access::Latest, &[datum::text(key)]);
            (!rows.is_empty()).then(|| rows.get(0, 0).map(datum::read_uuid)).flatten()
        })
    })
}

/// Locks the row that a condition names until the transaction ends, and tells its id: no other can write it then, and
/// every statement from now on sees what was written before.
pub fn lock(template: &Template, condition: &str, parameter: Oid, argument: Argument) -> Option<Uuid> {
    let sql = format!("select t.id from {} t where {condition} for no key update", template.table_sql());
    as_owner(|| {
        let plan = template.plan(&sql, || vec![parameter]);
        connected(|spi| {
            let rows = spi.run(&plan, Access::Latest, &[argument]);
            (!rows.is_empty()).then(|| rows.get(0, 0).map(datum::read_uuid)).flatten()
        })
    })
}

/// The record that an index finds; none when there is no such index, or when more is wanted than the row itself.
fn by_index(
    template: &Template,
    index: Index,
    column: i16,
    equality: Equality,
    value: Argument,
    lifetime: Lifetime,
    view: &View,
) -> Option<Result<String, Error>> {
    let value = value?;
    if view.verbose_for.is_some() {
        return None;
    }
    let record = index::find_one(template.table, index, &[column], equality, value, Which::Only, |found| {
        let columns = |position: usize| match position.checked_sub(shape::STANDARD_COLUMNS) {
            None => found.get(position as i16 + 1),
            Some(position) => found.get(template.attributes[position].column),
        };
        if lifetime == Lifetime::Live && found.get(column::DELETED_AT).is_some() {
            return None;
        }
        let mut out = text_for(template);
        shape::write_open(&mut out, template, &columns, view);
        out.push('}');
        Some(out)
    });
    Some(record.ok()?.flatten().ok_or_else(Error::not_found))
}

fn one(
    template: &Template,
    condition: &str,
    parameter: Oid,
    argument: Argument,
    view: &View,
    access: Access,
) -> Result<String, Error> {
    let sql = format!("select {} from {} t where {condition}", columns(template), template.table_sql());
    as_owner(|| {
        let plan = template.plan(&sql, || vec![parameter]);
        connected(|spi| {
            let rows = spi.run(&plan, access, &[argument]);
            if rows.is_empty() { Err(Error::not_found()) } else { Ok(to_json(template, &rows, 0, view)) }
        })
    })
}

/// One row of [`columns`] as JSON.
pub fn to_json(template: &Template, rows: &Rows, row: usize, view: &View) -> String {
    let columns = |position| rows.get(row, position);
    let mut out = text_for(template);
    shape::write_open(&mut out, template, &columns, view);
    if let Some(caller) = &view.verbose_for {
        super::verbose::write(&mut out, caller, template, &columns, view);
    }
    out.push('}');
    out
}

fn text_for(template: &Template) -> String {
    String::with_capacity(256 + 32 * template.attributes.len())
}
