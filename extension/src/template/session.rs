//! The session's cache of projects and templates, and its invalidation.

use super::Template;
use super::kept;
use crate::postgres::guard;
use crate::postgres::invalidation::{self, Stale};
use crate::postgres::raise::Raise;
use crate::postgres::relation::{has_schema, lock_for_reading, table_oid};
use crate::postgres::snapshot;
use pgrx::pg_sys::Oid;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A project: a schema.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its number.
    pub id: i32,
    /// The name of its schema.
    pub slug: String,
    /// The time zone of searches that name none.
    pub time_zone: Option<String>,
}

/// What happened to what a session knows.
pub enum Change<'a> {
    /// Other sessions, or this one, have changed something.
    Stale(&'a Stale),
    /// Templates were forgotten to make room.
    Forgotten,
}

/// A cache that depends on the catalog and is notified of each change.
pub type Subscriber = fn(&Change);

#[derive(Default)]
struct Catalog {
    templates: HashMap<Oid, Rc<Template>>,
    tables_by_id: HashMap<i32, Oid>,
    projects: HashMap<String, Project>,
    /// The tables of templates and attributes. A change announces the template that it affects; only replicated
    /// changes are announced for these tables.
    definitions: [Oid; 2],
    /// The table of projects: when it changes, what is known of them is forgotten.
    project_table: Oid,
}

thread_local! {
    static CATALOG: RefCell<Catalog> = RefCell::new(Catalog::default());
    static SUBSCRIBERS: Cell<&'static [Subscriber]> = const { Cell::new(&[]) };
}

/// Sets the caches that are notified of changes, once when the library is loaded.
pub fn set_subscribers(subscribers: &'static [Subscriber]) {
    SUBSCRIBERS.set(subscribers);
}

fn tell(change: &Change) {
    SUBSCRIBERS.get().iter().for_each(|subscriber| subscriber(change));
}

/// Forgets what other sessions, or this one, have changed. Called at the start of every function.
pub fn refresh() {
    let Some(stale) = invalidation::take_stale() else { return };
    tell(&Change::Stale(&stale));
    // The templates are dropped after the borrow has ended: dropping one frees its plans.
    let forgotten: Vec<Rc<Template>> = CATALOG.with_borrow_mut(|catalog| {
        if stale.everything || catalog.definitions.iter().any(|table| stale.has(*table)) {
            catalog.projects.clear();
            catalog.tables_by_id.clear();
            return catalog.templates.drain().map(|entry| entry.1).collect();
        }
        if stale.has(catalog.project_table) {
            catalog.projects.clear();
        }
        let mut forgotten = Vec::new();
        for table in &stale.tables {
            if let Some(template) = catalog.templates.remove(table) {
                catalog.tables_by_id.remove(&template.id);
                forgotten.push(template);
            }
        }
        forgotten
    });
    drop(forgotten);
}

/// The definition of a table, which cannot change until the transaction ends: taking the lock also processes pending
/// invalidation messages. Only keyed's tables are locked.
pub(super) fn known(table: Oid) -> Option<Rc<Template>> {
    if !CATALOG.with_borrow(|catalog| catalog.templates.contains_key(&table)) {
        return None;
    }
    lock_for_reading(table);
    refresh();
    let template = CATALOG.with_borrow(|catalog| catalog.templates.get(&table).cloned())?;
    template.touch();
    Some(template)
}

/// The number of the table of a template, where it is remembered.
pub(super) fn table_of(template: i32) -> Option<Oid> {
    CATALOG.with_borrow(|catalog| catalog.tables_by_id.get(&template).copied())
}

/// Keeps a template that was read.
pub(super) fn remember(template: Template) -> Rc<Template> {
    let template = Rc::new(template);
    if snapshot::is_fixed() {
        // What it says of documents is about this snapshot.
        invalidation::note(template.table);
    }
    CATALOG.with_borrow_mut(|catalog| {
        catalog.tables_by_id.insert(template.id, template.table);
        catalog.templates.insert(template.table, Rc::clone(&template))
    });
    make_room();
    template
}

/// Forgets what was not used for longest, when this session keeps too much.
pub(super) fn make_room() {
    if !kept::is_too_much() {
        return;
    }
    let templates: Vec<Rc<Template>> =
        CATALOG.with_borrow(|catalog| catalog.templates.values().map(Rc::clone).collect());
    let old = forget_oldest(&templates.iter().collect::<Vec<_>>());
    let forgotten: Vec<Rc<Template>> = CATALOG.with_borrow_mut(|catalog| {
        old.into_iter()
            .filter_map(|template| {
                catalog.tables_by_id.remove(&template.id);
                catalog.templates.remove(&template.table)
            })
            .collect()
    });
    if !forgotten.is_empty() {
        tell(&Change::Forgotten);
    }
    // They are dropped after the borrow has ended, as above.
    drop(forgotten);
}

/// Forgets what these templates keep and was not used for longest, until there is a quarter of the room again. Returns the
/// templates that are to be forgotten themselves.
fn forget_oldest<'t>(templates: &[&'t Rc<Template>]) -> Vec<&'t Rc<Template>> {
    let mut uses = Vec::new();
    for template in templates {
        uses.push((template.share.used.get(), template.share.bytes.get()));
        template.plans.uses(&mut uses);
        template.conditions.uses(&mut uses);
    }
    uses.sort_unstable();
    let mut too_much = kept::excess();
    let mut moment = 0;
    for (used, bytes) in uses {
        if too_much == 0 {
            break;
        }
        moment = used + 1;
        too_much = too_much.saturating_sub(bytes);
    }
    let mut old = Vec::new();
    for template in templates {
        template.plans.forget_before(moment);
        template.conditions.forget_before(moment);
        if template.share.used.get() < moment {
            old.push(*template);
        }
    }
    old
}

/// A project that is remembered under this name or number.
pub(super) fn known_project(name: &str) -> Option<Project> {
    CATALOG.with_borrow(|catalog| catalog.projects.get(name).cloned())
}

/// Remembers a project.
pub(super) fn remember_project(name: &str, project: &Project) {
    CATALOG.with_borrow_mut(|catalog| catalog.projects.insert(name.to_owned(), project.clone()));
}

/// Watches the table of projects.
pub(super) fn watch_projects() -> Oid {
    let table = table_oid("keyed_state", "project").unwrap_or(Oid::INVALID);
    invalidation::watch(table);
    CATALOG.with_borrow_mut(|catalog| catalog.project_table = table);
    table
}

/// Watches the tables that templates are read from.
pub(super) fn watch_definitions() {
    let definitions =
        ["template", "attribute"].map(|name| table_oid("keyed_state", name).unwrap_or(Oid::INVALID));
    definitions.into_iter().for_each(invalidation::watch);
    CATALOG.with_borrow_mut(|catalog| catalog.definitions = definitions);
}

/// Raises an error where keyed is not set up in this database.
pub fn require_state() {
    if !state_exists() {
        guard::not_set_up().raise();
    }
}

/// Whether the state tables are there.
pub fn state_exists() -> bool {
    has_schema(c"keyed_state")
}
