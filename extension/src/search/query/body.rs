//! The body of a search, parsed and checked for members that exclude each other. Pure.

use super::cursor;
use crate::error::{Code, Error};
use crate::filter::schema::AttributeKey;
use crate::json::{self, text_at};
use crate::search::assistance::correction::{self, Corrections};
use crate::value::member::{field_names_at, missing, unknown_member};
use crate::value::vector::Vector;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The default number of records of a page.
pub const DEFAULT_LIMIT: usize = 100;
/// The maximum number of records of a page.
pub const MAX_LIMIT: usize = 1000;
/// The maximum number of records of a search by a vector: the number taken from each list, of terms and of vectors.
pub const MAX_BY_VECTOR: usize = 200;
/// The maximum number of facets of a search.
pub const MAX_FACETS: usize = 20;

/// Whether all the records that were found are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// `total` is null.
    #[default]
    None,
    /// `total` is the planner's estimate.
    Estimated,
    /// `total` is counted.
    Exact,
}

/// The options of highlights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Whether offsets are included.
    pub offsets: bool,
}

/// A search as it was sent (docs/reference/search.md).
#[derive(Debug, Default)]
pub struct SearchQuery<'a> {
    /// Full-text terms.
    pub global_search: Option<Cow<'a, str>>,
    /// Whether terms with a typo are corrected if nothing else is found.
    pub fuzzy: bool,
    /// The corrections of such terms.
    pub corrections: Corrections,
    /// Conditions that must all hold.
    pub filters: Option<&'a RawValue>,
    /// Groups of conditions, of which one must hold.
    pub filter_groups: Option<&'a RawValue>,
    /// How conditions and sorts name attributes.
    pub attribute_key: AttributeKey,
    /// The sort order.
    pub sort: Option<&'a RawValue>,
    /// The maximum number of records of the page.
    pub limit: Option<usize>,
    /// The cursor of the previous page.
    pub cursor: Option<Cow<'a, str>>,
    /// The fields of each record in the response; all when absent.
    pub fields: Option<Vec<String>>,
    /// Whether records have `attribute_values`.
    pub verbose: bool,
    /// Whether records have their version.
    pub versions: bool,
    /// Whether records have highlights, and how.
    pub highlight: Option<Highlight>,
    /// Whether all records found are counted.
    pub count: Count,
    /// The time zone of dates.
    pub time_zone: Option<Cow<'a, str>>,
    /// Fields whose values are counted.
    pub facets: Vec<Cow<'a, str>>,
    /// Whether deleted records are found too, or only those if a filter is on `deleted_at`.
    pub include_deleted: bool,
    /// The slug of the saved view whose records are searched.
    pub view: Option<Cow<'a, str>>,
    /// The body of that view, after it was read.
    pub within: Option<Box<SearchQuery<'a>>>,
    /// The members of the body.
    given: Vec<Cow<'a, str>>,
    /// The vector that records are compared with, in the modes that use one.
    pub vector: Option<Vector>,
}

impl<'a> SearchQuery<'a> {
    /// Whether the body has a member.
    fn has(&self, member: &str) -> bool {
        self.given.iter().any(|name| name == member)
    }

    /// The body that has a member: this one, else that of its view.
    pub fn source(&self, member: &str) -> &SearchQuery<'a> {
        match &self.within {
            Some(view) if !self.has(member) => view,
            _ => self,
        }
    }
}

impl<'a> SearchQuery<'a> {
    /// Reads the body. Members that are null count as absent.
    pub fn parse(body: &'a str) -> Result<SearchQuery<'a>, Error> {
        let (mut query, mut mode) = (SearchQuery::default(), None);
        for (name, value) in json::object(body)?.0 {
            let here = format!("/{}", json::pointer_step(&name));
            if json::is_null(value) && KNOWN.contains(&name.as_ref()) {
                continue;
            }
            match name.as_ref() {
                "global_search" => query.global_search = Some(text_at(value, &here)?),
                "fuzzy" => query.fuzzy = fuzzy_at(value, &here)?,
                "filters" => query.filters = Some(value),
                "filter_groups" => query.filter_groups = Some(value),
                "attribute_key" => query.attribute_key = AttributeKey::parse(value, &here)?,
                "sort" => query.sort = Some(value),
                "limit" => query.limit = Some(limit_at(value, &here)?),
                "cursor" => {
                    let cursor = text_at(value, &here)?;
                    let (cursor, corrections) = correction::split(&cursor).ok_or_else(cursor::rejection)?;
                    (query.cursor, query.corrections) = (Some(Cow::Owned(cursor.to_owned())), corrections);
                }
                "fields" => query.fields = Some(field_names_at(value, &here)?),
                "verbose" => query.verbose = json::boolean_at(value, &here)?,
                "versions" => query.versions = json::boolean_at(value, &here)?,
                "highlight" => query.highlight = highlight_at(value, &here)?,
                "count" => query.count = count_at(value, &here)?,
                "time_zone" => query.time_zone = Some(text_at(value, &here)?),
                "facets" => query.facets = facets_at(value, &here)?,
                "include_deleted" => query.include_deleted = json::boolean_at(value, &here)?,
                "view" => query.view = Some(text_at(value, &here)?),
                "query_vector" => query.vector = Some(Vector::parse(value, &here)?),
                "mode" => mode = Some(Mode::parse(value, &here)?),
                TEXT if json::is_null(value) => continue,
                TEXT => return Err(text_in_sql(&here)),
                _ => {
                    let hint = format!("Use the members {}.", KNOWN.join(", "));
                    return Err(unknown_member(&name, &here).hint(hint));
                }
            }
            query.given.push(name);
        }
        settle(&mut query, mode)?;
        Ok(query)
    }

    /// The search within the body of a saved view: records must match both, and members of the page that the search does
    /// not have are those of the view.
    pub fn within(mut self, view: Option<&'a str>) -> Result<SearchQuery<'a>, Error> {
        let Some(view) = view else { return Ok(self) };
        let view = SearchQuery::parse(view)?;
        if self.vector.is_some() {
            check_view(&view)?;
        }
        let maximum = if self.vector.is_some() { MAX_BY_VECTOR } else { MAX_LIMIT };
        self.limit = self.limit.or(view.limit.map(|limit| limit.min(maximum)));
        self.fields = self.fields.or_else(|| view.fields.clone());
        self.time_zone = self.time_zone.or_else(|| view.time_zone.clone());
        if !self.has("verbose") {
            self.verbose = view.verbose;
        }
        if !self.has("versions") {
            self.versions = view.versions;
        }
        if !self.has("fuzzy") {
            self.fuzzy = view.fuzzy;
        }
        if !self.has("highlight") {
            self.highlight = view.highlight;
        }
        if !self.has("count") {
            self.count = view.count;
        }
        self.within = Some(Box::new(view));
        Ok(self)
    }
}

const KNOWN: [&str; 19] = [
    "global_search",
    "fuzzy",
    "filters",
    "filter_groups",
    "attribute_key",
    "sort",
    "limit",
    "cursor",
    "fields",
    "verbose",
    "versions",
    "highlight",
    "count",
    "time_zone",
    "facets",
    "include_deleted",
    "view",
    "query_vector",
    "mode",
];

/// The member that requests over HTTP may have in place of `query_vector`.
pub const TEXT: &str = "query_text";

/// The error of a string that no provider can embed.
pub fn text_in_sql(pointer: &str) -> Error {
    unknown_member(TEXT, pointer).hint("Send query_vector: only searches over HTTP embed text.")
}

fn limit_at(value: &RawValue, pointer: &str) -> Result<usize, Error> {
    value.get().parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit)).ok_or_else(|| {
        Error::at(Code::InvalidValue, pointer, format!("limit is a whole number from 1 to {MAX_LIMIT}"))
            .hint("Read further pages with next_cursor.")
    })
}

fn fuzzy_at(value: &RawValue, pointer: &str) -> Result<bool, Error> {
    match json::string_at(value, pointer)?.as_deref() {
        Some("auto") => Ok(true),
        Some("off") => Ok(false),
        _ => Err(Error::at(Code::InvalidValue, pointer, "must be \"auto\" or \"off\"")),
    }
}

/// true, false, or an object with options.
fn highlight_at(value: &RawValue, pointer: &str) -> Result<Option<Highlight>, Error> {
    match value.get() {
        "true" => return Ok(Some(Highlight { offsets: false })),
        "false" => return Ok(None),
        text if text.starts_with('{') => {}
        _ => {
            let message = "must be true, false or {\"offsets\": true}";
            return Err(Error::at(Code::InvalidValue, pointer, message));
        }
    }
    let mut highlight = Highlight { offsets: false };
    for (name, value) in json::object_at(value, pointer)?.0 {
        let here = format!("{pointer}/{}", json::pointer_step(&name));
        match name.as_ref() {
            "offsets" => highlight.offsets = json::boolean_at(value, &here)?,
            _ => {
                return Err(
                    unknown_member(&name, &here).hint("Use only offsets in highlight: {\"offsets\": true}.")
                );
            }
        }
    }
    Ok(Some(highlight))
}

fn count_at(value: &RawValue, pointer: &str) -> Result<Count, Error> {
    match text_at(value, pointer)?.as_ref() {
        "none" => Ok(Count::None),
        "estimated" => Ok(Count::Estimated),
        "exact" => Ok(Count::Exact),
        _ => Err(Error::at(Code::InvalidValue, pointer, "must be \"none\", \"estimated\" or \"exact\"")),
    }
}

fn facets_at<'a>(value: &'a RawValue, pointer: &str) -> Result<Vec<Cow<'a, str>>, Error> {
    let names = json::array_at_most(value, MAX_FACETS + 1, pointer)?;
    if names.len() > MAX_FACETS {
        return Err(Error::at(Code::InvalidValue, pointer, format!("at most {MAX_FACETS} facets")));
    }
    let names = names.into_iter().enumerate();
    names.map(|(index, name)| text_at(name, &format!("{pointer}/{index}"))).collect()
}

/// How the records found are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By terms, or in the sort order.
    Keyword,
    /// By the distance of their vectors.
    Semantic,
    /// By both.
    Hybrid,
}

impl Mode {
    /// Reads the member `mode`.
    pub fn parse(value: &RawValue, pointer: &str) -> Result<Mode, Error> {
        match text_at(value, pointer)?.as_ref() {
            "keyword" => Ok(Mode::Keyword),
            "semantic" => Ok(Mode::Semantic),
            "hybrid" => Ok(Mode::Hybrid),
            _ => {
                Err(Error::at(Code::InvalidValue, pointer, "must be \"keyword\", \"semantic\" or \"hybrid\""))
            }
        }
    }
}

/// Drops members that the mode does not use, and rejects those that it excludes.
fn settle(query: &mut SearchQuery, asked: Option<Mode>) -> Result<(), Error> {
    let mode = asked.unwrap_or(match (&query.vector, &query.global_search) {
        (None, _) => Mode::Keyword,
        (Some(_), None) => Mode::Semantic,
        (Some(_), Some(_)) => Mode::Hybrid,
    });
    match mode {
        Mode::Keyword => {
            query.vector = None;
            return Ok(());
        }
        Mode::Semantic => query.global_search = None,
        Mode::Hybrid if query.global_search.is_none() => return Err(missing("global_search", "")),
        Mode::Hybrid => {}
    }
    if query.vector.is_none() {
        return Err(missing("query_vector", ""));
    }
    if query.fuzzy {
        let message = "a vector search has no typo tolerance";
        return Err(Error::at(Code::InvalidValue, "/fuzzy", message)
            .hint("Omit fuzzy, or send mode \"keyword\" for full-text search only."));
    }
    let reject = |pointer: &str, message: &str| {
        Err(Error::at(Code::InvalidValue, pointer, message)
            .hint("Send mode \"keyword\", or no query_vector, to sort, count and page."))
    };
    if query.sort.is_some() {
        return reject("/sort", "a vector search orders records by distance");
    }
    if query.cursor.is_some() {
        return reject("/cursor", "a vector search has only one page");
    }
    if query.count != Count::None {
        return reject("/count", "a vector search has no total");
    }
    if !query.facets.is_empty() {
        return reject("/facets", "a vector search has no facets");
    }
    if query.include_deleted {
        return reject("/include_deleted", "a vector search finds live records only");
    }
    if query.limit.is_some_and(|limit| limit > MAX_BY_VECTOR) {
        let message = format!("a vector search finds at most {MAX_BY_VECTOR} records");
        return Err(Error::at(Code::InvalidValue, "/limit", message));
    }
    Ok(())
}

/// Rejects a view with terms for a search by a vector: the closest records need not have them.
fn check_view(view: &SearchQuery) -> Result<(), Error> {
    if view.global_search.is_none() {
        return Ok(());
    }
    Err(Error::at(Code::InvalidValue, "/view", "a vector search cannot use a view with global_search")
        .hint("Send mode \"keyword\", or save a view that has filters only."))
}

#[cfg(test)]
mod tests;
