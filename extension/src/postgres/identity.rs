//! Numbers of identity columns, for rows that are inserted without a statement.

use super::direct_access::Unfit;
use super::{compat, datum};
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};

/// The sequence behind an identity column of a table. PostgreSQL looks through its dependencies for it, which takes longer
/// than an insert: keep it with the definition.
pub fn sequence(table: Oid, column: AttrNumber) -> Option<Oid> {
    // SAFETY: a table that is gone yields null; the lock is that of a reader, and is kept.
    let sequence = unsafe {
        let table = pg_sys::try_table_open(table, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        if table.is_null() {
            return None;
        }
        let sequence = compat::identity_sequence(table, column);
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        sequence
    };
    (sequence != Oid::INVALID).then_some(sequence)
}

/// The next number of a sequence, which the current role must have the right to. Unfit where it is gone: the column may have another one since.
pub fn next(sequence: Oid) -> Result<i64, Unfit> {
    // SAFETY: asks the catalog, then the sequence, as `nextval` in a statement does.
    unsafe {
        if pg_sys::get_rel_relkind(sequence) as u8 != pg_sys::RELKIND_SEQUENCE {
            return Err(Unfit);
        }
        let next = pgrx::direct_function_call_as_datum(pg_sys::nextval_oid, &[Some(Datum::from(sequence))]);
        next.map(datum::read_i64).ok_or(Unfit)
    }
}
