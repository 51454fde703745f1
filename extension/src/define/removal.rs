//! Drops a template.

use super::dependents;
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::guard::{as_owner_defining, subtransaction, with_settings};
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::lock_with_views;
use crate::quota::{count, usage};
use crate::template::{Template, catalog, in_use};
use crate::value::table_name::SideTable;
use pgrx::prelude::PgSqlErrorCode;

/// The tables of a template.
pub(crate) fn tables_of(template: &Template) -> [String; 5] {
    [
        SideTable::History.sql(template.id),
        SideTable::Series.sql(template.id),
        SideTable::Documents.sql(template.id),
        SideTable::Vectors.sql(template.id),
        template.table_sql(),
    ]
}

/// Whether a template has live records.
pub(crate) fn has_live_records(spi: &Connection, template: &Template) -> bool {
    let sql = format!("select from {} t where t.deleted_at is null limit 1", template.table_sql());
    !spi.run_once(&sql, Snapshot::Latest, &[]).is_empty()
}

/// Removes a template with its table, history and series. One that holds live records is kept unless
/// `with_records` says otherwise; one that others refer to is kept in any case.
pub fn drop_template(template: &Template, with_records: bool) -> Result<(), Error> {
    Caller::current().require_define(template)?;
    let name = template.full_name();
    let outcome = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                let table = template.table_sql();
                // With the table go its foreign keys, for which PostgreSQL locks what they refer to.
                let targets =
                    template.attributes.iter().filter_map(|attribute| catalog::by_id(attribute.target?));
                let mut tables: Vec<String> = targets.map(|target| target.table_sql()).collect();
                tables.push(table.clone());
                lock_with_views(&tables, &dependents::relations(spi, template));
                if !with_records && has_live_records(spi, template) {
                    Error::new(Code::Conflict, format!("{name} has live records"))
                        .hint(
                            "Delete them first, or call keyed.drop_template(template, with_records => true).",
                        )
                        .raise();
                }
                if with_records && let Err(error) = count::give_back(template, usage::live_in(spi, &table)) {
                    error.raise();
                }
                let statements = format!(
                    "drop table if exists {}; delete from keyed_state.template where id = {}",
                    tables_of(template).join(", "),
                    template.id
                );
                dependents::before_drop(spi, template);
                // Suppresses notices about objects that do not exist.
                with_settings(&[(c"client_min_messages", c"warning")], || spi.script(&statements));
                dependents::after_removal(spi, template);
            });
        });
    });
    outcome.catch(|caught| match caught.state {
        PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST
        | PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION => Some(in_use::error(&name, template.table, caught)),
        _ => None,
    })
}
