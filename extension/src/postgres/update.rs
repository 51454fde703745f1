//! Puts a row of keyed's own tables in place of another without a statement.
//!
//! For a narrow row, starting the executor costs as much as the write; `insert … on conflict do update` also looks for the
//! row twice and locks it first. The same tables are fit for it as for [`super::insert`]. Where another session is
//! writing the row, or the transaction's snapshot is fixed, a statement decides.

use super::compat;
use super::datum::{self, Argument};
use super::direct_access::Unfit;
use super::index::{self, Found, Index, Which};
use super::insert::{self, ToRow};
use super::memory::Current;
use super::transaction;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};
use uuid::Uuid;

/// What is known of the row with a primary key.
enum Present {
    /// It has these values.
    Same,
    /// It has others, and is here.
    Other(pg_sys::ItemPointerData),
    /// Another transaction is writing it, or the table is another.
    Contended,
}

/// Makes the row with this primary key, a `uuid` in the first column, this one, and makes that visible to what follows. An equal
/// row is not written. Unfit where there is no such row, too. The table must be locked for writing by the caller, who has also seen
/// to rights.
pub fn replace_row<R: ToRow>(table: Oid, key: Uuid, row: &R) -> Result<(), Unfit> {
    if !transaction::may_write() {
        return Err(Unfit);
    }
    let mut values: Vec<Argument> = vec![None; R::TYPES.len()];
    row.each(|position, value| values[position] = value);
    let key = datum::uuid(key).ok_or(Unfit)?;
    let look = |found: &Found| present(found, &values);
    let columns: [AttrNumber; 1] = [1];
    match index::find_one(table, Index::PrimaryKey, &columns, index::UUID, key, Which::Newest, look)? {
        Some(Present::Same) => Ok(()),
        Some(Present::Other(place)) => update(table, R::TYPES, place, &values),
        Some(Present::Contended) | None => Err(Unfit),
    }
}

fn present(found: &Found, values: &[Argument]) -> Present {
    // SAFETY: the slot of a table holds a row of it, taken apart.
    let columns = unsafe { (*found.slot()).tts_nvalid as usize };
    if found.is_being_changed() || columns != values.len() {
        return Present::Contended;
    }
    let is_same = |(position, value): (usize, &Argument)| found.holds(position as AttrNumber + 1, *value);
    if values.iter().enumerate().all(is_same) {
        return Present::Same;
    }
    // SAFETY: the slot of a table says where its row is.
    Present::Other(unsafe { (*found.slot()).tts_tid })
}

fn update(
    table: Oid,
    types: &[Oid],
    mut place: pg_sys::ItemPointerData,
    values: &[Argument],
) -> Result<(), Unfit> {
    let mut nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
    let mut values: Vec<Datum> = values.iter().map(|value| value.unwrap_or(Datum::from(0usize))).collect();
    // SAFETY: as in `insert_rows`: the table is locked by the caller and kept open until the row is in; values and nulls are as
    // many as its columns, of their types, which `is_plain` has seen; the state is freed as a whole, or with the transaction when
    // an error unwinds. A row that another session changed since it was found stays as it is.
    unsafe {
        let table = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if table.is_null() {
            return Err(Unfit);
        }
        if !insert::is_plain(table, types) {
            pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
            return Err(Unfit);
        }
        // Where the table is published without an identity that fits.
        pg_sys::CheckCmdReplicaIdentity(table, pg_sys::CmdType::CMD_UPDATE);
        let state = pg_sys::CreateExecutorState();
        let of_state = Current::switch_to((*state).es_query_cxt);
        let target = insert::prepare(table, state);
        let slot = insert::virtual_slot(state, (*table).rd_att);
        insert::store(slot, values.iter().zip(&nulls).map(|(value, is_null)| (*value, *is_null)));
        if !(*(*table).rd_att).constr.is_null() {
            pg_sys::ExecConstraints(target, slot, state);
        }
        let row = pg_sys::heap_form_tuple((*table).rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
        (*row).t_tableOid = (*table).rd_id;
        let written = compat::update_row(table, &mut place, row, (*state).es_output_cid);
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
        written.ok_or(Unfit)?;
        pg_sys::CommandCounterIncrement();
    }
    Ok(())
}
