//! The access overview of a caller (`keyed.me`).

use super::Caller;
use super::principal::Principal;
use super::template_list::{self, ListedTemplate};
use crate::json_write::to_json;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::role;
use crate::postgres::spi::connected;
use crate::template::catalog;
use crate::value::time;
use serde::Serialize;
use std::collections::HashSet;

#[derive(Serialize)]
struct Me<'a> {
    /// Null for a login without a key.
    key: Option<Key<'a>>,
    role: String,
    admin: bool,
    project: Option<String>,
    /// Null for all projects.
    projects: Option<Vec<String>>,
    /// Whether searches may use `query_text`, as reported by keyed-proxy. SQL has no `query_text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    query_text: Option<bool>,
    templates: Vec<ShownTemplate>,
}

#[derive(Serialize)]
struct Key<'a> {
    id: i32,
    label: &'a str,
    expires_at: Option<String>,
}

#[derive(Serialize)]
struct ShownTemplate {
    id: String,
    template: String,
    privileges: Vec<&'static str>,
    /// The privileges that have a scope.
    scoped: Vec<&'static str>,
}

#[derive(Serialize)]
struct Projects {
    projects: Vec<ShownProject>,
}

#[derive(Serialize)]
struct ShownProject {
    id: String,
    slug: String,
    name: String,
    /// Null for UTC.
    time_zone: Option<String>,
    /// Whether the caller may create templates in it.
    define: bool,
    created_at: String,
}

/// `{key: {id, label, expires_at}, role, admin, project, projects, query_text?, templates: [{id, template, privileges,
/// scoped}]}`.
pub fn me(caller: &Caller, query_text: Option<bool>) -> String {
    let principal = Principal::current();
    let slug = |id: i32| catalog::project_by_name_or_id(&id.to_string()).map(|project| project.slug);
    let key = principal
        .as_ref()
        .and_then(|it| Some(Key { id: it.key?, label: &it.label, expires_at: expiry(it.key?) }));
    let projects = principal.as_ref().and_then(|it| it.projects.clone());
    to_json(&Me {
        key,
        role: role::name(caller.role()).unwrap_or_default(),
        admin: caller.is_admin(),
        project: caller.project().and_then(slug),
        projects: projects.map(|projects| projects.into_iter().filter_map(slug).collect()),
        query_text,
        templates: template_list::templates(caller).into_iter().map(shown).collect(),
    })
}

fn shown(template: ListedTemplate) -> ShownTemplate {
    let held = template.held.iter();
    ShownTemplate {
        id: template.id.to_string(),
        privileges: held.clone().map(|(privilege, _)| privilege.name()).collect(),
        scoped: held.filter(|(_, is_scoped)| *is_scoped).map(|(privilege, _)| privilege.name()).collect(),
        template: template.name,
    }
}

fn expiry(key: i32) -> Option<String> {
    let sql = "select k.expires_at from keyed_state.api_key k where k.id = $1 and isfinite(k.expires_at)";
    let at = as_owner(|| connected(|spi| spi.run_newest(sql, &params![key]).value::<Option<i64>>()));
    at.flatten().map(time::datetime)
}

/// The projects in which the caller has any privilege: `{projects: [{id, slug, name, time_zone, define, created_at}]}`.
pub fn projects(caller: &Caller) -> String {
    let with_templates: HashSet<i32> =
        template_list::templates(caller).iter().map(|template| template.project).collect();
    let mut projects = all_projects(caller, None);
    projects.retain(|(id, project)| {
        caller.can_access_project(*id) && (with_templates.contains(id) || project.define)
    });
    to_json(&Projects { projects: projects.into_iter().map(|(_, project)| project).collect() })
}

/// One project, for the response to the caller that created it.
pub fn project(caller: &Caller, id: i32) -> Option<String> {
    all_projects(caller, Some(id)).first().map(|(_, project)| to_json(project))
}

fn all_projects(caller: &Caller, only: Option<i32>) -> Vec<(i32, ShownProject)> {
    let sql = "select p.id, p.slug, p.name, p.time_zone, p.created_at from keyed_state.project p \
               where $1 is null or p.id = $1 order by p.slug";
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_newest_and_own(sql, &params![only]);
            let project = |(id, slug, name, time_zone, created_at): (i32, String, Option<String>, _, i64)| {
                let shown = ShownProject {
                    id: id.to_string(),
                    slug,
                    name: name.unwrap_or_default(),
                    time_zone,
                    define: caller.is_admin() || caller.require_define_in(id).is_ok(),
                    created_at: time::datetime(created_at),
                };
                (id, shown)
            };
            rows.iter().map(project).collect()
        })
    })
}
