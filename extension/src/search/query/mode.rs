//! The mode of a search: ranked by words, vectors, or both. Pure.

use super::body::{Count, MOST_BY_VECTOR, SearchQuery};
use crate::error::{Code, Error};
use crate::json::text_at;
use crate::value::member::missing;
use serde_json::value::RawValue;

/// What the records found are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Words, or whatever the search is sorted by.
    Keyword,
    /// How close their vectors are.
    Semantic,
    /// Both.
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

/// Drops what the mode makes no use of, and refuses what makes no sense in it.
pub fn settle(query: &mut SearchQuery, asked: Option<Mode>) -> Result<(), Error> {
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
        let message = "a search by a vector has no typo tolerance";
        return Err(Error::at(Code::InvalidValue, "/fuzzy", message)
            .hint("Leave fuzzy out, or send mode \"keyword\" for full-text search alone."));
    }
    let refuse = |pointer: &str, message: &str| {
        Err(Error::at(Code::InvalidValue, pointer, message)
            .hint("Send mode \"keyword\", or no query_vector, to sort, count and page."))
    };
    if query.sort.is_some() {
        return refuse("/sort", "a search by a vector has its own order: the closest first");
    }
    if query.cursor.is_some() {
        return refuse("/cursor", "a search by a vector has one page");
    }
    if query.count != Count::None {
        return refuse("/count", "a search by a vector has no total");
    }
    if !query.facets.is_empty() {
        return refuse("/facets", "a search by a vector has no facets");
    }
    if query.include_deleted {
        return refuse("/include_deleted", "a search by a vector finds live records only");
    }
    if query.limit.is_some_and(|limit| limit > MOST_BY_VECTOR) {
        let message = format!("a search by a vector finds at most {MOST_BY_VECTOR} records");
        return Err(Error::at(Code::InvalidValue, "/limit", message));
    }
    Ok(())
}

/// Refuses a view that looks for words, for a search by a vector: the closest records need not have them.
pub fn check_view(view: &SearchQuery) -> Result<(), Error> {
    if view.global_search.is_none() {
        return Ok(());
    }
    Err(Error::at(Code::InvalidValue, "/view", "a view with global_search cannot be searched by a vector")
        .hint("Send mode \"keyword\", or save a view that has filters only."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_vector(members: &str) -> String {
        format!("{{\"query_vector\":[{}]{members}}}", vec!["1"; 768].join(","))
    }

    #[test]
    fn unused_options_of_a_mode_do_not_affect_the_cursor() {
        for (members, has_vector, has_words) in [
            ("", true, false),
            (r#","global_search":"x""#, true, true),
            (r#","global_search":"x","mode":"hybrid""#, true, true),
            (r#","global_search":"x","mode":"semantic""#, true, false),
            (r#","global_search":"x","mode":"keyword","sort":"name","count":"exact""#, false, true),
        ] {
            let body = with_vector(members);
            let query = SearchQuery::parse(&body).expect("a query");
            assert_eq!(
                (query.vector.is_some(), query.global_search.is_some()),
                (has_vector, has_words),
                "{members}"
            );
        }
    }

    #[test]
    fn options_that_do_not_apply_to_a_vector_are_refused() {
        for (members, pointer) in [
            (r#","sort":"name""#, "/sort"),
            (r#","fuzzy":"auto""#, "/fuzzy"),
            (r#","cursor":"x""#, "/cursor"),
            (r#","count":"exact""#, "/count"),
            (r#","facets":["name"]"#, "/facets"),
            (r#","include_deleted":true"#, "/include_deleted"),
            (r#","limit":201"#, "/limit"),
            (r#","mode":"hybrid""#, "/global_search"),
        ] {
            let error = SearchQuery::parse(&with_vector(members)).map(|_| ()).expect_err(members);
            assert_eq!(error.faults[0].pointer, pointer);
        }
    }
}
