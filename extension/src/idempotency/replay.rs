//! What a repeated answer may show: rights may have changed since it was given.

use super::store::Texts;
use crate::access::{Caller, Right};
use crate::json;
use crate::record::read;
use crate::record_id;
use crate::template::catalog;
use std::borrow::Cow;
use uuid::Uuid;

/// The members of a body that tell no more than that something was done.
const HARMLESS: [&str; 2] = ["id", "created"];

/// What a body shows.
#[derive(Debug, PartialEq, Eq)]
enum Subject {
    Record(Uuid),
    Template(i32),
}

/// An answer as it was given, or without what the caller may no longer see: a record shows itself only to who may still
/// read it, a template to who may still know it.
pub fn visible(caller: &Caller, mut answer: Texts) -> Texts {
    if let Some(Some(body)) = answer.get_mut(2) {
        let may_see = match subject(body) {
            None => true,
            Some(Subject::Record(id)) => may_read(caller, id),
            Some(Subject::Template(id)) => {
                catalog::by_id(id).is_some_and(|template| caller.may_know(&template))
            }
        };
        if !may_see {
            *body = harmless(body);
        }
    }
    answer
}

fn may_read(caller: &Caller, id: Uuid) -> bool {
    let template = record_id::template_of(id).and_then(catalog::by_id);
    template.is_some_and(|template| {
        caller.require(Right::Read, &template).is_ok() && read::require_seen(caller, &template, id).is_ok()
    })
}

fn subject(body: &str) -> Option<Subject> {
    let members = json::object(body).ok()?.0;
    let member = |name: &str| members.iter().find(|member| member.0 == name).map(|member| member.1.get());
    let id: Cow<str> = serde_json::from_str(member("id")?).ok()?;
    if let Ok(id) = Uuid::parse_str(&id) {
        return Some(Subject::Record(id));
    }
    member("attributes")?.starts_with('[').then(|| id.parse().ok().map(Subject::Template)).flatten()
}

fn harmless(body: &str) -> String {
    let mut out = String::from("{");
    for (name, value) in json::object(body).unwrap_or_default().0 {
        if HARMLESS.contains(&name.as_ref()) {
            out.push_str(if out.len() > 1 { ",\"" } else { "\"" });
            out.push_str(&name);
            out.push_str("\":");
            out.push_str(value.get());
        }
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0192f0c1-2222-8abc-8def-0123456789ab";

    #[test]
    fn a_body_tells_what_it_shows() {
        let record = Uuid::parse_str(ID).ok().map(Subject::Record);
        for (body, expected) in [
            (format!(r#"{{"id":"{ID}","attributes":{{}}}}"#), record),
            (r#"{"id":"7","slug":"customers","attributes":[]}"#.to_owned(), Some(Subject::Template(7))),
            (r#"{"errors":false,"results":[]}"#.to_owned(), None),
            (r#"{"id":"7","slug":"nightly"}"#.to_owned(), None),
            (r#"[1]"#.to_owned(), None),
        ] {
            assert_eq!(subject(&body), expected, "{body}");
        }
    }

    #[test]
    fn what_is_left_of_a_hidden_body_says_only_that_it_was_done() {
        let body =
            format!(r#"{{"id":"{ID}","created":true,"record":{{"id":"{ID}","attributes":{{"a":"b"}}}}}}"#);
        assert_eq!(harmless(&body), format!(r#"{{"id":"{ID}","created":true}}"#));
        let body = format!(r#"{{"id":"{ID}","external_key":"K","attributes":{{"a":"b"}}}}"#);
        assert_eq!(harmless(&body), format!(r#"{{"id":"{ID}"}}"#));
    }
}
