//! The target of a grant. The lookup does not open the table, so a grant waits for no reader or writer.

use super::Caller;
use super::template_list::TABLES;
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::catalog::{self, Project};
use crate::value::table_name::table_sql;
use pgrx::pg_sys::Oid;

/// All templates of a project, including future ones, or one template.
pub struct Target {
    /// The project.
    pub project: Project,
    /// The template; `None` for all.
    pub template: Option<i32>,
}

/// The table of a template.
pub struct Table {
    /// The id of the template.
    pub template: i32,
    /// The table.
    pub oid: Oid,
    /// Its qualified SQL name.
    pub sql: String,
}

impl Target {
    /// Parses `project` or `project.template` and looks it up.
    pub fn find(name: &str) -> Result<Target, Error> {
        catalog::refresh();
        let caller = Caller::current();
        let unknown = || {
            Error::at(Code::InvalidValue, "/target", format!("project or template {name:?} does not exist"))
                .hint("Use 'project' or 'project.template'.")
        };
        let (project, slug) =
            name.split_once('.').map_or((name, None), |(project, slug)| (project, Some(slug)));
        let project = catalog::project_by_name_or_id(project);
        let project = project.filter(|project| caller.can_access_project(project.id)).ok_or_else(unknown)?;
        let template = slug.map(|slug| number(project.id, slug).ok_or_else(unknown)).transpose()?;
        Ok(Target { project, template })
    }

    /// The tables of the target, ordered by the id of the template.
    pub fn tables(&self, spi: &Connection) -> Vec<Table> {
        let sql = format!(
            "select t.id, c.oid, p.slug, t.slug from {TABLES} \
             where t.project_id = $1 and ($2::integer is null or t.id = $2) order by t.id"
        );
        let arguments = params![self.project.id, self.template];
        let rows = spi.run_once(&sql, Snapshot::Latest, &arguments);
        let table = |(template, oid, project, slug): (i32, Oid, String, String)| Table {
            template,
            oid,
            sql: table_sql(&project, &slug),
        };
        rows.iter().map(table).collect()
    }
}

fn number(project: i32, slug: &str) -> Option<i32> {
    let arguments = params![project, slug];
    as_owner(|| {
        connected(|spi| {
            let sql = "select t.id from keyed_state.template t where t.project_id = $1 and t.slug = $2";
            let rows = spi.run_once(sql, Snapshot::Latest, &arguments);
            rows.value::<Option<i32>>().flatten()
        })
    })
}
