//! Reads existing indexes from the catalog.

use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use pgrx::pg_sys::Oid;

/// An index of one attribute.
pub struct Index {
    /// Its access method.
    pub method: String,
    /// `pg_index.indisvalid`.
    pub is_valid: bool,
    /// Whether it has a predicate.
    pub is_partial: bool,
    /// Its unqualified name.
    pub name: String,
    /// Its qualified SQL name.
    pub sql: String,
}

/// The non-unique indexes on a column or an expression over it, and on no other column but the id.
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

/// The query for the complete B-trees on prefixes of strings and ids in the table `$1`: the number of the column, the
/// collation as an SQL name (empty for that of the database), whether the index is valid, and its qualified SQL name.
pub const TEXTS: &str = "select d.refobjsubid::smallint as \"column\", \
     case l.collname when 'default' then '' \
       else pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(l.collname) end as \"collation\", \
     i.indisvalid as is_valid, i.indexrelid::regclass::text as sql \
     from pg_catalog.pg_index i \
     join pg_catalog.pg_class x on x.oid = i.indexrelid join pg_catalog.pg_am m on m.oid = x.relam and m.amname = 'btree' \
     join pg_catalog.pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid \
     and d.refclassid = 'pg_class'::regclass and d.refobjid = i.indrelid and d.refobjsubid > 1 \
     join pg_catalog.pg_collation l on l.oid = i.indcollation[0] join pg_catalog.pg_namespace n on n.oid = l.collnamespace \
     where i.indrelid = $1 and not i.indisunique and i.indpred is null and i.indnatts = 2 and i.indkey[0] = 0 \
     and i.indkey[1] = 1 and pg_catalog.pg_get_indexdef(i.indexrelid, 1, true) ~ '^\"left\"[(].*, 200[)]$'";
