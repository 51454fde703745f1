//! Adds positions to the histories of earlier versions, for `keyed.migrate()`, and the indexes of the feed.

use super::ddl;
use crate::access::template_list::TABLES;
use crate::job;
use crate::postgres::invalidation;
use crate::postgres::spi::{Connection, Snapshot};
use crate::postgres::table_lock::{lock_exclusively, max_tables};
use crate::postgres::transaction::begin_command;
use crate::template::{Template, catalog};
use crate::value::table_name::SideTable;
use std::rc::Rc;

/// Adds the column to as many tables as one transaction can lock, and locks all of them first. No row is rewritten; a job
/// builds the index of a large history. The record tables are locked too, so that no session writes without positions.
/// Returns the number of remaining tables.
pub fn add_to_lockable(spi: &Connection) -> usize {
    let sql = format!(
        "select t.id from {TABLES} join pg_catalog.pg_class h on h.oid = {} \
         where not exists (select from pg_catalog.pg_attribute a where a.attrelid = h.oid \
         and a.attname = 'position' and not a.attisdropped) order by t.id",
        SideTable::History.regclass_sql("t.id")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
    let ids: Vec<i32> = rows.column::<i32>().collect();
    let now = &ids[..ids.len().min((max_tables() / 8).max(1))];
    let templates: Vec<Rc<Template>> = now.iter().copied().filter_map(catalog::by_id).collect();
    let tables = templates.iter().flat_map(|it| [it.table_sql(), SideTable::History.sql(it.id)]);
    lock_exclusively(&tables.collect::<Vec<_>>());
    for template in templates {
        pgrx::check_for_interrupts!();
        let history = SideTable::History.sql(template.id);
        spi.script(&ddl::add_position(&history));
        if template.history.is_some_and(|history| job::takes_index_long(spi, history)) {
            job::add_indexes_without_attribute(spi, &template);
        } else {
            ddl::history_indexes(template.id).iter().for_each(|(name, body)| {
                spi.script(&format!("create index {name} {body}"));
            });
        }
        invalidation::announce(template.table);
    }
    begin_command();
    catalog::refresh();
    ids.len() - now.len()
}
