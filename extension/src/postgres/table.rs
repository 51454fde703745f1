//! A table that is read without a statement: opened, locked, and known to be one that this is safe for.

use super::compat;
use super::direct_access::{self, Unfit};
use pgrx::pg_sys::{self, AttrNumber, Oid, Relation};

/// A table of rows as PostgreSQL itself stores them.
pub struct Table(Relation);

impl Table {
    /// Lends a table, locked as for a SELECT until the transaction ends.
    pub fn with<R>(table: Oid, body: impl FnOnce(&Table) -> Result<R, Unfit>) -> Result<R, Unfit> {
        direct_access::require()?;
        // SAFETY: a table that is gone yields null; what is opened is closed below, and by the resource owner when an
        // error unwinds.
        unsafe {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let relation = pg_sys::try_table_open(table, lock);
            if relation.is_null() {
                return Err(Unfit);
            }
            // Where snapshots become too old, the executor looks at each page for that. A row does not contain what is
            // computed when it is read.
            // Only a statement applies policies that are forced upon the owner too.
            let fits = (*(*relation).rd_rel).relam == pg_sys::HEAP_TABLE_AM_OID
                && !(*(*relation).rd_rel).relforcerowsecurity
                && !compat::has_virtual_columns((*relation).rd_att)
                && !compat::snapshots_age();
            let result = if fits { body(&Table(relation)) } else { Err(Unfit) };
            pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
            result
        }
    }

    /// The open table.
    pub(super) fn relation(&self) -> Relation {
        self.0
    }

    /// Its number.
    pub fn oid(&self) -> Oid {
        // SAFETY: the table is open.
        unsafe { (*self.0).rd_id }
    }

    /// How many columns it has, dropped ones among them.
    pub(super) fn columns(&self) -> usize {
        // SAFETY: the table is open.
        unsafe { (*(*self.0).rd_att).natts as usize }
    }

    /// Whether a column has the collation of the database, by which texts are the same only if their bytes are.
    pub fn has_database_collation(&self, column: AttrNumber) -> bool {
        let is_column = (1..=self.columns()).contains(&(column as usize));
        // SAFETY: the table is open, and describes its columns.
        is_column
            && unsafe {
                compat::column((*self.relation()).rd_att, column as usize - 1).attcollation
                    == pg_sys::DEFAULT_COLLATION_OID
            }
    }

    /// How many pages it has.
    pub fn pages(&self) -> u32 {
        // SAFETY: the table is open.
        unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.relation(), pg_sys::ForkNumber::MAIN_FORKNUM) }
    }
}
