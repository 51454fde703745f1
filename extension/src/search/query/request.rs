//! Reads the body of a search, within the view that it names, and plans it.

use super::body::SearchQuery;
use super::plan::Plan;
use super::time_zone;
use crate::access::visibility::CallerSchema;
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::template::Template;
use crate::view::stored;
use std::rc::Rc;

/// Passes the body of a search to `then`, if the caller may read records of the template.
pub fn read<R>(
    caller: &Caller,
    template: &Template,
    body: &str,
    then: impl FnOnce(SearchQuery) -> Result<R, Error>,
) -> Result<R, Error> {
    caller.require(Action::Read, template)?;
    let query = SearchQuery::parse(body)?;
    let saved = stored::body_of(template, query.view.as_deref())?;
    then(query.within(saved.as_deref())?)
}

/// The plan of a search.
pub fn plan(caller: &Caller, template: &Rc<Template>, query: &SearchQuery) -> Result<Plan, Error> {
    let zone = time_zone::of_search(query.time_zone.as_deref(), template)?;
    Plan::new(query, &CallerSchema::new(caller, Rc::clone(template)), &zone)
}
