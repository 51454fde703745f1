//! Background work over HTTP.

use super::report::{lines, own_lines, slugs, utc};
use super::response;
use crate::access::Caller;
use crate::access::lookup::template_by_name;
use crate::embedding::queue::manage;
use crate::error::{Code, Error};
use crate::job::start_pending;
use crate::postgres::parameter::{RegClass, params};
use crate::template::Template;
use crate::value::written::Written;
use std::rc::Rc;

/// `{jobs: […]}`: the jobs of templates that the caller can define.
pub(super) fn jobs() -> String {
    let query = format!(
        "select j.id, j.template, j.kind, j.attribute, j.state, j.progress, j.phase, j.records_done, j.records, \
         j.attempts, j.error, j.hint, {}, {} from keyed.jobs() j order by j.id",
        utc("j.created_at"),
        utc("j.started_at")
    );
    format!("{{\"jobs\":{}}}", own_lines(&query, &[]))
}

/// Starts pending and failed jobs.
pub(super) fn retry_jobs() -> Result<Written, Error> {
    let caller = Caller::current();
    caller.require_admin("run jobs")?;
    caller.require_all_projects("run jobs")?;
    Ok(counted(i64::from(start_pending(true))))
}

/// `{templates: […]}`: the progress of embedding.
pub(super) fn embedding_status() -> Result<String, Error> {
    let caller = Caller::current();
    caller.require_admin("see the progress of embedding")?;
    let query = format!(
        "select s.template, s.attributes, s.pending, s.running, s.failed, s.done, s.by_hand, {}, s.models \
         from keyed.embedding_status() s where $1 is null or split_part(s.template, '.', 1) = any ($1) \
         order by s.template",
        utc("s.oldest_due")
    );
    Ok(format!("{{\"templates\":{}}}", lines(&query, &params![slugs(caller.projects().as_deref())])))
}

/// The default and the maximum number of failures in a list.
const FAILURES: (i32, i32) = (100, 1000);

/// `{failures: […]}`: the records whose last attempt failed.
pub(super) fn embedding_failures(template: Option<&str>, limit: Option<i32>) -> Result<String, Error> {
    let caller = Caller::current();
    caller.require_admin("see failed embeddings")?;
    let limit = limit.unwrap_or(FAILURES.0);
    if !(1..=FAILURES.1).contains(&limit) {
        let message = format!("limit must be between 1 and {}", FAILURES.1);
        return Err(Error::at(Code::InvalidValue, "/limit", message));
    }
    let table = named(&caller, template)?.map(|template| RegClass(template.table));
    // The function also returns failures of other projects.
    let projects = slugs(caller.projects().as_deref());
    let asked = if projects.is_none() || table.is_some() { limit } else { i32::MAX };
    let query = format!(
        "select f.template, f.record_id, f.state, f.attempts, f.error, {}, {} \
         from keyed.embedding_failures($1, $2) f where $3 is null or split_part(f.template, '.', 1) = any ($3) limit $4",
        utc("f.failed_at"),
        utc("f.next_at")
    );
    let arguments = params![table, asked, projects, limit];
    Ok(format!("{{\"failures\":{}}}", lines(&query, &arguments)))
}

/// Retries failed records of a template, or of all templates that the caller can administer.
pub(super) fn retry_embeddings(template: Option<&str>) -> Result<Written, Error> {
    let caller = Caller::current();
    caller.require_admin("retry embeddings")?;
    manage::retry(named(&caller, template)?.as_deref()).map(counted)
}

/// `{suggestions: [{attribute, filters, sorts, since}]}` of a template.
pub(super) fn suggest_indexes(template: &str) -> Result<String, Error> {
    let caller = Caller::current();
    caller.require_admin("see the usage of attributes")?;
    let template = template_by_name(&caller, template)?;
    let query = format!(
        "select s.attribute, s.filters, s.sorts, {} from keyed.suggest_indexes($1) s",
        utc("s.since")
    );
    Ok(format!("{{\"suggestions\":{}}}", lines(&query, &params![RegClass(template.table)])))
}

fn named(caller: &Caller, template: Option<&str>) -> Result<Option<Rc<Template>>, Error> {
    template.map(|name| template_by_name(caller, name)).transpose()
}

fn counted(count: i64) -> Written {
    response(200, format!("{{\"count\":{count}}}"))
}
