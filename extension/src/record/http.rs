//! The HTTP functions that read and write records. Their arguments and results are the text of requests and responses.

use super::correction::{Correction, correct};
use super::functions::{attributes_argument, get_by_key, get_record, metric_page, patch, restore};
use super::key::Key;
use super::mode::Mode;
use super::precondition::preconditions;
use super::read::{self, Lifetime};
use super::shape::Projection;
use super::shown::Rendered;
use super::version::{self, Preconditions};
use super::write;
use super::{by_keys, changes, deletion, history, upsert};
use crate::access::lookup::template_by_name;
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::function::{Call, ReturnValue, sql_functions};
use crate::postgres::spi::Snapshot;
use crate::template::Template;
use crate::value::written::{Id, Subject, Written};
use crate::vectors;
use std::rc::Rc;
use uuid::Uuid;

sql_functions! {
    /// `keyed_http.create_record(template text, body text) returns text[]`.
    keyed_http_create_record => |call| {
        let (template, body) = (template_name(call)?, call.required_text(1, "body")?);
        let caller = Caller::current();
        caller.require(Action::Create, &template)?;
        let body = write::parse_body(&body)?;
        let changes = body.attributes.map(|it| changes::parse_new(&template, it)).transpose()?.unwrap_or_default();
        let (id, record) = write::create(&caller, &template, body.key.value(), changes)?;
        vectors::write::apply(&template, id, &body.embedding)?;
        Ok(ReturnValue::Written(shown(201, id, record).created(Some(id))))
    };

    /// `keyed_http.get_record(id text, fields text, verbose boolean, include_deleted boolean, if_none_match text)
    /// returns text[]`.
    keyed_http_get_record => |call| {
        let fields = call.text(1).map(|fields| split_fields(&fields));
        let shown = get_record(id_name(call)?, fields.as_deref(), call.flag(2), call.flag(3), true)?;
        unless_current(shown, call.text(4).as_deref())
    };

    /// `keyed_http.get_by_key(template text, external_key text, fields text, verbose boolean, if_none_match text)
    /// returns text[]`.
    keyed_http_get_by_key => |call| {
        let (template, key) = (template_name(call)?, call.required_text(1, "key")?);
        let fields = call.text(2).map(|fields| split_fields(&fields));
        let shown = get_by_key(&template, &key, fields.as_deref(), call.flag(3), true)?;
        unless_current(shown, call.text(4).as_deref())
    };

    /// `keyed_http.get_by_keys(template text, body text) returns text`.
    keyed_http_get_by_keys => |call| {
        let template = template_name(call)?;
        let caller = Caller::current();
        caller.require(Action::Read, &template)?;
        by_keys::Body::parse(&call.required_text(1, "body")?)?.find(&caller, &template).map(ReturnValue::Text)
    };

    /// `keyed_http.upsert_by_key(template text, body text, mode text, return_record boolean, if_match text,
    /// if_none_match text) returns text[]`.
    keyed_http_upsert_by_key => |call| {
        let (template, body) = (template_name(call)?, call.required_text(1, "body")?);
        let mode = Mode::parse(call.text(2).as_deref())?;
        http_upsert(&template, &body, mode, call.flag(3), &preconditions(call, 4)?)
    };

    /// `keyed_http.patch_record(id text, body text, if_match text, if_none_match text) returns text[]`.
    keyed_http_patch_record => |call| {
        let (id, body) = (id_name(call)?, call.required_text(1, "body")?);
        patch(id, &body, &preconditions(call, 2)?).map(|record| ReturnValue::Written(shown(200, id, record)))
    };

    /// `keyed_http.replace_attributes(id text, body text, if_match text, if_none_match text) returns text[]`.
    keyed_http_replace_attributes => |call| {
        let (id, body) = (id_name(call)?, call.required_text(1, "body")?);
        replace(id, &body, &preconditions(call, 2)?).map(|record| ReturnValue::Written(shown(200, id, record)))
    };

    /// `keyed_http.delete_record(id text, if_match text, if_none_match text) returns text[]`.
    keyed_http_delete_record => |call| {
        deletion::delete(&Caller::current(), id_name(call)?, &preconditions(call, 1)?).map(|()| ReturnValue::Written(Written::no_content()))
    };

    /// `keyed_http.delete_by_key(template text, external_key text, if_match text,
    /// if_none_match text) returns text[]`.
    keyed_http_delete_by_key => |call| {
        let (template, key) = (template_name(call)?, call.required_text(1, "key")?);
        let preconditions = preconditions(call, 2)?;
        deletion::delete_by_key(&Caller::current(), &template, &key, &preconditions).map(|_| ReturnValue::Written(Written::no_content()))
    };

    /// `keyed_http.restore_record(id text, body text, if_match text, if_none_match text) returns text[]`.
    keyed_http_restore_record => |call| {
        let (id, body) = (id_name(call)?, call.text(1));
        restore(id, body.as_deref(), &preconditions(call, 2)?).map(|record| ReturnValue::Written(shown(200, id, record)))
    };

    /// `keyed_http.history(id text, page_size integer, cursor text) returns text`.
    keyed_http_history => |call| {
        let id = id_name(call)?;
        history::page(&Caller::current(), id, call.integer(1), call.text(2).as_deref()).map(ReturnValue::Text)
    };

    /// `keyed_http.metric_series(id text, slug text, …) returns text`.
    keyed_http_metric_series => |call| metric_page(call, id_name(call)?).map(ReturnValue::Text);

    /// `keyed_http.replace_metric_points(id text, slug text, body text, if_match text, if_none_match text) returns text[]`.
    keyed_http_replace_metric_points => |call| {
        let correction = Correction::parse(&call.required_text(2, "body")?)?;
        corrected(call, id_name(call)?, correction, &preconditions(call, 3)?)
    };

    /// `keyed_http.delete_metric_points(id text, slug text, at, from, to, if_match text, if_none_match text) returns text[]`.
    keyed_http_delete_metric_points => |call| {
        let (at, from, to) = (call.text(2), call.text(3), call.text(4));
        let correction = Correction::delete(at.as_deref(), from.as_deref(), to.as_deref())?;
        corrected(call, id_name(call)?, correction, &preconditions(call, 5)?)
    };
}

fn template_name(call: &Call) -> Result<Rc<Template>, Error> {
    template_by_name(&Caller::current(), &call.required_text(0, "template")?)
}

fn corrected(
    call: &Call,
    id: Uuid,
    correction: Correction,
    preconditions: &Preconditions,
) -> Result<ReturnValue, Error> {
    let body = correct(&Caller::current(), id, &call.required_text(1, "slug")?, correction, preconditions)?;
    Ok(ReturnValue::Written(Written::new(200, body, Subject::Record(Id(id)))))
}

/// The id in a path. An invalid id is reported as not found.
fn id_name(call: &Call) -> Result<Uuid, Error> {
    Uuid::parse_str(&call.required_text(0, "id")?).map_err(|_| Error::not_found())
}

fn split_fields(fields: &str) -> Vec<String> {
    fields.split(',').map(str::trim).filter(|field| !field.is_empty()).map(str::to_owned).collect()
}

/// The response of a write that returns a record.
fn shown(status: u16, id: Uuid, record: Rendered) -> Written {
    let tag = record.tag();
    Written::new(status, record.json, Subject::Record(Id(id))).tagged(tag)
}

/// Entity tag and body of a read; no body if If-None-Match lists the tag.
fn unless_current(record: Rendered, if_none_match: Option<&str>) -> Result<ReturnValue, Error> {
    let tag = record.tag().unwrap_or_default();
    let current = version::matching_tag(if_none_match, &tag)?;
    Ok(ReturnValue::Texts(match current {
        Some(current) => vec![Some(current), None],
        None => vec![Some(tag), Some(record.json)],
    }))
}

/// Replaces all attribute values by those of a body: `{attributes: {…}}`, or only the values.
fn replace(id: Uuid, text: &str, preconditions: &Preconditions) -> Result<Rendered, Error> {
    let caller = Caller::current();
    let members = json::object(text)?.0;
    let has = |requested: &str| members.iter().any(|(name, _)| name.as_ref() == requested);
    if !members.is_empty() && !["attributes", "external_key", "embedding"].into_iter().any(has) {
        return write::replace(&caller, id, attributes_argument(Some(text))?, preconditions)
            .map_err(|error| error.above("/attributes"));
    }
    // Reports these members as unknown, not the attributes next to them.
    if has("embedding") {
        let message = "PUT replaces attributes only";
        return Err(Error::at(Code::UnknownField, "/embedding", message).hint(
            "Send attributes, or only the values. Write the vector with PATCH, or with PUT \
             /entities/{id}/embedding. Send an attribute with this name in {\"attributes\": {\"embedding\": \
             …}}.",
        ));
    }
    if has("external_key") {
        let message = "PUT replaces attributes only";
        return Err(Error::at(Code::UnknownField, "/external_key", message)
            .hint("Send attributes, or only the values. Change the key with PATCH."));
    }
    let attributes = write::parse_body(text)?.attributes.ok_or_else(|| {
        Error::at(Code::InvalidValue, "/attributes", "attributes is missing")
            .hint("Send {\"attributes\": {}} to set every attribute to null.")
    })?;
    write::replace(&caller, id, attributes, preconditions)
}

fn http_upsert(
    template: &Template,
    body: &str,
    mode: Mode,
    return_record: bool,
    preconditions: &Preconditions,
) -> Result<ReturnValue, Error> {
    let caller = Caller::current();
    mode.require_privileges(&caller, template)?;
    let body = write::parse_body(body)?;
    let key = match &body.key {
        Key::Value(key) => key,
        Key::Null | Key::Absent => {
            return Err(Error::at(
                Code::InvalidExternalKey,
                "/external_key",
                "an upsert requires an external_key",
            ));
        }
    };
    let changes = body.attributes.map(|it| changes::parse(template, it)).transpose()?.unwrap_or_default();
    let (id, created) = upsert::upsert(&caller, template, mode, key, changes, preconditions)?;
    vectors::write::apply(template, id, &body.embedding)?;
    let (status, created_id) = if created { (201, Some(id)) } else { (200, None) };
    let body = format!("{{\"id\":\"{id}\",\"created\":{created}");
    let subject = Subject::Record(Id(id));
    if !return_record {
        return Ok(ReturnValue::Written(Written::new(status, body + "}", subject).created(created_id)));
    }
    let projection = Projection::of_written(&caller, template);
    let record = read::by_id(template, id, None, Lifetime::Live, &projection, Snapshot::Latest)?;
    let tag = record.tag();
    let body = format!("{body},\"record\":{}}}", record.json);
    Ok(ReturnValue::Written(Written::new(status, body, subject).created(created_id).tagged(tag)))
}
