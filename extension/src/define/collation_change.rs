//! Changes the collation of a text's index, and of the policies and views whose conditions name that collation.
//!
//! Policies and views are correct in any collation, but they can use only the index with their collation. So the old
//! index is dropped last.

use super::ddl;
use super::reconcile::{sync_locked, unless_busy};
use super::view::dependents as views;
use crate::access::target::Table;
use crate::access::template_list::TABLES;
use crate::access::{Caller, privileges, table_policies};
use crate::postgres::guard::{as_owner_defining, subtransaction, with_settings};
use crate::postgres::invalidation;
use crate::postgres::parameter::params;
use crate::postgres::raise::OrRaise;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::lock_exclusively;
use crate::postgres::transaction::begin_command;
use crate::template::{Attribute, Template, catalog, index};
use crate::value::table_name::table_sql;
use crate::view::stored::views_about;
use pgrx::pg_sys::Oid;
use std::ffi::CStr;

/// A B-tree on a string.
pub struct TextIndex {
    /// The collation as an SQL name.
    pub collation: String,
    /// `pg_index.indisvalid`.
    pub is_valid: bool,
    /// Its qualified SQL name.
    pub sql: String,
}

impl TextIndex {
    /// Whether it has the collation of an attribute. An attribute without a defined collation matches any.
    pub fn has_collation_of(&self, attribute: &Attribute) -> bool {
        let order = &attribute.collations.order;
        order.is_empty() || self.collation == *order
    }
}

/// The B-trees on the prefix of a string attribute attribute.
pub fn indexes(spi: &Connection, template: &Template, attribute: &Attribute) -> Vec<TextIndex> {
    let sql = format!(
        "select i.\"collation\", i.is_valid, i.sql from ({}) i where i.\"column\" = $2 order by i.sql",
        index::TEXTS
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![template.table, attribute.column]);
    rows.iter().map(|(collation, is_valid, sql)| TextIndex { collation, is_valid, sql }).collect()
}

/// Rebuilds the index of a string attribute in a small table. The table is locked.
pub fn rebuild_index(spi: &Connection, template: &Template, attribute: &Attribute) {
    for former in indexes(spi, template, attribute) {
        spi.script(&format!("drop index {}", former.sql));
    }
    let body = ddl::text_index_body(&template.table_sql(), &attribute.slug, &attribute.collations.order);
    spi.script(&format!("create index {body}"));
    let readers = Readers::of(spi, template, attribute);
    lock_exclusively(&readers.tables());
    recreate(spi, template, &readers);
}

/// Recreates the policies and views that read a string attribute attribute, after its index in the new collation is
/// complete. The lock timeout is short, because other sessions queue behind the request. Returns whether it succeeded.
pub fn try_recreate(template: &Template, attribute: &Attribute) -> bool {
    const LOCK_TIMEOUT: &CStr = c"50ms";
    let body = || {
        as_owner_defining(|| {
            connected(|spi| {
                with_settings(&[(c"lock_timeout", LOCK_TIMEOUT)], || {
                    let readers = Readers::of(spi, template, attribute);
                    let tables = readers.tables();
                    if !tables.is_empty() {
                        spi.script(&format!("lock table {} in access exclusive mode", tables.join(", ")));
                    }
                    // Read again under the lock.
                    catalog::refresh();
                    if let Some(template) = catalog::by_id(template.id) {
                        recreate(spi, &template, &Readers::of(spi, &template, attribute));
                    }
                });
            });
        });
    };
    unless_busy(subtransaction(body)).is_some()
}

/// Recreates policies and views. The tables of the policies are locked.
fn recreate(spi: &Connection, template: &Template, readers: &Readers) {
    // Makes the new index visible.
    invalidation::announce(template.table);
    begin_command();
    catalog::refresh();
    readers.recreate_policies(spi, template.project_id);
    views::sync(spi, &Caller::administrator(), &views_about(spi, template.id)).or_raise();
}

/// The policies of grants that read a column, directly or through their functions.
struct Readers {
    policies: Vec<(String, i32, Table)>,
}

impl Readers {
    fn of(spi: &Connection, template: &Template, attribute: &Attribute) -> Readers {
        let sql = format!(
            "with reader as (select d.classid, d.objid from pg_catalog.pg_depend d \
               where d.refclassid = 'pg_class'::regclass and d.refobjid = $1 and d.refobjsubid = $2), \
             policy as (select r.objid as oid from reader r where r.classid = 'pg_policy'::regclass \
               union select d.objid from reader r join pg_catalog.pg_depend d on d.refclassid = r.classid \
               and d.refobjid = r.objid where r.classid = 'pg_proc'::regclass and d.classid = 'pg_policy'::regclass) \
             select y.polname::text, substring(y.polname::text from '[0-9]+$')::integer, t.id, c.oid, p.slug, t.slug \
             from policy o join pg_catalog.pg_policy y on y.oid = o.oid, {TABLES} \
             where c.oid = y.polrelid and {} order by t.id, y.polname",
            table_policies::is_policy_sql("y")
        );
        let arguments = params![template.table, i32::from(attribute.column)];
        let rows = spi.run_once(&sql, Snapshot::Latest, &arguments);
        let policy = |(name, grant, template, oid, project, slug): (_, _, _, Oid, String, String)| {
            (name, grant, Table { template, oid, sql: table_sql(&project, &slug) })
        };
        Readers { policies: rows.iter().map(policy).collect() }
    }

    /// The tables of the policies, without duplicates.
    fn tables(&self) -> Vec<String> {
        let mut tables: Vec<String> = self.policies.iter().map(|(_, _, table)| table.sql.clone()).collect();
        tables.dedup();
        tables
    }

    /// Drops the policies and creates them again.
    fn recreate_policies(&self, spi: &Connection, project: i32) {
        if !self.policies.is_empty() {
            privileges::lock(project);
        }
        for (name, grant, table) in &self.policies {
            table_policies::drop_named(spi, name, *grant, table.template, &table.sql);
        }
        let mut last = 0;
        for (_, _, table) in &self.policies {
            if table.template != last {
                last = table.template;
                sync_locked(spi, project, table);
            }
        }
    }
}
