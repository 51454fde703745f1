//! Runs a semantic search and writes the answer: an array of `{similarity_score, entity}`.

use super::find::{self, Adjacent, Found};
use super::query::SemanticQuery;
use super::strategy::VectorSearch;
use crate::access::lookup::template_by_name;
use crate::access::privilege::Privilege;
use crate::access::{Action, Caller, template_list};
use crate::error::{Code, Error};
use crate::filter::schema::{Attribute, Schema};
use crate::filter::{check, parse};
use crate::json::write_string;
use crate::json_write::write_double;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::postgres::{datum, table_lock};
use crate::record::shape::{STANDARD_COLUMNS, write_name, write_value};
use crate::record::statement::columns;
use crate::search::query::plan::Plan;
use crate::search::query::request;
use crate::search::query::usage;
use crate::template::{Template, catalog};
use crate::value::table_name::RECORD;
use crate::vectors::table;
use std::collections::HashMap;
use std::rc::Rc;
use uuid::Uuid;

/// The result of a semantic search.
pub struct SemanticResult {
    /// The array of records, as JSON.
    pub json: String,
    /// Whether every candidate was compared.
    pub is_exact: bool,
    /// Whether there are fewer records than the limit because there are no more.
    pub is_exhausted: bool,
}

/// Finds the records that are closest to the vector of the body.
pub fn search(caller: &Caller, body: &str) -> Result<SemanticResult, Error> {
    let query = SemanticQuery::parse(body)?;
    let templates = templates(caller, &query)?;
    let plans = plans(caller, &query, &templates)?;
    let result = as_owner(|| connected(|spi| closest(spi, caller, &query, &templates, &plans)))?;
    plans.iter().for_each(usage::note);
    Ok(result)
}

/// Rejects the bodies that [`search`] rejects, without searching.
pub fn check(caller: &Caller, body: &str) -> Result<(), Error> {
    let query = SemanticQuery::parse(body)?;
    let templates = templates(caller, &query)?;
    plans(caller, &query, &templates)?;
    templates.iter().try_for_each(|template| table::require(template).map(drop))
}

fn plans(caller: &Caller, query: &SemanticQuery, templates: &[Rc<Template>]) -> Result<Vec<Plan>, Error> {
    let plan = |template: &Rc<Template>| request::plan(caller, template, &query.filters);
    templates.iter().map(plan).collect()
}

fn closest(
    spi: &Connection,
    caller: &Caller,
    query: &SemanticQuery,
    templates: &[Rc<Template>],
    plans: &[Plan],
) -> Result<SemanticResult, Error> {
    let (mut is_exact, mut all) = (true, Vec::new());
    for (position, (template, plan)) in templates.iter().zip(plans).enumerate() {
        pgrx::check_for_interrupts!();
        let found = find_in(spi, caller, query, template, plan)?;
        is_exact &= found.is_exact;
        all.extend(found.neighbours.into_iter().map(|neighbour| (neighbour, position)));
        // Only records that can be in the result are kept in memory.
        all.sort_unstable();
        all.truncate(query.limit);
    }
    let json = write(spi, templates, plans, &all);
    Ok(SemanticResult { json, is_exact, is_exhausted: all.len() < query.limit })
}

fn find_in(
    spi: &Connection,
    caller: &Caller,
    query: &SemanticQuery,
    template: &Template,
    plan: &Plan,
) -> Result<Found, Error> {
    if plan.filter.is_never_true() {
        return Ok(Found { neighbours: Vec::new(), is_exact: true });
    }
    let requested = VectorSearch::of(caller, template, plan, &query.vector, query.limit, query.threshold);
    find::find(spi, &requested)
}

/// The templates that are searched.
fn templates(caller: &Caller, query: &SemanticQuery) -> Result<Vec<Rc<Template>>, Error> {
    if let Some(name) = &query.template {
        let template = find_template(caller, name)?;
        caller.require(Action::Read, &template)?;
        return Ok(vec![template]);
    }
    let conditions = parse::body(query.filters.filters, query.filters.filter_groups)?;
    check::check(&conditions, &AnyTemplate, check::Settings::default()).map_err(|error| {
        error.hint("Send template_id to filter by attributes. Without it, filter by standard fields only.")
    })?;
    let readable: Vec<i32> = template_list::templates(caller)
        .iter()
        .filter(|template| template.holds(Privilege::Read))
        .map(|template| template.id)
        .collect();
    let searched = table::filled(&readable);
    // Without pgvector, no template has vectors. That is an error, not an empty result.
    if searched.is_empty()
        && let Some(template) = table::first_without(&readable).and_then(catalog::by_id)
    {
        table::require(&template)?;
    }
    if searched.len() > table_lock::max_tables() {
        let message = format!("one search cannot cover the texts of {} templates", searched.len());
        return Err(Error::at(Code::PayloadTooLarge, "/template_id", message).hint("Send template_id."));
    }
    let open = |id: i32| catalog::by_id(id).filter(|template| caller.require(Action::Read, template).is_ok());
    Ok(searched.into_iter().filter_map(open).filter(|template| template.vector_schema.is_some()).collect())
}

/// A template by id, by slug within the caller's project, or as `project.template`.
fn find_template(caller: &Caller, name: &str) -> Result<Rc<Template>, Error> {
    let Some((project, slug)) = name.split_once('.') else { return template_by_name(caller, name) };
    let project = catalog::project_by_name_or_id(project).ok_or_else(Error::not_found)?;
    let found = catalog::by_slug(project.id, slug);
    found.filter(|template| caller.can_access_project(template.project_id)).ok_or_else(Error::not_found)
}

/// The fields that all templates have: the standard fields.
struct AnyTemplate;

impl Schema for AnyTemplate {
    fn id(&self) -> i32 {
        0
    }

    fn slug(&self) -> &str {
        "any"
    }

    fn full_name(&self) -> String {
        "every template".to_owned()
    }

    fn table(&self) -> String {
        String::new()
    }

    fn attributes(&self) -> Box<dyn Iterator<Item = Attribute<'_>> + '_> {
        Box::new(std::iter::empty())
    }

    fn target(&self, _attribute: i32) -> Option<Rc<dyn Schema>> {
        None
    }

    fn visible(&self, _alias: &str) -> Option<String> {
        None
    }
}

/// Writes the records: read template by template, returned in the common order.
fn write(
    spi: &Connection,
    templates: &[Rc<Template>],
    plans: &[Plan],
    found: &[(Adjacent, usize)],
) -> String {
    let mut records: HashMap<Uuid, String> = HashMap::with_capacity(found.len());
    for (position, (template, plan)) in templates.iter().zip(plans).enumerate() {
        let ids: Vec<Uuid> = found.iter().filter(|it| it.1 == position).map(|it| it.0.id).collect();
        if ids.is_empty() {
            continue;
        }
        let sql = format!(
            "select {} from {} {RECORD} where {RECORD}.id = any ($1) and {}",
            columns(template),
            template.table_sql(),
            plan.condition
        );
        let rows = if plan.filter.is_always_true() {
            template.run(spi, &sql, Snapshot::Active, &params![ids])
        } else {
            spi.run_once(&sql, Snapshot::Active, &params![ids])
        };
        for row in 0..rows.len() {
            let id = rows.get::<Option<Uuid>>(row, 0).unwrap_or_default();
            records.insert(id, entity(template, &rows, row));
        }
    }
    let mut out = String::from("[");
    for (neighbour, _) in found {
        let Some(record) = records.get(&neighbour.id) else { continue };
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str("{\"similarity_score\":");
        write_double(&mut out, neighbour.similarity());
        out.push_str(",\"entity\":");
        out.push_str(record);
        out.push('}');
    }
    out.push(']');
    out
}

/// `{id, template_id, template_slug, external_key, attribute_values: {slug: {value}}}`.
fn entity(template: &Template, rows: &Rows, row: usize) -> String {
    let id = rows.get::<Option<Uuid>>(row, 0).unwrap_or_default();
    let mut out = format!(
        "{{\"id\":\"{id}\",\"template_id\":\"{}\",\"template_slug\":\"{}\",\"external_key\":",
        template.id_text, template.slug
    );
    match rows.datum(row, 1) {
        Some(key) => datum::with_text(key, |key| write_string(&mut out, key)),
        None => out.push_str("null"),
    }
    out.push_str(",\"attribute_values\":{");
    let mut first = true;
    for (position, attribute) in template.attributes.iter().enumerate() {
        write_name(&mut out, attribute, &mut first);
        out.push_str("{\"value\":");
        write_value(&mut out, attribute.kind, rows.datum(row, STANDARD_COLUMNS + position));
        out.push('}');
    }
    out.push_str("}}");
    out
}
