//! Parses the definition of a webhook endpoint. Pure.

use super::url;
use crate::error::{Code, Error};
use crate::json::{self, pointer_step};
use crate::value::member::{text_at, unknown_member};
use crate::value::slug::{self, Noun};
use serde_json::value::RawValue;

/// The operations of the feed of changes.
pub const OPERATIONS: [&str; 5] = ["create", "update", "delete", "restore", "gone"];

/// The maximum number of templates in a definition.
const MAX_TEMPLATES: usize = 1000;

/// The starting point of deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// With new changes.
    Now,
    /// With the first change.
    Start,
}

/// The members of a request. An inner `None` is null.
#[derive(Debug, Default)]
pub struct Given<'a> {
    /// The name.
    pub slug: Option<String>,
    /// The URL.
    pub url: Option<String>,
    /// The slugs or ids of templates.
    pub templates: Option<Option<Vec<String>>>,
    /// The operations.
    pub operations: Option<Option<Vec<String>>>,
    /// The filter.
    pub filter: Option<Option<&'a RawValue>>,
    /// The role.
    pub role: Option<String>,
    /// Whether changes are delivered.
    pub enabled: Option<bool>,
    /// Whether deliveries include the record.
    pub include_record: Option<bool>,
    /// The secret.
    pub secret: Option<String>,
    /// Whether to generate a new secret.
    pub rotate_secret: bool,
    /// The starting point of deliveries.
    pub from: Option<From>,
}

/// Responses contain these members, so that a client can send back what it has read.
const RESPONSE_MEMBERS: [&str; 11] = [
    "id",
    "project",
    "disabled_at",
    "disabled_reason",
    "last_success_at",
    "failing_since",
    "pending",
    "failed",
    "previous_secret_until",
    "created_at",
    "updated_at",
];

/// The members of a request.
const MEMBERS: [&str; 11] = [
    "slug",
    "url",
    "templates",
    "operations",
    "filter",
    "role",
    "enabled",
    "include_record",
    "secret",
    "rotate_secret",
    "from",
];

impl<'a> Given<'a> {
    /// Parses a body.
    pub fn parse(body: &'a str) -> Result<Given<'a>, Error> {
        let mut given = Given::default();
        for (name, value) in json::object(body)?.0 {
            let here = format!("/{}", pointer_step(&name));
            match name.as_ref() {
                "slug" => given.slug = Some(text_at(value, &here)?),
                "url" => given.url = Some(text_at(value, &here)?),
                "templates" => given.templates = Some(texts_at(value, &here)?),
                "operations" => given.operations = Some(texts_at(value, &here)?),
                "filter" => given.filter = Some((!json::is_null(value)).then_some(value)),
                "role" if json::is_null(value) => {}
                "role" => given.role = Some(text_at(value, &here)?),
                "enabled" => given.enabled = Some(json::boolean_at(value, &here)?),
                "include_record" => given.include_record = Some(json::boolean_at(value, &here)?),
                "secret" => given.secret = Some(text_at(value, &here)?),
                "rotate_secret" => given.rotate_secret = json::boolean_at(value, &here)?,
                "from" => given.from = Some(from_at(value, &here)?),
                shown if RESPONSE_MEMBERS.contains(&shown) => {}
                _ => {
                    let hint = format!("Use the members {}.", MEMBERS.join(", "));
                    return Err(unknown_member(&name, &here).hint(hint));
                }
            }
        }
        if let Some(slug) = &given.slug {
            slug::check(Noun::Endpoint, slug, "/slug")?;
        }
        if let Some(url) = &given.url {
            url::check(url, "/url")?;
        }
        if let Some(Some(operations)) = &given.operations {
            check_operations(operations)?;
        }
        Ok(given)
    }
}

fn texts_at(value: &RawValue, pointer: &str) -> Result<Option<Vec<String>>, Error> {
    if json::is_null(value) {
        return Ok(None);
    }
    let elements = json::array_at_most(value, MAX_TEMPLATES, pointer)?;
    if elements.is_empty() {
        return Err(Error::at(Code::InvalidValue, pointer, "the list is empty").hint("Write null for all."));
    }
    let texts = elements.iter().enumerate();
    texts
        .map(|(index, element)| text_at(element, &format!("{pointer}/{index}")))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn from_at(value: &RawValue, pointer: &str) -> Result<From, Error> {
    match text_at(value, pointer)?.as_str() {
        "now" => Ok(From::Now),
        "start" => Ok(From::Start),
        _ => Err(Error::at(Code::InvalidValue, pointer, "from must be now or start")),
    }
}

fn check_operations(operations: &[String]) -> Result<(), Error> {
    match operations.iter().position(|it| !OPERATIONS.contains(&it.as_str())) {
        None => Ok(()),
        Some(index) => {
            let message = format!("{:?} is not an operation", operations[index]);
            Err(Error::at(Code::InvalidValue, format!("/operations/{index}"), message)
                .hint(format!("Use {}.", OPERATIONS.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violation_has_its_pointer() {
        for (body, pointer) in [
            (r#"{"token": "x"}"#, "/token"),
            (r#"{"slug": "A b"}"#, "/slug"),
            (r#"{"url": "ftp://x"}"#, "/url"),
            (r#"{"templates": []}"#, "/templates"),
            (r#"{"templates": ["a", 1]}"#, "/templates/1"),
            (r#"{"operations": ["create", "purge"]}"#, "/operations/1"),
            (r#"{"from": "yesterday"}"#, "/from"),
            (r#"{"enabled": "yes"}"#, "/enabled"),
        ] {
            let error = Given::parse(body).expect_err(body);
            assert_eq!(error.violations[0].pointer, pointer, "{body}");
        }
    }

    #[test]
    fn null_selects_all() {
        let given =
            Given::parse(r#"{"templates": null, "operations": ["gone"], "filter": null, "role": null}"#);
        let given = given.expect("a definition");
        assert_eq!(given.templates, Some(None));
        assert_eq!(given.operations, Some(Some(vec!["gone".to_owned()])));
        assert!(given.filter.is_some_and(|filter| filter.is_none()) && given.role.is_none());
    }

    #[test]
    fn response_can_be_sent_back() {
        let body: String = RESPONSE_MEMBERS.iter().map(|name| format!("\"{name}\":null,")).collect();
        assert!(Given::parse(&format!("{{{body}\"slug\":\"a\"}}")).is_ok());
    }
}
