//! What a caller may see and do, for the caller itself.

use super::Caller;
use super::principal::Principal;
use super::template_list::{self, ListedTemplate};
use crate::json::write_string;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Rows, Snapshot, connected};
use crate::postgres::{datum, role};
use crate::template::catalog;
use crate::value::time;
use std::collections::HashSet;

/// `{key: {id, label}, role, admin, project, projects, templates: [{id, template, privileges, scoped}]}`: `key` is null
/// without one, `projects` null where all may be chosen; `scoped` are the privileges that are about some records only.
pub fn me(caller: &Caller) -> String {
    let mut out = String::from("{\"key\":");
    match Principal::current().and_then(|principal| Some((principal.key?, principal))) {
        None => out.push_str("null"),
        Some((key, principal)) => {
            out.push_str(&format!("{{\"id\":{key},\"label\":"));
            write_string(&mut out, &principal.label);
            out.push('}');
        }
    }
    out.push_str(",\"role\":");
    write_string(&mut out, &role::name(caller.role()).unwrap_or_default());
    out.push_str(&format!(",\"admin\":{},\"project\":", caller.is_admin()));
    let slug = |id: i32| catalog::project_by_name_or_id(&id.to_string()).map(|project| project.slug);
    match caller.project().and_then(slug) {
        Some(project) => write_string(&mut out, &project),
        None => out.push_str("null"),
    }
    out.push_str(",\"projects\":");
    match Principal::current().and_then(|principal| principal.projects.clone()) {
        None => out.push_str("null"),
        Some(projects) => write_list(&mut out, projects.into_iter().filter_map(slug), write_string_of),
    }
    out.push_str(",\"templates\":");
    write_list(&mut out, template_list::templates(caller).into_iter(), |out, template| {
        write_template(out, &template);
    });
    out.push('}');
    out
}

/// `{projects: [{id, slug, name, created_at}]}`: those in which the caller may do anything at all.
pub fn projects(caller: &Caller) -> String {
    let mut out = String::from("{\"projects\":[");
    let known: HashSet<i32> =
        template_list::templates(caller).iter().map(|template| template.project).collect();
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                "select p.id, p.slug, p.name, p.created_at from keyed_state.project p order by p.slug",
                Snapshot::Active,
                &[],
            );
            let mut first = true;
            for row in 0..rows.len() {
                let id = rows.get(row, 0).map_or(0, datum::read_i32);
                if !caller.sees_project(id) || !(known.contains(&id) || caller.require_define_in(id).is_ok())
                {
                    continue;
                }
                if !first {
                    out.push(',');
                }
                first = false;
                write_project(&mut out, &rows, row, id);
            }
        });
    });
    out.push_str("]}");
    out
}

fn write_project(out: &mut String, rows: &Rows, row: usize, id: i32) {
    out.push_str(&format!("{{\"id\":\"{id}\""));
    for (name, column) in [("slug", 1), ("name", 2)] {
        out.push_str(&format!(",\"{name}\":"));
        write_string(out, &rows.get(row, column).map(datum::read_text).unwrap_or_default());
    }
    out.push_str(",\"created_at\":\"");
    time::write_datetime(out, rows.get(row, 3).map_or(0, datum::read_i64));
    out.push_str("\"}");
}

fn write_template(out: &mut String, template: &ListedTemplate) {
    out.push_str(&format!("{{\"id\":\"{}\",\"template\":", template.id));
    write_string(out, &template.name);
    let held = template.held.iter();
    out.push_str(",\"privileges\":");
    write_list(out, held.clone().map(|(privilege, _)| privilege.name().to_owned()), write_string_of);
    let scoped = held.filter(|(_, is_scoped)| *is_scoped);
    out.push_str(",\"scoped\":");
    write_list(out, scoped.map(|(privilege, _)| privilege.name().to_owned()), write_string_of);
    out.push('}');
}

fn write_string_of(out: &mut String, text: String) {
    write_string(out, &text);
}

fn write_list<T>(out: &mut String, items: impl Iterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (position, item) in items.enumerate() {
        if position > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}
