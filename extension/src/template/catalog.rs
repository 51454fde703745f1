//! The session's cache of projects and templates, invalidated by changes.

use super::load::load;
use super::{Template, kept};
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::postgres::function::{Call, must_not_be_null};
use crate::postgres::guard::{self, as_owner};
use crate::postgres::invalidation::{self, Stale};
pub use crate::postgres::relation::{has_column, table_oid};
use crate::postgres::relation::{has_schema, lock_for_reading, table_name};
use crate::postgres::spi::{Connection, Snapshot, connected};
use pgrx::pg_sys::{self, Datum, Oid};
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
fn known(table: Oid) -> Option<Rc<Template>> {
    if !CATALOG.with_borrow(|catalog| catalog.templates.contains_key(&table)) {
        return None;
    }
    lock_for_reading(table);
    refresh();
    let template = CATALOG.with_borrow(|catalog| catalog.templates.get(&table).cloned())?;
    template.touch();
    Some(template)
}

/// The template that a table holds.
pub fn by_table(table: Oid) -> Result<Rc<Template>, Error> {
    if let Some(template) = known(table) {
        return Ok(template);
    }
    let Some((schema, name)) = table_name(table) else { return Err(Error::not_found()) };
    load(
        "p.slug = $1 and t.slug = $2",
        &[(pg_sys::TEXTOID, datum::text(&schema)), (pg_sys::TEXTOID, datum::text(&name))],
    )
    .filter(|template| template.table == table)
    .map(remember)
    .ok_or_else(|| {
        Error::at(Code::InvalidValue, "/template", format!("{schema}.{name} is not a template"))
            .hint("create one with keyed.create_template(project, slug, attributes). A table of keyed that was restored without its state cannot be written: restore the whole database")
    })
}

/// The template that the first argument of a function names, a `regclass`.
pub fn by_argument(call: &Call) -> Result<Rc<Template>, Error> {
    by_table(call.oid(0).ok_or_else(|| must_not_be_null("template"))?)
}

/// The template with this number.
pub fn by_id(id: i32) -> Option<Rc<Template>> {
    refresh();
    let table = CATALOG.with_borrow(|catalog| catalog.tables_by_id.get(&id).copied());
    table
        .and_then(known)
        .or_else(|| load("t.id = $1", &[(pg_sys::INT4OID, Some(Datum::from(id)))]).map(remember))
}

/// The template `$1` and those from which references lead to it, as a part of `with recursive`: nothing that is said of any
/// other can be about it.
pub const REACHING: &str = "reaching (id) as (select $1::integer union \
     select a.template_id from keyed_state.attribute a join reaching on a.target_id = reaching.id)";

/// The templates of a project.
pub fn of_project(spi: &Connection, project: i32) -> Vec<Rc<Template>> {
    let rows = spi.run_once(
        "select t.id from keyed_state.template t where t.project_id = $1 order by t.id",
        Snapshot::Latest,
        &[(pg_sys::INT4OID, Some(Datum::from(project)))],
    );
    let ids: Vec<i32> = (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_i32)).collect();
    ids.into_iter().filter_map(by_id).collect()
}

/// The template of this slug in a project.
pub fn by_slug(project: i32, slug: &str) -> Option<Rc<Template>> {
    refresh();
    let schema = project_by_id(project)?.slug;
    if let Some(template) = table_oid(&schema, slug).and_then(known) {
        return Some(template);
    }
    let arguments = [(pg_sys::INT4OID, Some(Datum::from(project))), (pg_sys::TEXTOID, datum::text(slug))];
    load("p.id = $1 and t.slug = $2", &arguments).map(remember)
}

fn remember(template: Template) -> Rc<Template> {
    let template = Rc::new(template);
    if crate::postgres::snapshot_is_fixed() {
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
    let old = kept::make_room(&templates.iter().collect::<Vec<_>>());
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

/// The project of this slug, or of this number written as a string.
pub fn project_by_name_or_id(name: &str) -> Option<Project> {
    let known = CATALOG.with_borrow(|catalog| catalog.projects.get(name).cloned());
    known.or_else(|| {
        require_state();
        let table = table_oid("keyed_state", "project").unwrap_or(Oid::INVALID);
        invalidation::watch(table);
        CATALOG.with_borrow_mut(|catalog| catalog.project_table = table);
        let project = as_owner(|| {
            connected(|spi| {
                let rows = spi.run_once(
                    // As JSON, since a state that is not migrated yet has no time zones.
                    "select p.id, p.slug, to_jsonb(p) ->> 'time_zone' from keyed_state.project p \
                     where p.slug = $1 or p.id::text = $1",
                    Snapshot::Latest,
                    &[(pg_sys::TEXTOID, datum::text(name))],
                );
                if rows.is_empty() {
                    return None;
                }
                if crate::postgres::snapshot_is_fixed() {
                    // As with a template: it may be outdated already, although its announcement came before.
                    invalidation::note(table);
                }
                Some(Project {
                    id: datum::read_i32(rows.get(0, 0)?),
                    slug: datum::read_text(rows.get(0, 1)?),
                    time_zone: rows.get(0, 2).map(datum::read_text),
                })
            })
        })?;
        CATALOG.with_borrow_mut(|catalog| catalog.projects.insert(name.to_owned(), project.clone()));
        Some(project)
    })
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

/// Whether the state tables exist.
pub fn state_exists() -> bool {
    has_schema(c"keyed_state")
}

/// The project with this number.
pub fn project_by_id(id: i32) -> Option<Project> {
    project_by_name_or_id(&id.to_string())
}

/// The number of the project in whose schema a table is; 0 for none.
pub fn project_of_table(table: Oid) -> i32 {
    let project = table_name(table).and_then(|(schema, _)| project_by_name_or_id(&schema));
    project.map_or(0, |project| project.id)
}
