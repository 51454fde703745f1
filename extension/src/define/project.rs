//! Creates projects, and sets their time zone.

use super::view::dependents;
use super::{ddl, setup};
use crate::access::{Caller, definition_lock};
use crate::error::{Code, Error};
use crate::postgres::guard::{as_owner_defining, subtransaction};
use crate::postgres::parameter::params;
use crate::postgres::role;
use crate::postgres::snapshot;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::transaction::begin_command;
use crate::search::query::time_zone;
use crate::template::catalog;
use crate::value::slug::{self, Noun};
use crate::view::stored;
use pgrx::prelude::PgSqlErrorCode;

/// Creates a project and its schema. Returns its number.
pub fn create(slug: &str, name: Option<&str>, zone: Option<&str>) -> Result<i32, Error> {
    let caller = Caller::current();
    caller.require_admin("create projects")?;
    caller.require_all_projects("create projects")?;
    let zone = zone.map(time_zone::check).transpose()?;
    slug::check(Noun::Project, slug, "/slug")?;
    // CREATE on the database is not in a dump of one database, so it may be missing after a restore.
    if role::find(role::OWNER).is_none() || !catalog::state_exists() || !owner_may_create_schemas() {
        setup::init(false, None)?;
    }
    catalog::refresh();
    let name = name.unwrap_or(slug);
    let taken = || {
        let error = Error::at(Code::Conflict, "/slug", format!("schema {slug:?} already exists")).hint(
            "Choose another slug. If the schema came from pg_dump --schema, the definitions of its \
             templates are missing: drop it, and restore the whole database.",
        );
        snapshot::newer_row_error(error, "select from keyed_state.project where slug = $1", &params![slug])
    };
    let created = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                spi.script(&ddl::create_schema(slug, name));
                let rows = spi.run_once(
                    "insert into keyed_state.project (slug, name) values ($1, $2) returning id",
                    Snapshot::Latest,
                    &params![slug, name],
                );
                let id = rows.get::<Option<i32>>(0, 0).unwrap_or_default();
                if let Some(zone) = &zone {
                    let sql = "update keyed_state.project set time_zone = $2 where id = $1";
                    spi.run_once(sql, Snapshot::Latest, &params![id, zone]);
                }
                id
            })
        })
    });
    let states = [PgSqlErrorCode::ERRCODE_DUPLICATE_SCHEMA, PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION];
    created.catch(|caught| caught.is_any_of(&states).then(taken))
}

/// Sets the default time zone of searches in a project; null for UTC.
pub fn set_time_zone(project: &str, name: Option<&str>) -> Result<(), Error> {
    let caller = Caller::current();
    caller.require_admin("set the time zone of a project")?;
    catalog::refresh();
    let project = catalog::project_by_name_or_id(project)
        .filter(|project| caller.can_access_project(project.id))
        .ok_or_else(|| Error::new(Code::NotFound, format!("project {project:?} does not exist")))?;
    let name = name.map(time_zone::check).transpose()?;
    definition_lock::one_at_a_time(project.id, || change_time_zone(&caller, project.id, name.as_deref()))
}

fn change_time_zone(caller: &Caller, project: i32, name: Option<&str>) -> Result<(), Error> {
    as_owner_defining(|| {
        connected(|spi| {
            spi.run_once(
                "update keyed_state.project set time_zone = $2 where id = $1",
                Snapshot::Latest,
                &params![project, name],
            );
            // Makes the new time zone visible.
            begin_command();
            catalog::refresh();
            dependents::sync(spi, caller, &stored::of_project(spi, project))
        })
    })
}

fn owner_may_create_schemas() -> bool {
    connected(|spi| {
        let rows = spi.run_once(
            "select pg_catalog.has_database_privilege('keyed_owner', pg_catalog.current_database(), 'create')",
            Snapshot::Active,
            &[],
        );
        rows.get::<Option<bool>>(0, 0).unwrap_or_default()
    })
}
