//! Finds projects and templates, in the session's cache ([`super::session`]) or in the state.
//!
//! The lookup locks the table of the template first, so the template cannot change until the transaction ends. An entry
//! that was read with an older snapshot is invalidated immediately.

use super::Template;
use super::load::load;
use super::session::{self, cache, cached};
pub use super::session::{
    Change, Project, Subscriber, refresh, require_state, set_subscribers, state_exists,
};
use crate::error::{Code, Error};
use crate::postgres::function::{Call, must_not_be_null};
use crate::postgres::guard::as_owner;
use crate::postgres::invalidation;
use crate::postgres::parameter::params;
use crate::postgres::relation::table_name;
pub use crate::postgres::relation::{has_column, table_oid};
use crate::postgres::snapshot;
use crate::postgres::spi::{Connection, Snapshot, connected};
use pgrx::pg_sys::Oid;
use std::rc::Rc;

/// The template of a table.
pub fn by_table(table: Oid) -> Result<Rc<Template>, Error> {
    if let Some(template) = cached(table) {
        return Ok(template);
    }
    let Some((schema, name)) = table_name(table) else { return Err(Error::not_found()) };
    load("p.slug = $1 and t.slug = $2", &params![&schema, &name])
        .filter(|template| template.table == table)
        .map(cache)
        .ok_or_else(|| {
            Error::at(Code::InvalidValue, "/template", format!("{schema}.{name} is not a template")).hint(
                "Create one with keyed.create_template(project, slug, attributes). If the table was restored without \
                 the schema keyed_state, restore the whole database.",
            )
        })
}

/// The template that the first argument of a function names, a `regclass`.
pub fn by_argument(call: &Call) -> Result<Rc<Template>, Error> {
    by_table(call.oid(0).ok_or_else(|| must_not_be_null("template"))?)
}

/// The template with this id.
pub fn by_id(id: i32) -> Option<Rc<Template>> {
    refresh();
    session::table_of(id).and_then(cached).or_else(|| load("t.id = $1", &params![id]).map(cache))
}

/// The CTE of the template `$1` and of those with a path of references to it, for `with recursive`. Filters and views of
/// other templates cannot use the template.
pub const REFERRING: &str = "referring (id) as (select $1::integer union \
     select a.template_id from keyed_state.attribute a join referring on a.target_id = referring.id)";

/// The templates of a project.
pub fn of_project(spi: &Connection, project: i32) -> Vec<Rc<Template>> {
    let rows = spi.run_once(
        "select t.id from keyed_state.template t where t.project_id = $1 order by t.id",
        Snapshot::Latest,
        &params![project],
    );
    let ids: Vec<i32> = rows.column::<i32>().collect();
    ids.into_iter().filter_map(by_id).collect()
}

/// The template with this slug in a project.
pub fn by_slug(project: i32, slug: &str) -> Option<Rc<Template>> {
    refresh();
    let schema = project_by_id(project)?.slug;
    if let Some(template) = table_oid(&schema, slug).and_then(cached) {
        return Some(template);
    }
    let arguments = params![project, slug];
    load("p.id = $1 and t.slug = $2", &arguments).map(cache)
}

/// The project with this slug or id.
pub fn project_by_name_or_id(name: &str) -> Option<Project> {
    let cached = session::cached_project(name);
    cached.or_else(|| {
        require_state();
        let table = session::watch_projects();
        let project = as_owner(|| {
            connected(|spi| {
                let rows = spi.run_once(
                    // Through to_jsonb, because a database that is not migrated lacks the column.
                    "select p.id, p.slug, to_jsonb(p) ->> 'time_zone' from keyed_state.project p \
                     where p.slug = $1 or p.id::text = $1",
                    Snapshot::Latest,
                    &params![name],
                );
                if rows.is_empty() {
                    return None;
                }
                if snapshot::is_fixed() {
                    // An older snapshot may return an outdated row after its invalidation message was processed.
                    invalidation::note(table);
                }
                Some(Project { id: rows.get(0, 0), slug: rows.get(0, 1), time_zone: rows.get(0, 2) })
            })
        })?;
        session::cache_project(name, &project);
        Some(project)
    })
}

/// The project with this id.
pub fn project_by_id(id: i32) -> Option<Project> {
    project_by_name_or_id(&id.to_string())
}

/// The id of the project whose schema contains a table; 0 for none.
pub fn project_of_table(table: Oid) -> i32 {
    let project = table_name(table).and_then(|(schema, _)| project_by_name_or_id(&schema));
    project.map_or(0, |project| project.id)
}
