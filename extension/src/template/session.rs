//! The session's cache of projects and templates, and its invalidation.

use super::Template;
use super::lru;
use crate::postgres::guard;
use crate::postgres::invalidation::{self, Stale};
use crate::postgres::raise::Raise;
use crate::postgres::relation::{has_schema, lock_for_reading, table_oid};
use crate::postgres::snapshot;
use pgrx::pg_sys::Oid;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A project, which is a schema.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its id.
    pub id: i32,
    /// The name of its schema.
    pub slug: String,
    /// The default time zone of searches.
    pub time_zone: Option<String>,
}

/// A change of the cache.
pub enum Change<'a> {
    /// Invalidation messages of this session or of others were processed.
    Stale(&'a Stale),
    /// Templates were evicted.
    Evicted,
}

/// A cache that depends on the catalog and is notified of each change.
pub type Subscriber = fn(&Change);

#[derive(Default)]
struct Catalog {
    templates: HashMap<Oid, Rc<Template>>,
    tables_by_id: HashMap<i32, Oid>,
    projects: HashMap<String, Project>,
    /// The tables of templates and attributes. Changes invalidate the affected template; only replicated changes
    /// invalidate these tables.
    definitions: [Oid; 2],
    /// The table of projects. A change of it invalidates all cached projects.
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

fn notify(change: &Change) {
    SUBSCRIBERS.get().iter().for_each(|subscriber| subscriber(change));
}

/// Processes pending invalidation messages. Every function calls this first.
pub fn refresh() {
    let Some(stale) = invalidation::take_stale() else { return };
    notify(&Change::Stale(&stale));
    // Dropped after the borrow ends, because dropping a template frees its plans.
    let invalidated: Vec<Rc<Template>> = CATALOG.with_borrow_mut(|catalog| {
        if stale.everything || catalog.definitions.iter().any(|table| stale.has(*table)) {
            catalog.projects.clear();
            catalog.tables_by_id.clear();
            return catalog.templates.drain().map(|entry| entry.1).collect();
        }
        if stale.has(catalog.project_table) {
            catalog.projects.clear();
        }
        let mut invalidated = Vec::new();
        for table in &stale.tables {
            if let Some(template) = catalog.templates.remove(table) {
                catalog.tables_by_id.remove(&template.id);
                invalidated.push(template);
            }
        }
        invalidated
    });
    drop(invalidated);
}

/// The cached template of a table, with a lock on the table until the transaction ends. Taking the lock processes pending
/// invalidation messages. Other tables are not locked.
pub(super) fn cached(table: Oid) -> Option<Rc<Template>> {
    if !CATALOG.with_borrow(|catalog| catalog.templates.contains_key(&table)) {
        return None;
    }
    lock_for_reading(table);
    refresh();
    let template = CATALOG.with_borrow(|catalog| catalog.templates.get(&table).cloned())?;
    template.touch();
    Some(template)
}

/// The table of a cached template.
pub(super) fn table_of(template: i32) -> Option<Oid> {
    CATALOG.with_borrow(|catalog| catalog.tables_by_id.get(&template).copied())
}

/// Caches a loaded template.
pub(super) fn cache(template: Template) -> Rc<Template> {
    let template = Rc::new(template);
    if snapshot::is_fixed() {
        // Its former languages and attributes are specific to this snapshot.
        invalidation::note(template.table);
    }
    CATALOG.with_borrow_mut(|catalog| {
        catalog.tables_by_id.insert(template.id, template.table);
        catalog.templates.insert(template.table, Rc::clone(&template))
    });
    evict();
    template
}

/// Evicts the least recently used entries if the cache exceeds its limit.
pub(super) fn evict() {
    if !lru::exceeds_limit() {
        return;
    }
    let templates: Vec<Rc<Template>> =
        CATALOG.with_borrow(|catalog| catalog.templates.values().map(Rc::clone).collect());
    let old = evict_oldest(&templates.iter().collect::<Vec<_>>());
    let evicted: Vec<Rc<Template>> = CATALOG.with_borrow_mut(|catalog| {
        old.into_iter()
            .filter_map(|template| {
                catalog.tables_by_id.remove(&template.id);
                catalog.templates.remove(&template.table)
            })
            .collect()
    });
    if !evicted.is_empty() {
        notify(&Change::Evicted);
    }
    // Dropped after the borrow ends, as above.
    drop(evicted);
}

/// Evicts the least recently used statements and conditions, down to three quarters of the limit. Returns the templates
/// that must be evicted too.
fn evict_oldest<'t>(templates: &[&'t Rc<Template>]) -> Vec<&'t Rc<Template>> {
    let mut uses = Vec::new();
    for template in templates {
        uses.push((template.share.used.get(), template.share.bytes.get()));
        template.plans.uses(&mut uses);
        template.conditions.uses(&mut uses);
    }
    uses.sort_unstable();
    let mut excess = lru::excess();
    let mut moment = 0;
    for (used, bytes) in uses {
        if excess == 0 {
            break;
        }
        moment = used + 1;
        excess = excess.saturating_sub(bytes);
    }
    let mut old = Vec::new();
    for template in templates {
        template.plans.evict_before(moment);
        template.conditions.evict_before(moment);
        if template.share.used.get() < moment {
            old.push(*template);
        }
    }
    old
}

/// The project that is cached under this slug or id.
pub(super) fn cached_project(name: &str) -> Option<Project> {
    CATALOG.with_borrow(|catalog| catalog.projects.get(name).cloned())
}

/// Caches a project.
pub(super) fn cache_project(name: &str, project: &Project) {
    CATALOG.with_borrow_mut(|catalog| catalog.projects.insert(name.to_owned(), project.clone()));
}

/// Subscribes to invalidation messages of the table of projects.
pub(super) fn watch_projects() -> Oid {
    let table = table_oid("keyed_state", "project").unwrap_or(Oid::INVALID);
    invalidation::watch(table);
    CATALOG.with_borrow_mut(|catalog| catalog.project_table = table);
    table
}

/// Subscribes to invalidation messages of the tables of definitions.
pub(super) fn watch_definitions() {
    let definitions =
        ["template", "attribute"].map(|name| table_oid("keyed_state", name).unwrap_or(Oid::INVALID));
    definitions.into_iter().for_each(invalidation::watch);
    CATALOG.with_borrow_mut(|catalog| catalog.definitions = definitions);
}

/// Raises an error if keyed is not set up in this database.
pub fn require_state() {
    if !state_exists() {
        guard::not_set_up().raise();
    }
}

/// Whether the schema of the state exists.
pub fn state_exists() -> bool {
    has_schema(c"keyed_state")
}
