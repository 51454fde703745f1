//! How many entries an index has for a value, without a statement and without a look at the rows.

use super::compat;
use super::direct_access::Unfit;
use super::ordered_index::IndexedValue;
use super::parameter::Parameter;
use super::table::Table;
use pgrx::pg_sys::{self, Oid};

impl Table {
    /// How many entries the index of a value and the ids has for this value, up to a number, including those
    /// of dead rows.
    pub fn index_entries(&self, indexed: IndexedValue, value: Parameter, max: u64) -> Result<u64, Unfit> {
        let (Some(equals), Some(datum)) = (equals(value.type_oid()), value.value()) else {
            return Err(Unfit);
        };
        // SAFETY: the table is open. The index is one of it whose first column has the type of the value, and of whose operators
        // `equals` is one; scan and index are closed below, and by the resource owner when an error unwinds.
        unsafe {
            let index = self.open_index_of(indexed)?;
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            if *(*index).rd_opcintype != value.type_oid() {
                pg_sys::relation_close(index, lock);
                return Err(Unfit);
            }
            let mut key = pg_sys::ScanKeyData::default();
            pg_sys::ScanKeyEntryInitialize(
                &mut key,
                0,
                1,
                pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber,
                Oid::INVALID,
                *(*index).rd_indcollation,
                equals,
                datum,
            );
            let scan = compat::begin_index_scan(self.relation(), index, 1);
            pg_sys::index_rescan(scan, &mut key, 1, std::ptr::null_mut(), 0);
            let mut count = 0;
            while count < max
                && !pg_sys::index_getnext_tid(scan, pg_sys::ScanDirection::ForwardScanDirection).is_null()
            {
                count += 1;
            }
            pg_sys::index_endscan(scan);
            pg_sys::relation_close(index, lock);
            Ok(count)
        }
    }
}

/// The function behind `=` of a type.
fn equals(type_oid: Oid) -> Option<Oid> {
    let function = match type_oid {
        pg_sys::TEXTOID => pg_sys::F_TEXTEQ,
        pg_sys::NUMERICOID => pg_sys::F_NUMERIC_EQ,
        pg_sys::FLOAT8OID => pg_sys::F_FLOAT8EQ,
        pg_sys::DATEOID => pg_sys::F_DATE_EQ,
        pg_sys::TIMESTAMPTZOID => pg_sys::F_TIMESTAMPTZ_EQ,
        pg_sys::UUIDOID => pg_sys::F_UUID_EQ,
        pg_sys::BOOLOID => pg_sys::F_BOOLEQ,
        _ => return None,
    };
    Some(Oid::from(function))
}
