//! Search: which records, in which order, page by page.
//!
//! ```text
//! body ──query/──▶ Plan ──run──▶ page/, facet/, semantic/ ──▶ SearchResult ──▶ JSON
//! ```
//!
//! [`search`] is the only entry: it covers full-text terms, typo tolerance and vectors. A search is one plan with one
//! condition, which includes the caller's scopes; every statement of the search (page, count, facets) uses it. Values of a
//! request reach SQL as parameters or through `value/quote.rs`.
//!
//! Each folder imports only from those before it:
//!
//! | folder | holds |
//! |---|---|
//! | `text/` | full-text search: documents, terms, matches and their ranks |
//! | `assistance/` | synonyms, suggestions, typo tolerance, highlights |
//! | `query/` | the body, the plan, cursors |
//! | `page/` | access paths to the records of a page, and their cost model |
//! | `facet/` | values of fields with their counts |
//! | `semantic/` | search by vectors, with or without terms |

/// Assistance for typing.
pub mod assistance;
/// Explains a search.
pub mod explain;
/// Values of fields with their counts.
pub mod facet;
/// The SQL and HTTP functions.
pub mod functions;
/// Access paths to the records of a page.
pub mod page;
/// The body of a search, and its plan.
pub mod query;
/// The result of a search, and its response.
pub mod result;
/// Runs the statements of a search.
mod run;
/// Search by vectors.
pub mod semantic;
/// Full-text search.
pub mod text;

use crate::access::Caller;
use crate::error::Error;
use crate::filter::render;
use crate::record::shape::Projection;
use crate::template::Template;
use crate::value::table_name::RECORD;
use crate::vectors;
use assistance::typo_tolerance;
use page::selection;
use query::request;
use result::SearchResult;
use std::rc::Rc;

/// Finds records of a template. If no record has the terms and `fuzzy` is set, terms with a typo are corrected.
pub fn search(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<SearchResult, Error> {
    request::read(caller, template, body, |mut query| {
        let (result, terms) = run::run(caller, template, &query)?;
        let Some(terms) = terms.filter(|_| query.fuzzy && result.is_empty()) else { return Ok(result) };
        let has_match = |term: &text::query::Term| run::has_match(caller, template, term);
        let corrected = typo_tolerance::correct(caller, template, &terms, has_match, |corrections| {
            query.corrections = corrections;
            let (result, _) = run::run(caller, template, &query)?;
            Ok(Some(result).filter(|result| !result.is_empty()))
        })?;
        Ok(corrected.unwrap_or(result))
    })
}

/// Rejects the bodies that [`search`] rejects, without searching.
pub fn check(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<(), Error> {
    request::read(caller, template, body, |query| {
        request::plan(caller, template, &query)?;
        Projection::parse(caller, template, query.fields.as_deref(), query.verbose)?;
        if query.vector.is_some() {
            vectors::table::require(template)?;
        }
        Ok(())
    })
}

/// The condition that the terms and filters of a search compile to, in readable form.
pub fn filter_sql(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    request::read(caller, template, body, |query| {
        let plan = request::plan(caller, template, &query)?;
        let options = render::Options { lives: plan.lives, ..render::Options::default() };
        let filters = render::render(&plan.filter, RECORD, options);
        Ok(match &plan.terms {
            Some(terms) => format!("{} and {filters}", selection::condition(caller, template, terms)?),
            None => filters,
        })
    })
}
