//! Converts tables of older versions, without a column for released keys, for `keyed.migrate()`.

use super::ddl;
use crate::access::table_policies;
use crate::access::template_list::TABLES;
use crate::postgres::parameter::params;
use crate::postgres::raise::OrRaise;
use crate::postgres::spi::{Connection, Snapshot};
use crate::postgres::table_lock::{lock_exclusively, max_tables};
use crate::postgres::transaction::begin_command;
use crate::template::{Template, catalog, column};
use std::rc::Rc;

/// Migration 18: adds the column and the index to tables, and moves the keys of deleted records. It converts as many
/// tables as one transaction can lock, and locks all of them first. Returns the number of remaining tables.
pub fn convert_batch(spi: &Connection) -> usize {
    let sql = format!(
        "select t.id from {TABLES} where not exists (select from pg_catalog.pg_attribute a where a.attrelid = c.oid \
         and a.attname = '{}' and not a.attisdropped) order by t.id",
        column::RELEASED_KEY
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
    let ids: Vec<i32> = rows.column::<i32>().collect();
    let now = &ids[..ids.len().min(max_tables() / 4)];
    let old: Vec<Rc<Template>> = now.iter().copied().filter_map(catalog::by_id).collect();
    lock_exclusively(&old.iter().map(|template| template.table_sql()).collect::<Vec<_>>());
    for template in old {
        pgrx::check_for_interrupts!();
        convert(spi, &template);
        // Makes the new column visible.
        begin_command();
        catalog::refresh();
        let Some(template) = catalog::by_id(template.id) else { continue };
        table_policies::alter_deletion_policies(spi, &template).or_raise();
    }
    ids.len() - now.len()
}

fn convert(spi: &Connection, template: &Template) {
    let (table, released) = (template.table_sql(), column::RELEASED_KEY);
    spi.script(&format!(
        "alter table {table} add column {}; {}",
        ddl::released_key_column(),
        ddl::comment_on_released_key(&table)
    ));
    // The displayed keys do not change, so the triggers write no history.
    spi.script(&format!(
        "update {table} set {released} = external_key, external_key = null \
         where deleted_at is not null and external_key is not null"
    ));
    for index in old_indexes(spi, template) {
        spi.script(&format!("drop index {index}"));
    }
    spi.script(&ddl::key_index(&table));
}

/// The old unique indexes on keys, as qualified SQL names.
fn old_indexes(spi: &Connection, template: &Template) -> Vec<String> {
    let rows = spi.run_once(
        "select format('%I.%I', n.nspname, c.relname) from pg_catalog.pg_index i \
         join pg_catalog.pg_class c on c.oid = i.indexrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
         where i.indrelid = $1 and i.indisunique and i.indnatts = 1 and i.indkey[0] = 2 \
         and pg_get_expr(i.indpred, i.indrelid) = '((deleted_at IS NULL) AND (external_key IS NOT NULL))'",
        Snapshot::Latest,
        &params![template.table],
    );
    rows.column::<String>().collect()
}
