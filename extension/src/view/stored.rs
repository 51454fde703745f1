//! Stored views: the rows of `keyed_state.view`.

use crate::access::privilege::Privilege;
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::json_write::{raw, to_json};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::template::Template;
use crate::template::catalog::{self, REFERRING};
use crate::value::time;
use serde::Serialize;
use serde_json::value::RawValue;
use std::rc::Rc;

/// A stored view.
pub struct SavedView {
    /// Its id.
    pub id: i32,
    /// Its template.
    pub template: Rc<Template>,
    /// Its name.
    pub slug: String,
    /// Its label.
    pub label: Option<String>,
    /// The body of the search, as JSON (column `query`).
    pub body: String,
    /// The SELECT statement of its SQL view, if it has one (column `definition`).
    pub definition: Option<String>,
    /// Whether its SQL view has presentation columns.
    pub has_presentation: bool,
    created_at: i64,
    updated_at: i64,
}

/// The column `presentation` is read through `to_jsonb`, because a database that is not migrated lacks it.
const COLUMNS: &str = "v.id, v.template_id, v.slug, v.label, v.query::text, v.definition, v.created_at, v.updated_at, \
     coalesce((pg_catalog.to_jsonb(v) ->> 'presentation')::boolean, false)";

/// The name of the view in PostgreSQL.
pub fn relation_name(template: &Template, slug: &str) -> String {
    format!("{}__{slug}", template.slug)
}

/// Whether the table of views exists. A database that is not migrated lacks it.
pub fn table_exists() -> bool {
    catalog::table_oid("keyed_state", "view").is_some()
}

impl SavedView {
    /// `{slug, label, query, presentation?, sql_view, created_at, updated_at}`. `sql_view` is null without an SQL view.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Rendered<'a> {
            slug: &'a str,
            label: &'a str,
            query: Option<&'a RawValue>,
            #[serde(skip_serializing_if = "Option::is_none")]
            presentation: Option<bool>,
            sql_view: Option<String>,
            created_at: String,
            updated_at: String,
        }
        let sql_view =
            || format!("{}.{}", self.template.project_slug, relation_name(&self.template, &self.slug));
        to_json(&Rendered {
            slug: &self.slug,
            label: self.label.as_deref().unwrap_or(&self.slug),
            query: raw(&self.body),
            presentation: self.has_presentation.then_some(true),
            sql_view: self.definition.is_some().then(sql_view),
            created_at: time::datetime(self.created_at),
            updated_at: time::datetime(self.updated_at),
        })
    }
}

fn read(rows: &Rows) -> Vec<SavedView> {
    let view = |row| {
        let text = |column| rows.get::<Option<String>>(row, column);
        let moment = |column| rows.get::<Option<i64>>(row, column).unwrap_or_default();
        Some(SavedView {
            id: rows.get(row, 0),
            template: catalog::by_id(rows.get::<Option<i32>>(row, 1)?)?,
            slug: text(2)?,
            label: text(3),
            body: text(4)?,
            definition: text(5),
            created_at: moment(6),
            updated_at: moment(7),
            has_presentation: rows.get::<Option<bool>>(row, 8).unwrap_or_default(),
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

/// The views that may refer to a template.
pub fn views_about(spi: &Connection, template: i32) -> Vec<SavedView> {
    find(spi, "v.template_id in (select id from referring)", template)
}

fn find(spi: &Connection, condition: &str, number: i32) -> Vec<SavedView> {
    if !table_exists() {
        return Vec::new();
    }
    let sql = format!(
        "with recursive {REFERRING} select {COLUMNS} from keyed_state.view v where {condition} \
         order by v.template_id, v.slug"
    );
    read(&spi.run_once(&sql, Snapshot::Latest, &params![number]))
}

/// The body of the view that a search names. Check the read privilege first.
pub fn body_of(template: &Template, slug: Option<&str>) -> Result<Option<String>, Error> {
    let Some(slug) = slug else { return Ok(None) };
    let sql = "select v.query::text from keyed_state.view v where v.template_id = $1 and v.slug = $2";
    let body = as_owner(|| {
        if !table_exists() {
            return None;
        }
        connected(|spi| template.run(spi, sql, Snapshot::Latest, &params![template.id, slug]).value())
    });
    let unknown = || {
        Error::at(Code::InvalidValue, "/view", format!("{} has no view {slug:?}", template.full_name()))
            .hint("List the views with keyed.list_views(template) or GET /templates/{template}/views.")
    };
    body.ok_or_else(unknown).map(Some)
}

/// Requires `read` or `define` on the template.
pub fn require_read_or_define(caller: &Caller, template: &Template) -> Result<(), Error> {
    if caller.holds(Privilege::Define, template) { Ok(()) } else { caller.require(Action::Read, template) }
}

/// `{views: […]}`, by slug.
pub fn list(caller: &Caller, template: &Template) -> Result<String, Error> {
    require_read_or_define(caller, template)?;
    let views = as_owner(|| connected(|spi| of_template(spi, template.id)));
    let views: Vec<String> = views.iter().map(SavedView::to_json).collect();
    Ok(format!("{{\"views\":[{}]}}", views.join(",")))
}

/// The view with this slug.
pub fn get(caller: &Caller, template: &Template, slug: &str) -> Result<SavedView, Error> {
    require_read_or_define(caller, template)?;
    let views = as_owner(|| connected(|spi| of_template(spi, template.id)));
    views.into_iter().find(|view| view.slug == slug).ok_or_else(|| unknown(template, slug))
}

fn unknown(template: &Template, slug: &str) -> Error {
    Error::new(Code::NotFound, format!("{} has no view {slug:?}", template.full_name()))
}
