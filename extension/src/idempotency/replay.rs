//! Filters a stored response by the caller's current privileges.

use crate::access::visibility::WriteScope;
use crate::access::{Action, Caller};
use crate::batch;
use crate::error::{Code, Error};
use crate::filter::render::Lives;
use crate::inbound;
use crate::json;
use crate::record::read::{self, FoundRecord};
use crate::template::{Template, catalog};
use crate::value::record_id;
use crate::value::written::{Id, OperationSubject, Subject};
use crate::view;
use std::collections::HashSet;

/// The result of [`Written::into_texts`](crate::value::written::Written::into_texts): status, address, body, entity tag,
/// subject.
pub type Texts = Vec<Option<String>>;

/// The position of the body.
const BODY: usize = 2;
/// The position of the entity tag.
pub const TAG: usize = 3;
/// The position of the subject.
pub const SUBJECT: usize = 4;
/// The position of a different stored body, if there is one.
pub const STORED_BODY: usize = 5;

/// The stored response without data that the caller can no longer see.
pub fn visible(caller: &Caller, mut response: Texts) -> Result<Texts, Error> {
    // Earlier versions stored no subject.
    let subject = response.get(SUBJECT).and_then(|text| Subject::parse(text.as_deref()?));
    if subject == Some(Subject::Secret) {
        return Err(Error::new(
            Code::Conflict,
            "the request has already run, and its response contained a secret, which is not stored",
        )
        .hint("Find the object that the request created, and replace or remove it. Then send a new request with another Idempotency-Key."));
    }
    let Some(Some(body)) = response.get_mut(BODY) else { return Ok(response) };
    match subject {
        Some(Subject::Batch(shown)) => {
            let withheld: HashSet<usize> =
                shown.iter().filter(|it| !is_result_visible(caller, it)).map(|it| it.index).collect();
            if !withheld.is_empty() {
                *body = batch::withheld::without(body, &withheld)?;
            }
        }
        Some(subject) if is_subject_visible(caller, &subject) => {}
        subject => {
            *body = reduced(body, kept_members(subject.as_ref()));
            if subject == Some(Subject::Administration) && *body == "{}" {
                return Err(withheld());
            }
            response[TAG] = None;
        }
    }
    Ok(response)
}

/// The error for a response that the caller can no longer see at all.
fn withheld() -> Error {
    Error::new(
        Code::Forbidden,
        "the request has already run, and its response is available to administrators only",
    )
    .hint("Do this as a member of keyed_admin, or as a superuser.")
}

fn is_subject_visible(caller: &Caller, subject: &Subject) -> bool {
    match subject {
        Subject::Nothing => true,
        Subject::Record(id) => may_read(caller, *id),
        Subject::Template(id) => catalog::by_id(*id).is_some_and(|template| caller.can_view(&template)),
        Subject::View(template) => catalog::by_id(*template)
            .is_some_and(|template| view::stored::require_read_or_define(caller, &template).is_ok()),
        Subject::Endpoint(id) => may_configure(caller, *id),
        Subject::Delivery(id) => inbound::log::get(*id, false)
            .is_some_and(|(delivery, _)| may_configure(caller, delivery.endpoint)),
        Subject::Administration => caller.is_admin(),
        Subject::Batch(shown) => shown.iter().all(|operation| is_result_visible(caller, operation)),
        Subject::Secret | Subject::NotStored => false,
    }
}

fn may_read(caller: &Caller, Id(id): Id) -> bool {
    let template = record_id::template_of(id).and_then(catalog::by_id);
    template.is_some_and(|template| {
        caller.require(Action::Read, &template).is_ok()
            && read::require_visible(caller, &template, id).is_ok()
    })
}

fn may_configure(caller: &Caller, endpoint: i32) -> bool {
    let endpoint = inbound::endpoint::by_id(endpoint).ok().flatten();
    endpoint.is_some_and(|endpoint| endpoint.require_configurer(caller).is_ok())
}

/// Whether the caller can see the same result now: the template and the record are visible, and the record that it shows is
/// readable.
fn is_result_visible(caller: &Caller, shown: &OperationSubject) -> bool {
    pgrx::check_for_interrupts!();
    let Some(template) = catalog::by_id(shown.template) else { return false };
    let by_id = |id, scope: &WriteScope| read::by_id_in_scope(&template, id, scope);
    let by_key = |key, scope: &WriteScope| read::holder(&template, key, scope);
    caller.can_view(&template)
        && shown.id.is_none_or(|Id(id)| exists_for(caller, &template, |scope| by_id(id, scope)))
        && shown.external_key.as_deref().is_none_or(|key| {
            by_key(key, &WriteScope::default()).is_none()
                || exists_for(caller, &template, |scope| by_key(key, scope))
        })
        && shown.existing_id.is_none_or(|id| may_read(caller, id))
}

/// Whether a record exists for a write with the caller's privileges.
fn exists_for(
    caller: &Caller,
    template: &Template,
    find: impl Fn(&WriteScope) -> Option<FoundRecord>,
) -> bool {
    [Action::Update, Action::Delete, Action::Read].into_iter().any(|action| {
        caller.require(action, template).is_ok()
            && find(&WriteScope::over(Lives::Any, caller, action, template)).is_some_and(|it| it.is_visible)
    })
}

/// The members of a body that disclose nothing beyond the request.
fn kept_members(subject: Option<&Subject>) -> &'static [&'static str] {
    match subject {
        Some(Subject::View(_)) => &["slug"],
        Some(Subject::Delivery(_)) => &["id", "status"],
        _ => &["id", "created"],
    }
}

fn reduced(body: &str, kept: &[&str]) -> String {
    let mut out = String::from("{");
    for (name, value) in json::object(body).unwrap_or_default().0 {
        if kept.contains(&name.as_ref()) {
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
    fn reduced_response_has_only_the_outcome() {
        let record = kept_members(None);
        let body =
            format!(r#"{{"id":"{ID}","created":true,"record":{{"id":"{ID}","attributes":{{"a":"b"}}}}}}"#);
        assert_eq!(reduced(&body, record), format!(r#"{{"id":"{ID}","created":true}}"#));
        let body = format!(r#"{{"id":"{ID}","external_key":"K","attributes":{{"a":"b"}}}}"#);
        assert_eq!(reduced(&body, record), format!(r#"{{"id":"{ID}"}}"#));
        assert_eq!(reduced("[1]", record), "{}");
    }
}
