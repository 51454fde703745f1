//! Existing indexes.

use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use pgrx::pg_sys::Oid;

/// An index of one attribute.
pub struct Index {
    /// Its access method.
    pub method: String,
    /// Whether it is complete.
    pub is_valid: bool,
    /// Whether it holds a part of the records only.
    pub is_partial: bool,
    /// Its name within its schema.
    pub name: String,
    /// Its name as SQL writes it.
    pub sql: String,
}

/// The indexes on a column, by number or in an expression, and on no other but the id; without unique indexes.
pub fn of_column(spi: &Connection, table: Oid, column: i16) -> Vec<Index> {
    let rows = spi.run_once(
        "select m.amname::text, i.indisvalid, i.indpred is not null, x.relname::text, i.indexrelid::regclass::text \
         from pg_catalog.pg_index i \
         join pg_catalog.pg_class x on x.oid = i.indexrelid join pg_catalog.pg_am m on m.oid = x.relam \
         where i.indrelid = $1 and not i.indisunique \
         and exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid \
         and d.refobjid = $1 and d.refobjsubid = $2) \
         and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid \
         and d.refobjid = $1 and d.refobjsubid not in ($2, 1))",
        Snapshot::Latest,
        &params![table, i32::from(column)],
    );
    let index = |(method, is_valid, is_partial, name, sql)| Index { method, is_valid, is_partial, name, sql };
    rows.iter().map(index).collect()
}
