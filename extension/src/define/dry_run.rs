//! Dry runs of template changes. The change is executed, its effects are collected, and it is rolled back.

use crate::access::Caller;
use crate::error::Error;
use crate::job;
use crate::json_write::to_json;
use crate::postgres::guard::{as_owner, attempt, subtransaction};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::table_lock::as_dry_run;
use crate::postgres::worker;
use crate::template::{Attribute, Template};
use pgrx::prelude::PgSqlErrorCode;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::convert::Infallible;
use std::rc::Rc;

/// The effects of a change.
#[derive(Serialize)]
struct Plan {
    dry_run: bool,
    /// Changed members of the template.
    changes: Map<String, Value>,
    /// Definitions of new attributes.
    added: Vec<Value>,
    changed: Vec<ChangedAttribute>,
    dropped: Vec<DroppedAttribute>,
    indexes: Vec<PlannedIndex>,
    jobs: Vec<PlannedJob>,
}

#[derive(Serialize)]
struct ChangedAttribute {
    /// The slug before the change.
    slug: String,
    changes: Map<String, Value>,
}

#[derive(Serialize)]
struct DroppedAttribute {
    slug: String,
    /// The number of live records that lose a value; null for a caller that cannot read all records.
    records: Option<i64>,
}

#[derive(Serialize)]
struct PlannedIndex {
    attribute: String,
    action: &'static str,
    /// Whether a job builds it after the change.
    in_background: bool,
}

#[derive(Serialize)]
struct PlannedJob {
    kind: String,
    attribute: Option<String>,
}

/// The members of a template that a dry run does not compare.
const NOT_COMPARED: [&str; 6] = ["id", "slug", "project", "attributes", "created_at", "updated_at"];

/// The result of a change that is rolled back: the template before it, and its effects.
pub struct Outcome {
    before: Option<Rc<Template>>,
    plan: Plan,
}

/// Runs a change of a template, rolls it back and releases its locks. Returns its effects:
/// `{dry_run, changes, added, changed, dropped, indexes, jobs}`.
pub fn plan(change: impl FnOnce() -> Result<Outcome, Error>) -> Result<String, Error> {
    let caller = Caller::current();
    // Always an error, so that the subtransaction rolls back.
    let rolled_back = || attempt(|| Err::<Infallible, _>(change().map(Box::new)));
    let Err(outcome) = as_dry_run(|| worker::without_starting(rolled_back)).or_rethrow();
    let mut outcome = *outcome?;
    // Counted after the locks are released.
    if let Some(template) = outcome.before.as_ref().filter(|template| caller.reads_all(template)) {
        count_values(template, &mut outcome.plan.dropped);
    }
    Ok(to_json(&outcome.plan))
}

/// Executes a change of this template, or creates one. Call it inside [`plan`].
pub fn change(
    before: Option<Rc<Template>>,
    change: impl FnOnce() -> Result<Rc<Template>, Error>,
) -> Result<Outcome, Error> {
    let plan = execute(before.as_deref(), change)?;
    Ok(Outcome { before, plan })
}

fn execute(
    before: Option<&Template>,
    change: impl FnOnce() -> Result<Rc<Template>, Error>,
) -> Result<Plan, Error> {
    let jobs_before = before.map(|template| jobs_of(template.id)).unwrap_or_default();
    let old = before.map(shown).unwrap_or_default();
    let after = change()?;
    let slug_of = |id: i32| after.attributes.iter().find(|it| it.id == id).map(|it| it.slug.clone());
    let mut planned = Vec::new();
    for (key, created_at) in jobs_of(after.id) {
        if jobs_before.get(&key) != Some(&created_at) {
            let (kind, attribute) = key;
            planned.push(PlannedJob { kind, attribute: attribute.and_then(slug_of) });
        }
    }
    planned.sort_by(|a, b| (&a.kind, &a.attribute).cmp(&(&b.kind, &b.attribute)));
    let mut new = shown(&after);
    let template_changes = match before {
        Some(_) => differences(&old.members, &new.members),
        None => Map::new(),
    };
    let (mut changed, mut dropped) = (Vec::new(), Vec::new());
    for (id, attribute) in &old.attributes {
        let slug = attribute["slug"].as_str().unwrap_or_default().to_owned();
        match new.attributes.iter().position(|(other, _)| other == id) {
            None => dropped.push(DroppedAttribute { slug, records: None }),
            Some(position) => {
                let (_, now) = new.attributes.remove(position);
                let changes = differences(attribute, &now);
                if !changes.is_empty() {
                    changed.push(ChangedAttribute { slug, changes });
                }
            }
        }
    }
    Ok(Plan {
        dry_run: true,
        changes: template_changes,
        indexes: indexes(before, &after, &planned),
        // The remaining attributes are new.
        added: new.attributes.into_iter().map(|(_, attribute)| Value::Object(attribute)).collect(),
        changed,
        dropped,
        jobs: planned,
    })
}

/// A template as responses show it.
#[derive(Default)]
struct ShownTemplate {
    members: Map<String, Value>,
    /// Attributes by their ids, without the member `id`.
    attributes: Vec<(String, Map<String, Value>)>,
}

fn shown(template: &Template) -> ShownTemplate {
    let Ok(Value::Object(mut members)) = serde_json::from_str(&template.to_json()) else {
        return ShownTemplate::default();
    };
    let mut attributes = Vec::new();
    if let Some(Value::Array(shown)) = members.remove("attributes") {
        for attribute in shown {
            let Value::Object(mut attribute) = attribute else { continue };
            let id = attribute.remove("id").and_then(|id| id.as_str().map(str::to_owned));
            attributes.push((id.unwrap_or_default(), attribute));
        }
    }
    members.retain(|name, _| !NOT_COMPARED.contains(&name.as_str()));
    ShownTemplate { members, attributes }
}

/// `{member: {old, new}}` of the members that differ.
fn differences(old: &Map<String, Value>, new: &Map<String, Value>) -> Map<String, Value> {
    let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
    let differs = |name: &&String| old.get(*name) != new.get(*name);
    let value = |members: &Map<String, Value>, name: &str| members.get(name).cloned().unwrap_or_default();
    let difference = |name: &String| {
        let both = [("old", value(old, name)), ("new", value(new, name))];
        (name.clone(), Value::Object(both.into_iter().map(|(which, it)| (which.to_owned(), it)).collect()))
    };
    names.filter(differs).map(difference).collect()
}

/// The indexes that the change creates and drops.
fn indexes(before: Option<&Template>, after: &Template, jobs: &[PlannedJob]) -> Vec<PlannedIndex> {
    let has_index = |attribute: &Attribute| attribute.indexed || attribute.target.is_some();
    let old = || before.into_iter().flat_map(|template| &template.attributes);
    let is_job =
        |slug: &str| jobs.iter().any(|job| job.kind == "index" && job.attribute.as_deref() == Some(slug));
    let created = after.attributes.iter().filter(|attribute| {
        let had = old().any(|it| it.id == attribute.id && has_index(it));
        has_index(attribute) && (!had || is_job(&attribute.slug))
    });
    let dropped = old().filter(|attribute| {
        let remains = after.attributes.iter().any(|it| it.id == attribute.id && has_index(it));
        has_index(attribute) && !remains
    });
    let index = |attribute: &Attribute, action| PlannedIndex {
        attribute: attribute.slug.clone(),
        action,
        in_background: action == "create" && is_job(&attribute.slug),
    };
    created.map(|it| index(it, "create")).chain(dropped.map(|it| index(it, "drop"))).collect()
}

/// The creation times of a template's jobs, by kind and attribute.
fn jobs_of(template: i32) -> HashMap<(String, Option<i32>), i64> {
    if !job::table_exists() {
        return HashMap::new();
    }
    let sql =
        format!("select j.kind, j.attribute_id, j.created_at from {} j where j.template_id = $1", job::TABLE);
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Latest, &params![template]);
            let job = |row| {
                let kind = rows.get::<Option<String>>(row, 0).unwrap_or_default();
                let created_at = rows.get::<Option<i64>>(row, 2).unwrap_or_default();
                ((kind, rows.get::<Option<i32>>(row, 1)), created_at)
            };
            (0..rows.len()).map(job).collect()
        })
    })
}

/// Counts the values that live records would lose, in one scan. The counts remain null if another session drops or
/// renames the attributes concurrently.
fn count_values(template: &Template, dropped: &mut [DroppedAttribute]) {
    if dropped.is_empty() {
        return;
    }
    let counts: Vec<String> = dropped.iter().map(|it| format!("count(t.\"{}\")", it.slug)).collect();
    let sql =
        format!("select {} from {} t where t.deleted_at is null", counts.join(", "), template.table_sql());
    let count = || {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
            (0..dropped.len()).map(|position| rows.get::<Option<i64>>(0, position)).collect::<Vec<_>>()
        })
    };
    let gone = [PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN];
    let counted = as_owner(|| subtransaction(count)).catch(|caught| caught.is_any_of(&gone).then_some(()));
    for (it, records) in dropped.iter_mut().zip(counted.unwrap_or_default()) {
        it.records = records;
    }
}
