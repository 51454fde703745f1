//! Filters a stored response by the caller's present privileges, which may have changed since.

use crate::access::{Action, Caller};
use crate::inbound;
use crate::json;
use crate::record::read;
use crate::template::catalog;
use crate::value::record_id;
use crate::view;
use std::borrow::Cow;
use uuid::Uuid;

/// Status, id of what was created, body, and the tag of the record that it shows, if it shows one.
pub type Texts = Vec<Option<String>>;

/// The members of a body that only say that something was done.
const HARMLESS: [&str; 2] = ["id", "created"];

/// What a body shows.
#[derive(Debug, PartialEq, Eq)]
enum Subject {
    Record(Uuid),
    Template(i32),
    /// A view of the template of that number.
    View(i32),
    /// An entry in the log of an endpoint. Responses about endpoints themselves are not stored.
    Delivery(i64),
}

/// The stored answer, without what the caller may no longer see: a record needs the privilege to read it, a template any
/// privilege on it, a view the right to search its template, a delivery the right to configure its endpoint.
///
/// The subject is recognised by the shape of the body, and a body of another shape is shown whole. A new kind of
/// resource therefore needs a variant of `Subject`.
pub fn visible(caller: &Caller, mut answer: Texts) -> Texts {
    let place = answer.get(1).cloned().flatten();
    if let Some(Some(body)) = answer.get_mut(2) {
        let template = |id| catalog::by_id(id);
        let subject = subject(place.as_deref(), body);
        let may_see = match &subject {
            None => true,
            Some(Subject::Record(id)) => may_read(caller, *id),
            Some(Subject::Template(id)) => template(*id).is_some_and(|template| caller.may_know(&template)),
            Some(Subject::View(id)) => template(*id)
                .is_some_and(|template| view::stored::require_knowledge(caller, &template).is_ok()),
            Some(Subject::Delivery(id)) => inbound::log::get(*id, false)
                .is_some_and(|(delivery, _)| may_configure(caller, delivery.endpoint)),
        };
        if !may_see {
            let left = match subject {
                // It has no number: its slug is what the request said.
                Some(Subject::View(_)) => &["slug"][..],
                Some(Subject::Delivery(_)) => &["id", "status"],
                _ => &HARMLESS,
            };
            *body = harmless(body, left);
            answer.truncate(3);
        }
    }
    answer
}

fn may_read(caller: &Caller, id: Uuid) -> bool {
    let template = record_id::template_of(id).and_then(catalog::by_id);
    template.is_some_and(|template| {
        caller.require(Action::Read, &template).is_ok() && read::require_seen(caller, &template, id).is_ok()
    })
}

fn may_configure(caller: &Caller, endpoint: i32) -> bool {
    let endpoint = inbound::endpoint::by_id(endpoint).ok().flatten();
    endpoint.is_some_and(|endpoint| endpoint.require_configurer(caller).is_ok())
}

/// The part of a body at this place, or around it.
fn subject(place: Option<&str>, body: &str) -> Option<Subject> {
    let members = json::object(body).ok()?.0;
    let member = |name: &str| members.iter().find(|member| member.0 == name).map(|member| member.1.get());
    if let Some((template, _)) = place.and_then(|place| place.split_once("/views/")) {
        return template.parse().ok().map(Subject::View);
    }
    let id: Cow<str> = serde_json::from_str(member("id")?).ok()?;
    if let Ok(id) = Uuid::parse_str(&id) {
        return Some(Subject::Record(id));
    }
    if member("attributes").is_some_and(|attributes| attributes.starts_with('[')) {
        return id.parse().ok().map(Subject::Template);
    }
    member("webhook_id").and_then(|_| id.parse().ok().map(Subject::Delivery))
}

fn harmless(body: &str, left: &[&str]) -> String {
    let mut out = String::from("{");
    for (name, value) in json::object(body).unwrap_or_default().0 {
        if left.contains(&name.as_ref()) {
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
    fn a_stored_body_names_the_records_it_shows() {
        let record = Uuid::parse_str(ID).ok().map(Subject::Record);
        for (body, expected) in [
            (format!(r#"{{"id":"{ID}","attributes":{{}}}}"#), record),
            (r#"{"id":"7","slug":"customers","attributes":[]}"#.to_owned(), Some(Subject::Template(7))),
            (r#"{"errors":false,"results":[]}"#.to_owned(), None),
            (r#"{"id":"7","slug":"nightly"}"#.to_owned(), None),
            (r#"{"id":"7","webhook_id":null,"status":"done"}"#.to_owned(), Some(Subject::Delivery(7))),
            (r#"[1]"#.to_owned(), None),
        ] {
            assert_eq!(subject(None, &body), expected, "{body}");
        }
        let view = r#"{"slug":"golden","query":{}}"#;
        assert_eq!(subject(Some("7/views/golden"), view), Some(Subject::View(7)));
    }

    #[test]
    fn a_reduced_answer_says_only_that_the_request_was_done() {
        let body =
            format!(r#"{{"id":"{ID}","created":true,"record":{{"id":"{ID}","attributes":{{"a":"b"}}}}}}"#);
        assert_eq!(harmless(&body, &HARMLESS), format!(r#"{{"id":"{ID}","created":true}}"#));
        let body = format!(r#"{{"id":"{ID}","external_key":"K","attributes":{{"a":"b"}}}}"#);
        assert_eq!(harmless(&body, &HARMLESS), format!(r#"{{"id":"{ID}"}}"#));
    }
}
