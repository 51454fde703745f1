//! The body of a semantic search. Pure.

use crate::error::{Code, Error};
use crate::filter::schema::AttributeKey;
use crate::json::{self, text_at};
use crate::search::query::body as search;
use crate::search::query::body::{TEXT, text_in_sql};
use crate::value::member::{missing, unknown_member};
use crate::value::vector::Vector;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The default number of records.
pub const DEFAULT_LIMIT: usize = 10;
/// The maximum number of records.
pub const MAX_LIMIT: usize = 200;

/// A semantic search as it was sent.
#[derive(Debug)]
pub struct SemanticQuery<'a> {
    /// The vector that records are compared with.
    pub vector: Vector,
    /// The template, by id or name; all that the caller may read when absent.
    pub template: Option<Cow<'a, str>>,
    /// The maximum number of records.
    pub limit: usize,
    /// The minimum similarity.
    pub threshold: f64,
    /// The filters, as a search without sort, page or terms.
    pub filters: search::SearchQuery<'a>,
}

const KNOWN: [&str; 8] = [
    "query_vector",
    "template_id",
    "limit",
    "threshold",
    "attribute_key",
    "filters",
    "filter_groups",
    "time_zone",
];

impl<'a> SemanticQuery<'a> {
    /// Reads the body. Members that are null count as absent.
    pub fn parse(body: &'a str) -> Result<SemanticQuery<'a>, Error> {
        let (mut vector, mut template) = (None, None);
        let (mut limit, mut threshold) = (DEFAULT_LIMIT, 0.0);
        let mut filters = search::SearchQuery::default();
        for (name, value) in json::object(body)?.0 {
            let here = format!("/{}", json::pointer_step(&name));
            if json::is_null(value) && KNOWN.contains(&name.as_ref()) {
                continue;
            }
            match name.as_ref() {
                "query_vector" => vector = Some(Vector::parse(value, &here)?),
                "template_id" => template = Some(text_at(value, &here)?),
                "limit" => limit = limit_at(value, &here)?,
                "threshold" => threshold = threshold_at(value, &here)?,
                "attribute_key" => filters.attribute_key = AttributeKey::parse(value, &here)?,
                "filters" => filters.filters = Some(value),
                "filter_groups" => filters.filter_groups = Some(value),
                "time_zone" => filters.time_zone = Some(text_at(value, &here)?),
                TEXT if json::is_null(value) => {}
                TEXT => return Err(text_in_sql(&here)),
                _ => {
                    let hint = format!("Use the members {}.", KNOWN.join(", "));
                    return Err(unknown_member(&name, &here).hint(hint));
                }
            }
        }
        let vector = vector.ok_or_else(|| missing("query_vector", ""))?;
        Ok(SemanticQuery { vector, template, limit, threshold, filters })
    }
}

fn limit_at(value: &RawValue, pointer: &str) -> Result<usize, Error> {
    value.get().parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit)).ok_or_else(|| {
        Error::at(Code::InvalidValue, pointer, format!("limit is a whole number from 1 to {MAX_LIMIT}"))
    })
}

fn threshold_at(value: &RawValue, pointer: &str) -> Result<f64, Error> {
    // Rust parses values beyond JSON's numbers, such as inf. These are outside of the range too.
    let threshold = value.get().parse().ok();
    threshold
        .filter(|threshold| (0.0..=1.0).contains(threshold))
        .ok_or_else(|| Error::at(Code::InvalidValue, pointer, "threshold is a number from 0 to 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(members: &str) -> String {
        format!("{{\"query_vector\":[{}]{members}}}", vec!["1"; 768].join(","))
    }

    #[test]
    fn absent_and_null_members_have_their_default() {
        for text in [body(""), body(r#","limit":null,"threshold":null,"template_id":null,"filters":null"#)] {
            let query = SemanticQuery::parse(&text).expect("a query");
            assert_eq!((query.limit, query.threshold), (10, 0.0));
            assert!(query.template.is_none() && query.filters.filters.is_none());
        }
    }

    #[test]
    fn invalid_members_are_rejected_with_their_pointer() {
        for (text, pointer) in [
            (r#"{"limit": 5}"#.to_owned(), "/query_vector"),
            (r#"{"query_vector": null}"#.to_owned(), "/query_vector"),
            (r#"{"query_vector": [1]}"#.to_owned(), "/query_vector"),
            (body(r#","limit":0"#), "/limit"),
            (body(r#","limit":201"#), "/limit"),
            (body(r#","limit":"10""#), "/limit"),
            (body(r#","limit":1.5"#), "/limit"),
            (body(r#","threshold":-0.1"#), "/threshold"),
            (body(r#","threshold":1.1"#), "/threshold"),
            (body(r#","threshold":"0.5""#), "/threshold"),
            (body(r#","template_id":7"#), "/template_id"),
            (body(r#","attribute_key":"name""#), "/attribute_key"),
            (body(r#","sort":"name""#), "/sort"),
        ] {
            let error = SemanticQuery::parse(&text).expect_err(pointer);
            assert_eq!(error.violations[0].pointer, pointer);
        }
    }
}
