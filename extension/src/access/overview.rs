//! The access overview of a caller (`keyed.me`).

use super::Caller;
use super::principal::Principal;
use super::template_list::{self, ListedTemplate};
use crate::json_write::to_json;
use crate::postgres::guard::as_owner;
use crate::postgres::role;
use crate::postgres::spi::{Snapshot, connected};
use crate::template::catalog;
use crate::value::time;
use serde::Serialize;
use std::collections::HashSet;

#[derive(Serialize)]
struct Me<'a> {
    /// Null without one.
    key: Option<Key<'a>>,
    role: String,
    admin: bool,
    project: Option<String>,
    /// Null where all may be chosen.
    projects: Option<Vec<String>>,
    templates: Vec<ShownTemplate>,
}

#[derive(Serialize)]
struct Key<'a> {
    id: i32,
    label: &'a str,
}

#[derive(Serialize)]
struct ShownTemplate {
    id: String,
    template: String,
    privileges: Vec<&'static str>,
    /// The privileges that are about some records only.
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
    created_at: String,
}

/// `{key: {id, label}, role, admin, project, projects, templates: [{id, template, privileges, scoped}]}`.
pub fn me(caller: &Caller) -> String {
    let principal = Principal::current();
    let slug = |id: i32| catalog::project_by_name_or_id(&id.to_string()).map(|project| project.slug);
    let key = principal.as_ref().and_then(|it| Some(Key { id: it.key?, label: &it.label }));
    let projects = principal.as_ref().and_then(|it| it.projects.clone());
    to_json(&Me {
        key,
        role: role::name(caller.role()).unwrap_or_default(),
        admin: caller.is_admin(),
        project: caller.project().and_then(slug),
        projects: projects.map(|projects| projects.into_iter().filter_map(slug).collect()),
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

/// `{projects: [{id, slug, name, created_at}]}`: those in which the caller may do anything at all.
pub fn projects(caller: &Caller) -> String {
    let known: HashSet<i32> =
        template_list::templates(caller).iter().map(|template| template.project).collect();
    let projects = as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                "select p.id, p.slug, p.name, p.created_at from keyed_state.project p order by p.slug",
                Snapshot::Active,
                &[],
            );
            let project = |(id, slug, name, created_at): (i32, String, Option<String>, i64)| {
                let may_know = || known.contains(&id) || caller.require_define_in(id).is_ok();
                (caller.sees_project(id) && may_know()).then(|| ShownProject {
                    id: id.to_string(),
                    slug,
                    name: name.unwrap_or_default(),
                    created_at: time::datetime(created_at),
                })
            };
            rows.iter().filter_map(project).collect()
        })
    });
    to_json(&Projects { projects })
}
