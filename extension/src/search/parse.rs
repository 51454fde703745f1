//! Parses the body of a search. Pure.

use super::correction;
use super::mode::{self, Mode};
use super::query::{Count, Highlight, MOST_BY_VECTOR, MOST_FACETS, MOST_LIMIT, SearchQuery};
use crate::error::{Code, Error};
use crate::filter::schema::AttributeKey;
use crate::json::{self, text_at};
use crate::value::member::{field_names_at, unknown_member};
use crate::value::vector::Vector;
use serde_json::value::RawValue;
use std::borrow::Cow;

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
                    let (cursor, corrections) = correction::split(&cursor)?;
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
        mode::settle(&mut query, mode)?;
        Ok(query)
    }

    /// The search within a saved view, which is given by its body: both must be met, and what the search does not say
    /// about the page is as the view says.
    pub fn within(mut self, view: Option<&'a str>) -> Result<SearchQuery<'a>, Error> {
        let Some(view) = view else { return Ok(self) };
        let view = SearchQuery::parse(view)?;
        if self.vector.is_some() {
            mode::check_view(&view)?;
        }
        let most = if self.vector.is_some() { MOST_BY_VECTOR } else { MOST_LIMIT };
        self.limit = self.limit.or(view.limit.map(|limit| limit.min(most)));
        self.fields = self.fields.or_else(|| view.fields.clone());
        self.time_zone = self.time_zone.or_else(|| view.time_zone.clone());
        if !self.says("verbose") {
            self.verbose = view.verbose;
        }
        if !self.says("versions") {
            self.versions = view.versions;
        }
        if !self.says("fuzzy") {
            self.fuzzy = view.fuzzy;
        }
        if !self.says("highlight") {
            self.highlight = view.highlight;
        }
        if !self.says("count") {
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

/// What requests over HTTP may have in place of `query_vector`.
pub const TEXT: &str = "query_text";

/// The refusal of a text where no provider can embed it.
pub fn text_in_sql(pointer: &str) -> Error {
    unknown_member(TEXT, pointer).hint("Send query_vector: only a search over HTTP embeds a text.")
}

fn limit_at(value: &RawValue, pointer: &str) -> Result<usize, Error> {
    value.get().parse().ok().filter(|limit| (1..=MOST_LIMIT).contains(limit)).ok_or_else(|| {
        Error::at(Code::InvalidValue, pointer, format!("limit is a whole number from 1 to {MOST_LIMIT}"))
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
    let names = json::array_at_most(value, MOST_FACETS + 1, pointer)?;
    if names.len() > MOST_FACETS {
        return Err(Error::at(Code::InvalidValue, pointer, format!("at most {MOST_FACETS} facets")));
    }
    let names = names.into_iter().enumerate();
    names.map(|(index, name)| text_at(name, &format!("{pointer}/{index}"))).collect()
}

#[cfg(test)]
mod tests;
