//! Drops templates and projects.

use super::dependents;
use crate::access::{Caller, definition_lock, table_policies};
use crate::error::{Code, Error};
use crate::postgres::guard::{as_owner_defining, subtransaction, with_settings};
use crate::postgres::parameter::params;
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::{self, lock_with_views};
use crate::quota::{count, usage};
use crate::template::catalog::{self, Project};
use crate::template::{Template, in_use};
use crate::value::quote::identifier;
use crate::value::table_name::SideTable;
use pgrx::pg_sys;
use pgrx::prelude::PgSqlErrorCode;
use std::rc::Rc;

/// The tables of a template.
fn tables_of(template: &Template) -> [String; 5] {
    [
        SideTable::History.sql(template.id),
        SideTable::Series.sql(template.id),
        SideTable::Documents.sql(template.id),
        SideTable::Vectors.sql(template.id),
        template.table_sql(),
    ]
}

/// Whether a template has live records.
fn has_live_records(spi: &Connection, template: &Template) -> bool {
    let sql = format!("select from {} t where t.deleted_at is null limit 1", template.table_sql());
    !spi.run_once(&sql, Snapshot::Latest, &[]).is_empty()
}

/// Drops a template with its table, history and series. A template with live records is dropped only with
/// `with_records`. A template to which others refer is not dropped.
pub fn drop_template(template: &Template, with_records: bool) -> Result<(), Error> {
    Caller::current().require_define(template)?;
    let name = template.full_name();
    let outcome = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                let table = template.table_sql();
                // Dropping foreign keys locks the referenced tables.
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
                if with_records && let Err(error) = count::release(template, usage::live_in(spi, &table)) {
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

/// Drops a project with its schema, templates, views, endpoints, grants and quotas. A project with live records is
/// dropped only with `with_records`. A project is not dropped if others created objects in its schema. API keys lose the
/// project; keys without another project are revoked.
pub fn drop_project(name: &str, with_records: bool) -> Result<(), Error> {
    let caller = Caller::current();
    caller.require_admin("drop projects")?;
    catalog::require_state();
    catalog::refresh();
    let find = || {
        catalog::project_by_name_or_id(name)
            .filter(|project| caller.can_access_project(project.id))
            .ok_or_else(|| Error::new(Code::NotFound, format!("project {name:?} does not exist")))
    };
    definition_lock::one_at_a_time(find()?.id, || drop_locked(&find()?, with_records))
}

fn drop_locked(project: &Project, with_records: bool) -> Result<(), Error> {
    let schema = identifier(&project.slug);
    let outcome = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                check_lock_count(spi, project);
                let templates = catalog::of_project(spi, project.id);
                lock_all(spi, &templates);
                if let Some(template) = templates.iter().find(|template| has_live_records(spi, template))
                    && !with_records
                {
                    Error::new(Code::Conflict, format!("{} has live records", template.full_name()))
                        .hint("Delete them first, or call keyed.drop_project(project, with_records => true).")
                        .raise();
                }
                drop_all(spi, &templates);
                let id = params![project.id];
                for sql in [
                    // Attributes first, because they may refer to templates in a cycle.
                    "delete from keyed_state.attribute a using keyed_state.template t \
                     where a.template_id = t.id and t.project_id = $1",
                    "delete from keyed_state.template where project_id = $1",
                    // A key without projects would be valid for all projects.
                    "update keyed_state.api_key set projects = pg_catalog.array_remove(projects, $1), \
                     revoked_at = case when projects = array[$1] then coalesce(revoked_at, pg_catalog.now()) \
                     else revoked_at end where $1 = any (projects)",
                    // Cascades to views, endpoints, grants and quotas.
                    "delete from keyed_state.project where id = $1",
                ] {
                    spi.run_once(sql, Snapshot::Latest, &id);
                }
                spi.script(&format!("drop schema {schema} restrict"));
            });
        });
    });
    outcome.catch(|caught| {
        let is_in_use = caught.state == PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST;
        is_in_use.then(|| in_use::schema_error(&project.slug, caught))
    })
}

/// Rejects a project whose removal needs more locks than one transaction can take: each template has five tables with
/// indexes.
fn check_lock_count(spi: &Connection, project: &Project) {
    let sql = format!(
        "select count(*) from keyed_state.template t, \
           unnest(array[pg_catalog.to_regclass(format('%I.%I', $2, t.slug)), {}]) c (oid) \
         where t.project_id = $1 and c.oid is not null",
        SideTable::ALL.map(|table| table.regclass_sql("t.id")).join(", ")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![project.id, &project.slug]);
    let locks = rows.get::<Option<i64>>(0, 0).unwrap_or_default() * 4;
    if locks > (table_lock::max_tables() * 6) as i64 {
        let message =
            format!("project {} has too many templates to be dropped in one transaction", project.slug);
        Error::new(Code::PayloadTooLarge, message)
            .hint(
                "Drop most of its templates first, each in a separate transaction: \
                 keyed.drop_template(template).",
            )
            .raise();
    }
}

fn lock_all(spi: &Connection, templates: &[Rc<Template>]) {
    let tables: Vec<String> = templates.iter().map(|template| template.table_sql()).collect();
    let mut views: Vec<pg_sys::Oid> =
        templates.iter().flat_map(|template| dependents::relations(spi, template)).collect();
    views.sort_unstable_by_key(|view| view.to_u32());
    views.dedup();
    lock_with_views(&tables, &views);
}

/// Drops the tables of all templates in one statement, because they may refer to each other in a cycle.
fn drop_all(spi: &Connection, templates: &[Rc<Template>]) {
    for template in templates {
        dependents::before_drop(spi, template);
        drop_policies(spi, template);
    }
    for template in templates {
        table_policies::drop_functions_of(spi, template.id);
    }
    let tables: Vec<String> = templates.iter().flat_map(|template| tables_of(template)).collect();
    if !tables.is_empty() {
        // Suppresses notices about objects that do not exist.
        with_settings(&[(c"client_min_messages", c"warning")], || {
            spi.script(&format!("drop table if exists {}", tables.join(", ")));
        });
    }
    for template in templates {
        dependents::after_removal(spi, template);
    }
}

/// Drops the policies of a table, because their functions read other tables of the project.
fn drop_policies(spi: &Connection, template: &Template) {
    let table = template.table_sql();
    let rows = spi.run_once(
        "select pg_catalog.quote_ident(p.polname) from pg_catalog.pg_policy p where p.polrelid = $1",
        Snapshot::Latest,
        &params![template.table],
    );
    let names: Vec<String> = rows.column::<String>().collect();
    for name in names {
        spi.script(&format!("drop policy {name} on {table}"));
    }
}
