//! Updates rows of keyed's own tables without a statement.
//!
//! For a narrow row, executor start costs as much as the write, and `insert … on conflict do update` also finds the row twice
//! and locks it first. The requirements for the table are those of [`super::insert`]. If another session is writing the row,
//! or the transaction's snapshot is fixed, the caller runs a statement.

use super::compat;
use super::datum::{self, Argument};
use super::direct_access::Unsupported;
use super::index::{self, Found, Index, Which};
use super::insert::{self, ToRow};
use super::memory::Current;
use super::transaction;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};
use uuid::Uuid;

/// The state of the row with a primary key.
enum Present {
    /// It already has these values.
    Same,
    /// It has other values and this TID.
    Other(pg_sys::ItemPointerData),
    /// Another transaction is writing it, or the table has other columns.
    Contended,
}

/// Replaces the row with this UUID primary key, the first column, and makes the new row visible to later commands. An
/// equal row is not written. Returns [`Unsupported`] also if there is no such row. The caller must have locked the table
/// for writing and checked privileges.
pub fn replace_row<R: ToRow>(table: Oid, key: Uuid, row: &R) -> Result<(), Unsupported> {
    if !transaction::may_write() {
        return Err(Unsupported);
    }
    let mut values: Vec<Argument> = vec![None; R::TYPES.len()];
    row.each(|position, value| values[position] = value);
    let key = datum::uuid(key).ok_or(Unsupported)?;
    let inspect = |found: &Found| present(found, &values);
    let columns: [AttrNumber; 1] = [1];
    match index::find_one(table, Index::PrimaryKey, &columns, index::UUID, key, Which::Newest, inspect)? {
        Some(Present::Same) => Ok(()),
        Some(Present::Other(tid)) => update(table, R::TYPES, tid, &values),
        Some(Present::Contended) | None => Err(Unsupported),
    }
}

fn present(found: &Found, values: &[Argument]) -> Present {
    // SAFETY: the slot holds a deformed row of the table.
    let columns = unsafe { (*found.slot()).tts_nvalid as usize };
    if found.is_being_changed() || columns != values.len() {
        return Present::Contended;
    }
    let is_same = |(position, value): (usize, &Argument)| found.holds(position as AttrNumber + 1, *value);
    if values.iter().enumerate().all(is_same) {
        return Present::Same;
    }
    // SAFETY: the slot has the TID of its row.
    Present::Other(unsafe { (*found.slot()).tts_tid })
}

fn update(
    table: Oid,
    types: &[Oid],
    mut tid: pg_sys::ItemPointerData,
    values: &[Argument],
) -> Result<(), Unsupported> {
    let mut nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
    let mut values: Vec<Datum> = values.iter().map(|value| value.unwrap_or(Datum::from(0usize))).collect();
    // SAFETY: as in `insert_rows`. The table is locked by the caller, and open until the row is written. Values and nulls match
    // its columns and types, as `is_plain` has checked. The state is freed as a whole, or with the transaction if an error
    // unwinds. A row that another session has changed since the lookup stays unchanged.
    unsafe {
        let table = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if table.is_null() {
            return Err(Unsupported);
        }
        if !insert::is_plain(table, types) {
            pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
            return Err(Unsupported);
        }
        // Raises an error if a published table lacks a replica identity.
        pg_sys::CheckCmdReplicaIdentity(table, pg_sys::CmdType::CMD_UPDATE);
        let state = pg_sys::CreateExecutorState();
        let of_state = Current::switch_to((*state).es_query_cxt);
        let target = insert::prepare(table, state, None);
        let slot = insert::virtual_slot(state, (*table).rd_att);
        insert::store(slot, values.iter().zip(&nulls).map(|(value, is_null)| (*value, *is_null)));
        if !(*(*table).rd_att).constr.is_null() {
            pg_sys::ExecConstraints(target, slot, state);
        }
        let row = pg_sys::heap_form_tuple((*table).rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
        (*row).t_tableOid = (*table).rd_id;
        let written = compat::update_row(table, &mut tid, row, (*state).es_output_cid);
        if let Some(entries) = written {
            (*slot).tts_tid = (*row).t_self;
            (*slot).tts_tableOid = (*table).rd_id;
            compat::insert_index_entries(target, slot, state, entries);
        }
        pg_sys::ExecCloseIndices(target);
        pg_sys::ExecResetTupleTable((*state).es_tupleTable, false);
        drop(of_state);
        pg_sys::FreeExecutorState(state);
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        written.ok_or(Unsupported)?;
        pg_sys::CommandCounterIncrement();
    }
    Ok(())
}
