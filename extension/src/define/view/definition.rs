//! The definition of a view: checks it against its template and renders the CREATE VIEW statement.

use super::presentation::{self, MAX_NAME_BYTES, Presented};
use crate::access::Caller;
use crate::access::visibility::CallerSchema;
use crate::error::{Code, Error};
use crate::filter::field::{Column, Step};
use crate::filter::render::{Options, render};
use crate::record::shape::Projection;
use crate::search::query::body::SearchQuery;
use crate::search::query::plan::Plan;
use crate::search::query::time_zone;
use crate::template::{Attribute, Template, catalog};
use crate::value::quote::{identifier, literal};
use crate::value::table_name::{RECORD, table_sql};
use crate::view::stored::relation_name;
use std::rc::Rc;

/// A checked view body.
pub struct Definition {
    /// The attributes that it names, by id and name.
    pub uses: Vec<(i32, String)>,
    /// The SELECT statement of the SQL view; `None` if there can be none.
    pub sql: Option<String>,
    /// The columns of a view with presentation, and their comments.
    pub comments: Vec<(String, String)>,
}

/// The qualified SQL name of a view's relation.
pub fn view_sql(template: &Template, slug: &str) -> String {
    table_sql(&template.project_slug, &relation_name(template, slug))
}

/// Rejects a slug that makes the name of the SQL view too long.
pub fn check_name(template: &Template, slug: &str) -> Result<(), Error> {
    let name = relation_name(template, slug);
    if name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    let max = MAX_NAME_BYTES.saturating_sub(template.slug.len() + 2);
    let message =
        format!("the name {name} of the SQL view exceeds {MAX_NAME_BYTES} bytes, PostgreSQL's limit");
    Err(Error::at(Code::InvalidSlug, "/slug", message)
        .hint(format!("Use a slug for views of {} with at most {max} characters.", template.full_name())))
}

/// Checks a body with the privileges of the caller, and renders the statement, which is the same for every reader.
pub fn compile(
    caller: &Caller,
    template: &Rc<Template>,
    body: &str,
    has_presentation: bool,
) -> Result<Definition, Error> {
    let query = SearchQuery::parse(body)?;
    let members = [
        ("view", query.view.is_some()),
        ("cursor", query.cursor.is_some()),
        ("query_vector", query.vector.is_some()),
        ("include_deleted", query.include_deleted),
    ];
    for (member, is_given) in members {
        if is_given {
            return Err(Error::at(
                Code::InvalidValue,
                format!("/{member}"),
                format!("a saved view cannot have {member}"),
            )
            .hint(format!("Omit {member}, and send it with a search of the view.")));
        }
    }
    let zone = time_zone::of_search(query.time_zone.as_deref(), template)?;
    let plan = Plan::new(&query, &CallerSchema::new(caller, Rc::clone(template)), &zone)?;
    Projection::parse(caller, template, query.fields.as_deref(), query.verbose)?;
    let uses = uses(template, &query, &plan);
    if !has_presentation {
        let sql = plan.terms.is_none().then(|| select(&columns(template), "", &query, &plan));
        return Ok(Definition { uses, sql, comments: Vec::new() });
    }
    if plan.terms.is_some() {
        return Err(Error::at(
            Code::InvalidValue,
            "/global_search",
            "a view with presentation cannot have global_search",
        )
        .hint("Omit global_search. Full-text search needs functions that SQL views do not call."));
    }
    let shown = shown(template, query.fields.as_deref());
    let Presented { columns, joins } = presentation::present(template, &shown, catalog::by_id)?;
    let selected = columns.iter().map(|column| format!("{} as {}", column.sql, identifier(&column.name)));
    let sql = Some(select(&Vec::from_iter(selected), &joins, &query, &plan));
    let comments = columns.into_iter().map(|column| (column.name, column.comment)).collect();
    Ok(Definition { uses, sql, comments })
}

/// Whether a view with presentation has columns of an attribute.
pub fn has_columns_of(template: &Template, body: &str, attribute: &Attribute) -> bool {
    let query = SearchQuery::parse(body);
    query.is_ok_and(|query| shown(template, query.fields.as_deref()).iter().any(|it| it.id == attribute.id))
}

/// The columns of a view without presentation: those of the table.
fn columns(template: &Template) -> Vec<String> {
    let standard = ["id", "external_key", "created_at", "updated_at"].map(|name| format!("{RECORD}.{name}"));
    let attributes = template.attributes.iter().map(|it| format!("{RECORD}.{}", identifier(&it.slug)));
    standard.into_iter().chain(attributes).collect()
}

/// The attributes in `fields` without duplicates, or all attributes.
fn shown<'t>(template: &'t Template, fields: Option<&[String]>) -> Vec<&'t Attribute> {
    let Some(fields) = fields else { return template.attributes.iter().collect() };
    let mut positions: Vec<usize> = Vec::new();
    for position in fields.iter().filter_map(|field| template.position(field)) {
        if !positions.contains(&position) {
            positions.push(position);
        }
    }
    positions.into_iter().map(|position| &template.attributes[position]).collect()
}

/// The SELECT statement for the matching live records, in the order of the body.
fn select(columns: &[String], joins: &str, query: &SearchQuery, plan: &Plan) -> String {
    // The SQL form of earlier versions, so that an update of the extension changes no view.
    let condition =
        |as_sets| render(&plan.filter, RECORD, Options { lives: plan.lives, as_sets, ..Options::default() });
    let condition = plan.condition.replace(&condition(false), &condition(true));
    let mut sql = format!("select {} from {}{joins} where {condition}", columns.join(", "), plan.from);
    if query.sort.is_some() {
        sql.push_str(&format!(" order by {}", plan.order.order_by()));
    }
    sql
}

/// The statements that create the view and its comment.
pub fn create(template: &Template, slug: &str, label: Option<&str>, sql: &str) -> String {
    let view = view_sql(template, slug);
    format!(
        "create or replace view {view} with (security_invoker = true) as {sql}; comment on view {view} is {};",
        literal(label.unwrap_or(slug))
    )
}

fn uses(template: &Template, query: &SearchQuery, plan: &Plan) -> Vec<(i32, String)> {
    let of_filter = plan.filter.uses().into_iter().filter_map(|used| Some((used.attribute?, used.field)));
    let of_path = |path: &[Step], column: &Column| {
        let steps = path.iter().map(|step| (step.attribute, step.slug.clone())).collect::<Vec<_>>();
        steps.into_iter().chain(column.attribute().map(|id| (id, column.name().to_owned())))
    };
    let of_sort = plan.keys.iter().flat_map(|key| of_path(&key.path, &key.column));
    let of_facets = plan.facets.iter().flat_map(|facet| of_path(&[], &facet.column));
    let fields = query.fields.iter().flatten().filter_map(|name| template.position(name));
    let of_fields = fields.map(|position| {
        let attribute = &template.attributes[position];
        (attribute.id, attribute.slug.clone())
    });
    of_filter.chain(of_sort).chain(of_facets).chain(of_fields).collect()
}
