//! Saves and drops views, and updates them when definitions change.

/// Checks the definition of a view and renders its statement.
pub mod definition;
/// Updates views when templates, grants or time zones change.
pub mod dependents;
/// The SQL and HTTP functions.
pub mod functions;
/// The columns of a view with presentation.
pub mod presentation;
/// Renames an attribute in a view's body.
pub mod rename;

use super::rows::is_migrated;
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::guard::{as_owner, as_owner_defining, not_migrated, subtransaction};
use crate::postgres::parameter::{Jsonb, params};
use crate::postgres::raise::Raise;
use crate::postgres::snapshot;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::lock_with_views;
use crate::postgres::transaction::begin_command;
use crate::template::{Template, in_use};
use crate::value::slug::{self, Noun};
use crate::view::stored::{SavedView, get, of_template, relation_name, views_about};
use definition::{check_name, compile, view_sql};
use pgrx::pg_sys::Oid;
use pgrx::prelude::PgSqlErrorCode;
use std::rc::Rc;

/// The definition of a new view.
pub struct NewView {
    /// Its name.
    pub slug: String,
    /// The label.
    pub label: Option<String>,
    /// The body, as JSON.
    pub body: String,
    /// Whether the SQL view has presentation. `None` keeps the value of an existing view, and is false for a new one.
    pub presentation: Option<bool>,
}

/// Saves a view. With `may_replace`, it replaces the view with that slug. Returns the view, and whether it is new. The
/// caller holds the lock of definitions.
pub fn save(
    caller: &Caller,
    template: &Rc<Template>,
    new: &NewView,
    may_replace: bool,
) -> Result<(SavedView, bool), Error> {
    caller.require_define(template)?;
    slug::check(Noun::View, &new.slug, "/slug")?;
    check_name(template, &new.slug)?;
    let name = || format!("{}.{}", template.project_slug, relation_name(template, &new.slug));
    let taken = || {
        let error = Error::at(Code::Conflict, "/slug", format!("{} already exists", name()))
            .hint("Choose another slug. The SQL view has this name.");
        let row = "select from keyed_state.view where template_id = $1 and slug = $2";
        snapshot::newer_row_error(error, row, &params![template.id, &new.slug])
    };
    let before = as_owner(|| connected(|spi| of_template(spi, template.id)));
    let before = before.into_iter().find(|view| view.slug == new.slug);
    let had_presentation = before.as_ref().is_some_and(|before| before.has_presentation);
    let has_presentation = new.presentation.unwrap_or(had_presentation);
    compile(caller, template, &new.body, has_presentation).map_err(in_query)?;
    if before.is_some() && !may_replace {
        return Err(Error::at(Code::Conflict, "/slug", format!("view {:?} already exists", new.slug))
            .hint("Change it with keyed.save_view or PUT."));
    }
    let has_relation = dependents::relation(template, &new.slug).is_some();
    if has_relation && before.as_ref().is_none_or(|before| before.definition.is_none()) {
        return Err(taken());
    }
    let made = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                let own = dependents::relation(template, &new.slug);
                lock_with_views(&[], &Vec::from_iter(own));
                if own.is_some() && (has_presentation || had_presentation) {
                    // CREATE OR REPLACE VIEW rejects other columns.
                    spi.script(&format!("drop view {}", view_sql(template, &new.slug)));
                    begin_command();
                }
                if let Err(error) = write(spi, template, new, has_presentation) {
                    error.raise();
                }
                if let Err(error) = dependents::sync(spi, caller, &views_about(spi, template.id)) {
                    error.raise();
                }
                // The label is in the comment, and may change without the query.
                if dependents::relation(template, &new.slug).is_some() {
                    dependents::label(spi, template, &new.slug, new.label.as_deref());
                }
            });
        });
    });
    made.catch(|caught| match caught.state {
        PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE | PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE => Some(taken()),
        PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST => {
            Some(in_use::error(&name(), relation(template, &new.slug), caught))
        }
        _ => None,
    })?;
    Ok((get(caller, template, &new.slug)?, before.is_none()))
}

/// The relation that has the name of a view.
fn relation(template: &Template, slug: &str) -> Oid {
    dependents::relation(template, slug).unwrap_or(Oid::INVALID)
}

/// Prefixes the pointer of an error in the query. Errors of `presentation` keep their pointer.
fn in_query(error: Error) -> Error {
    match error.violations.first().is_some_and(|violation| violation.pointer == "/presentation") {
        true => error,
        false => error.below("/query"),
    }
}

fn write(spi: &Connection, template: &Template, new: &NewView, has_presentation: bool) -> Result<(), Error> {
    let is_migrated = is_migrated(spi, PRESENTATION_MIGRATION);
    if has_presentation && !is_migrated {
        return Err(not_migrated());
    }
    spi.run_once(
        "insert into keyed_state.view (template_id, slug, label, query) values ($1, $2, $3, $4) \
         on conflict (template_id, slug) do update \
         set label = excluded.label, query = excluded.query, updated_at = pg_catalog.now()",
        Snapshot::Latest,
        &params![template.id, &new.slug, new.label.as_deref(), Jsonb(&new.body)],
    );
    if is_migrated {
        spi.run_once(
            "update keyed_state.view set presentation = $3 where template_id = $1 and slug = $2",
            Snapshot::Latest,
            &params![template.id, &new.slug, has_presentation],
        );
    }
    Ok(())
}

/// The migration that adds the column for presentation.
const PRESENTATION_MIGRATION: i32 = 34;

/// Drops a view. The caller holds the lock of definitions.
pub fn drop(caller: &Caller, template: &Rc<Template>, slug: &str) -> Result<(), Error> {
    caller.require_define(template)?;
    let view = get(caller, template, slug)?;
    let outcome = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                let own = dependents::relation(template, slug);
                lock_with_views(&[], &Vec::from_iter(own));
                if own.is_some() && view.definition.is_some() {
                    spi.script(&format!("drop view {}", view_sql(template, slug)));
                }
                let id = params![view.id];
                spi.run_once("delete from keyed_state.view where id = $1", Snapshot::Latest, &id);
            });
        });
    });
    outcome.catch(|caught| {
        let is_in_use = caught.state == PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST;
        is_in_use.then(|| in_use::error(&relation_name(template, slug), relation(template, slug), caught))
    })
}
