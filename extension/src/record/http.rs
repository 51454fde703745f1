//! The functions behind the HTTP door that read and write records: texts in and out, as a request carries them.

use super::functions::{get_by_key, get_record, metric_page, patch, restore};
use super::mode::Mode;
use super::read::{self, Lifetime};
use super::shape::View;
use super::upsert;
use super::write::{self, Key};
use super::{changes, deletion};
use crate::access::{Caller, Right};
use crate::embedding::{self, Embedding};
use crate::error::{Code, Error};
use crate::history;
use crate::postgres::function::{Answer, Call, sql_functions};
use crate::postgres::spi::Access;
use crate::template::{Template, catalog};
use std::rc::Rc;
use uuid::Uuid;

sql_functions! {
    /// `keyed_http.create_record(template text, body text) returns text[]`.
    keyed_http_create_record => |call| {
        let (template, body) = (template_name(call)?, call.required_text(1, "body")?);
        let caller = Caller::current();
        caller.require(Right::Create, &template)?;
        let body = write::parse_body(&body)?;
        let changes = body.attributes.map(|it| changes::parse(&template, it)).transpose()?.unwrap_or_default();
        let (id, record) = write::create(&caller, &template, body.key.value(), changes)?;
        embedding::write::apply(&template, id, &body.embedding)?;
        Ok(answer(201, Some(id), Some(record)))
    };

    /// `keyed_http.get_record(id text, fields text, verbose boolean, include_deleted boolean) returns text`.
    keyed_http_get_record => |call| {
        let fields = call.text(1).map(|fields| split_fields(&fields));
        get_record(id_name(call)?, fields.as_deref(), call.flag(2), call.flag(3)).map(Answer::Text)
    };

    /// `keyed_http.get_by_key(template text, external_key text, fields text, verbose boolean) returns text`.
    keyed_http_get_by_key => |call| {
        let (template, key) = (template_name(call)?, call.required_text(1, "key")?);
        let fields = call.text(2).map(|fields| split_fields(&fields));
        get_by_key(&template, &key, fields.as_deref(), call.flag(3)).map(Answer::Text)
    };

    /// `keyed_http.upsert_by_key(template text, body text, mode text, return_record boolean) returns text[]`.
    keyed_http_upsert_by_key => |call| {
        let (template, body) = (template_name(call)?, call.required_text(1, "body")?);
        let mode = Mode::parse(call.text(2).as_deref())?;
        http_upsert(&template, &body, mode, call.flag(3))
    };

    /// `keyed_http.patch_record(id text, body text) returns text[]`.
    keyed_http_patch_record => |call| {
        let (id, body) = (id_name(call)?, call.required_text(1, "body")?);
        patch(id, &body).map(|record| answer(200, None, Some(record)))
    };

    /// `keyed_http.replace_attributes(id text, body text) returns text[]`.
    keyed_http_replace_attributes => |call| {
        let (id, body) = (id_name(call)?, call.required_text(1, "body")?);
        let body = write::parse_body(&body)?;
        if body.embedding != Embedding::Absent {
            return Err(Error::at(Code::UnknownField, "/embedding", "PUT replaces attributes: the vector is untouched")
                .hint("write the vector with PATCH, or with PUT /entities/{id}/embedding"));
        }
        if body.key != Key::Absent {
            return Err(Error::at(Code::UnknownField, "/external_key", "PUT replaces attributes: the key is untouched")
                .hint("change the key with PATCH"));
        }
        let attributes = body.attributes.ok_or_else(|| Error::at(Code::InvalidValue, "/attributes", "attributes is missing"))?;
        write::replace(&Caller::current(), id, attributes).map(|record| answer(200, None, Some(record)))
    };

    /// `keyed_http.delete_record(id text) returns text[]`.
    keyed_http_delete_record => |call| {
        deletion::delete(&Caller::current(), id_name(call)?).map(|()| answer(204, None, None))
    };

    /// `keyed_http.delete_by_key(template text, external_key text) returns text[]`.
    keyed_http_delete_by_key => |call| {
        let (template, key) = (template_name(call)?, call.required_text(1, "key")?);
        deletion::delete_by_key(&Caller::current(), &template, &key).map(|_| answer(204, None, None))
    };

    /// `keyed_http.restore_record(id text, body text) returns text[]`.
    keyed_http_restore_record => |call| {
        let (id, body) = (id_name(call)?, call.text(1));
        restore(id, body.as_deref()).map(|record| answer(200, None, Some(record)))
    };

    /// `keyed_http.history(id text, page_size integer, cursor text) returns text`.
    keyed_http_history => |call| {
        let id = id_name(call)?;
        history::read::page(&Caller::current(), id, call.integer(1), call.text(2).as_deref()).map(Answer::Text)
    };

    /// `keyed_http.metric_series(id text, slug text, …) returns text`.
    keyed_http_metric_series => |call| metric_page(call, id_name(call)?).map(Answer::Text);
}

fn template_name(call: &Call) -> Result<Rc<Template>, Error> {
    catalog::by_name(&Caller::current(), &call.required_text(0, "template")?)
}

/// The id in a path: what is not one names nothing.
fn id_name(call: &Call) -> Result<Uuid, Error> {
    Uuid::parse_str(&call.required_text(0, "id")?).map_err(|_| Error::not_found())
}

fn split_fields(fields: &str) -> Vec<String> {
    fields.split(',').map(str::trim).filter(|field| !field.is_empty()).map(str::to_owned).collect()
}

fn answer(status: u16, id: Option<Uuid>, body: Option<String>) -> Answer {
    Answer::Texts(vec![Some(status.to_string()), id.map(|id| id.to_string()), body])
}

fn http_upsert(template: &Template, body: &str, mode: Mode, return_record: bool) -> Result<Answer, Error> {
    let caller = Caller::current();
    mode.require_rights(&caller, template)?;
    let body = write::parse_body(body)?;
    let key = match &body.key {
        Key::Value(key) => key,
        Key::Null | Key::Absent => {
            return Err(Error::at(
                Code::InvalidExternalKey,
                "/external_key",
                "an upsert needs an external_key",
            ));
        }
    };
    let changes = body.attributes.map(|it| changes::parse(template, it)).transpose()?.unwrap_or_default();
    let (id, created) = upsert::upsert(&caller, template, mode, key, changes)?;
    embedding::write::apply(template, id, &body.embedding)?;
    let mut body = format!("{{\"id\":\"{id}\",\"created\":{created}");
    if return_record {
        body.push_str(",\"record\":");
        let view = View::of_written(&caller, template);
        body.push_str(&read::by_id(template, id, None, Lifetime::Live, &view, Access::Latest)?);
    }
    body.push('}');
    Ok(answer(if created { 201 } else { 200 }, created.then_some(id), Some(body)))
}
