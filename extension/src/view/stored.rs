//! Views are saved, read and dropped: the rows of `keyed_state.view`.

use super::definition::{self, check_name, compile, view_sql};
use super::upkeep;
use crate::access::rights::Privilege;
use crate::access::{Caller, Right};
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::postgres::datum;
use crate::postgres::guard::{as_owner, as_owner_defining, subtransaction};
use crate::postgres::spi::{Access, Connection, Rows, connected};
use crate::postgres::table_lock::lock_with_views;
use crate::search::query::Query;
use crate::template::catalog::{self, REACHING};
use crate::template::{Template, in_use};
use crate::value::slug::{self, Noun};
use crate::value::time;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::prelude::PgSqlErrorCode;
use std::rc::Rc;

/// A view as it is stored.
pub struct SavedView {
    /// Its number.
    pub id: i32,
    /// Its template.
    pub template: Rc<Template>,
    /// Its name.
    pub slug: String,
    /// What people read.
    pub label: Option<String>,
    /// The body, as JSON.
    pub body: String,
    /// The query of its view in PostgreSQL, where it has one.
    pub query: Option<String>,
    created_at: i64,
    updated_at: i64,
}

/// A view that a caller wants.
pub struct NewView {
    /// Its name.
    pub slug: String,
    /// What people read.
    pub label: Option<String>,
    /// The body, as JSON.
    pub body: String,
}

const COLUMNS: &str =
    "v.id, v.template_id, v.slug, v.label, v.query::text, v.definition, v.created_at, v.updated_at";

/// Whether there can be views: a state not yet migrated has none.
pub fn exist() -> bool {
    catalog::table_oid("keyed_state", "view").is_some()
}

impl SavedView {
    /// `{slug, label, query, sql_view, created_at, updated_at}`: `sql_view` is null where there is none.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{\"slug\":");
        write_string(&mut out, &self.slug);
        out.push_str(",\"label\":");
        write_string(&mut out, self.label.as_deref().unwrap_or(&self.slug));
        out.push_str(",\"query\":");
        out.push_str(&self.body);
        out.push_str(",\"sql_view\":");
        match &self.query {
            Some(_) => {
                let name = definition::name(&self.template, &self.slug);
                write_string(&mut out, &format!("{}.{name}", self.template.project_slug));
            }
            None => out.push_str("null"),
        }
        for (name, at) in [("created_at", self.created_at), ("updated_at", self.updated_at)] {
            out.push_str(&format!(",\"{name}\":\""));
            time::write_datetime(&mut out, at);
            out.push('"');
        }
        out.push('}');
        out
    }
}

fn read(rows: &Rows) -> Vec<SavedView> {
    let view = |row| {
        let text = |column| rows.get(row, column).map(datum::read_text);
        let moment = |column| rows.get(row, column).map_or(0, datum::read_i64);
        Some(SavedView {
            id: rows.get(row, 0).map(datum::read_i32)?,
            template: catalog::by_id(rows.get(row, 1).map(datum::read_i32)?)?,
            slug: text(2)?,
            label: text(3),
            body: text(4)?,
            query: text(5),
            created_at: moment(6),
            updated_at: moment(7),
        })
    };
    (0..rows.len()).filter_map(view).collect()
}

/// The views of a template, by slug.
pub fn of_template(spi: &Connection, template: i32) -> Vec<SavedView> {
    find(spi, "v.template_id = $1", template)
}

/// The views of a project.
pub fn of_project(spi: &Connection, project: i32) -> Vec<SavedView> {
    let condition = "v.template_id in (select t.id from keyed_state.template t where t.project_id = $1)";
    find(spi, condition, project)
}

/// The views that may be about a template.
pub fn reaching(spi: &Connection, template: i32) -> Vec<SavedView> {
    find(spi, "v.template_id in (select id from reaching)", template)
}

fn find(spi: &Connection, condition: &str, number: i32) -> Vec<SavedView> {
    if !exist() {
        return Vec::new();
    }
    let sql = format!(
        "with recursive {REACHING} select {COLUMNS} from keyed_state.view v where {condition} \
         order by v.template_id, v.slug"
    );
    read(&spi.run_once(&sql, Access::Latest, &[(pg_sys::INT4OID, Some(Datum::from(number)))]))
}

/// The body of the view that a search is within, if it is within one. The right to read the template must have been
/// required.
pub fn body_of(template: &Template, query: &Query) -> Result<Option<String>, Error> {
    let Some(slug) = &query.view else { return Ok(None) };
    let sql = "select v.query::text from keyed_state.view v where v.template_id = $1 and v.slug = $2";
    let body = as_owner(|| {
        let plan = exist().then(|| template.plan(sql, || vec![pg_sys::INT4OID, pg_sys::TEXTOID]))?;
        connected(|spi| {
            let arguments = [Some(Datum::from(template.id)), datum::text(slug)];
            let rows = spi.run(&plan, Access::Latest, &arguments);
            (!rows.is_empty()).then(|| rows.get(0, 0).map(datum::read_text)).flatten()
        })
    });
    let unknown = || {
        Error::at(Code::InvalidValue, "/view", format!("{} has no view {slug:?}", template.full_name()))
            .hint("keyed.list_views(template), or GET /templates/{template}/views, lists them")
    };
    body.ok_or_else(unknown).map(Some)
}

/// Whoever may read the records or define the template may know its views.
pub fn require_knowledge(caller: &Caller, template: &Template) -> Result<(), Error> {
    if caller.holds(Privilege::Define, template) { Ok(()) } else { caller.require(Right::Read, template) }
}

/// `{views: […]}`, by slug.
pub fn list(caller: &Caller, template: &Template) -> Result<String, Error> {
    require_knowledge(caller, template)?;
    let views = as_owner(|| connected(|spi| of_template(spi, template.id)));
    let views: Vec<String> = views.iter().map(SavedView::to_json).collect();
    Ok(format!("{{\"views\":[{}]}}", views.join(",")))
}

/// The view of this slug.
pub fn get(caller: &Caller, template: &Template, slug: &str) -> Result<SavedView, Error> {
    require_knowledge(caller, template)?;
    let views = as_owner(|| connected(|spi| of_template(spi, template.id)));
    views.into_iter().find(|view| view.slug == slug).ok_or_else(|| unknown(template, slug))
}

fn unknown(template: &Template, slug: &str) -> Error {
    Error::new(Code::NotFound, format!("{} has no view {slug:?}", template.full_name()))
}

/// Saves a view, in place of the one of that slug if `may_replace`. Returns it, and whether it is new. Changes of
/// definitions must have begun.
pub fn save(
    caller: &Caller,
    template: &Rc<Template>,
    new: &NewView,
    may_replace: bool,
) -> Result<(SavedView, bool), Error> {
    caller.require_define(template)?;
    slug::check(Noun::View, &new.slug, "/slug")?;
    check_name(template, &new.slug)?;
    compile(caller, template, &new.body).map_err(|error| error.below("/query"))?;
    let name = || format!("{}.{}", template.project_slug, definition::name(template, &new.slug));
    let taken = || {
        Error::at(Code::Conflict, "/slug", format!("{} exists already", name()))
            .hint("choose another slug: the view needs that name for itself")
    };
    let before = as_owner(|| connected(|spi| of_template(spi, template.id)));
    let before = before.into_iter().find(|view| view.slug == new.slug);
    if before.is_some() && !may_replace {
        return Err(Error::at(Code::Conflict, "/slug", format!("the view {:?} exists already", new.slug))
            .hint("change it by PUT, or by keyed.save_view"));
    }
    let has_relation = upkeep::relation(template, &new.slug).is_some();
    if has_relation && before.as_ref().is_none_or(|before| before.query.is_none()) {
        return Err(taken());
    }
    let made = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                let own = upkeep::relation(template, &new.slug);
                lock_with_views(&[], &Vec::from_iter(own));
                write(spi, template, new);
                if let Err(error) = upkeep::follow(spi, caller, &reaching(spi, template.id)) {
                    error.raise();
                }
                // The label stands in the comment, whether or not the query is another.
                if upkeep::relation(template, &new.slug).is_some() {
                    upkeep::label(spi, template, &new.slug, new.label.as_deref());
                }
            });
        });
    });
    made.map_err(|caught| match caught.state {
        PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE | PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE => taken(),
        PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST => {
            in_use::error(&name(), relation(template, &new.slug), &caught)
        }
        _ => caught.rethrow(),
    })?;
    Ok((get(caller, template, &new.slug)?, before.is_none()))
}

/// The relation that has the name of a view.
fn relation(template: &Template, slug: &str) -> Oid {
    upkeep::relation(template, slug).unwrap_or(Oid::INVALID)
}

fn write(spi: &Connection, template: &Template, new: &NewView) {
    spi.run_once(
        "insert into keyed_state.view (template_id, slug, label, query) values ($1, $2, $3, $4) \
         on conflict (template_id, slug) do update \
         set label = excluded.label, query = excluded.query, updated_at = pg_catalog.now()",
        Access::Latest,
        &[
            (pg_sys::INT4OID, Some(Datum::from(template.id))),
            (pg_sys::TEXTOID, datum::text(&new.slug)),
            (pg_sys::TEXTOID, datum::optional_text(new.label.as_deref())),
            (pg_sys::JSONBOID, datum::jsonb(&new.body)),
        ],
    );
}

/// Drops a view. Changes of definitions must have begun.
pub fn drop(caller: &Caller, template: &Rc<Template>, slug: &str) -> Result<(), Error> {
    caller.require_define(template)?;
    let view = get(caller, template, slug)?;
    let outcome = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                let own = upkeep::relation(template, slug);
                lock_with_views(&[], &Vec::from_iter(own));
                if own.is_some() && view.query.is_some() {
                    spi.script(&format!("drop view {}", view_sql(template, slug)));
                }
                let id = [(pg_sys::INT4OID, Some(Datum::from(view.id)))];
                spi.run_once("delete from keyed_state.view where id = $1", Access::Latest, &id);
            });
        });
    });
    outcome.map_err(|caught| match caught.state {
        PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST => {
            in_use::error(&definition::name(template, slug), relation(template, slug), &caught)
        }
        _ => caught.rethrow(),
    })
}
