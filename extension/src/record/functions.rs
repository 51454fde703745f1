//! The SQL functions and the HTTP door that read and write records.

use super::changes;
use super::read::{self, Lifetime};
use super::shape::View;
use super::upsert::{self, Mode};
use super::write::{self, Key};
use crate::access::{Caller, Right};
use crate::error::{Code, Error};
use crate::history;
use crate::json;
use crate::key;
use crate::metric;
use crate::postgres::datum;
use crate::postgres::function::{Answer, Call, must_not_be_null, sql_functions};
use crate::postgres::spi::Access;
use crate::record_id;
use crate::template::{Template, catalog};
use serde_json::value::RawValue;
use std::rc::Rc;
use uuid::Uuid;

sql_functions! {
    /// `keyed.new_id(template integer) returns uuid`.
    keyed_new_id => |call| {
        let template = call.integer(0).filter(|template| (1..=record_id::MAX_TEMPLATE).contains(template));
        let template = template.ok_or_else(|| Error::at(Code::InvalidValue, "/template", "not a template's number"))?;
        Ok(Answer::Uuid(record_id::generate(template, datum::random_u64())))
    };

    /// `keyed.normalize_key(external_key text) returns text`.
    keyed_normalize_key => |call| match call.text(0) {
        Some(key) => key::normalize(&key).map(|key| Answer::Text(key.to_owned())),
        None => Ok(Answer::Null),
    };

    /// `keyed.guard_record() returns trigger`.
    keyed_guard_record => super::guard::guard_record;

    /// `keyed.guard_truncate() returns trigger`.
    keyed_guard_truncate => super::guard::guard_truncate;

    /// `keyed.note_history() returns trigger`.
    keyed_note_history => history::write::note_history;

    /// `keyed.write_history() returns trigger`.
    keyed_write_history => history::write::write_history;

    /// `keyed.create_record(template regclass, attributes jsonb, external_key text) returns jsonb`.
    keyed_create_record => |call| {
        let template = template_argument(call)?;
        let attributes = call.json(1);
        let attributes = attributes_argument(attributes.as_deref())?;
        let key = call.text(2).map(|key| key::normalize(&key).map(str::to_owned)).transpose()?;
        let caller = Caller::current();
        caller.require(Right::Create, &template)?;
        let changes = changes::parse(&template, attributes)?;
        write::create(&caller, &template, key.as_deref(), changes).map(|made| Answer::Json(made.1))
    };

    /// `keyed.get_record(id uuid, fields text[], verbose boolean, include_deleted boolean) returns jsonb`.
    keyed_get_record => |call| {
        let id = id_argument(call)?;
        let fields = call.texts(1, "fields")?;
        get_record(id, fields.as_deref(), call.flag(2), call.flag(3)).map(Answer::Json)
    };

    /// `keyed.get_by_key(template regclass, external_key text, fields text[], verbose boolean) returns jsonb`.
    keyed_get_by_key => |call| {
        let template = template_argument(call)?;
        let key = call.required_text(1, "external_key")?;
        let fields = call.texts(2, "fields")?;
        get_by_key(&template, &key, fields.as_deref(), call.flag(3)).map(Answer::Json)
    };

    /// `keyed.upsert_by_key(template regclass, external_key text, attributes jsonb) returns (id, created)`.
    keyed_upsert_by_key => |call| {
        let template = template_argument(call)?;
        let key = call.required_text(1, "external_key")?;
        let attributes = call.json(2);
        let caller = Caller::current();
        upsert::require_rights(&caller, &template, Mode::Upsert)?;
        let changes = changes::parse(&template, attributes_argument(attributes.as_deref())?)?;
        let key = key::normalize(&key)?;
        upsert::upsert(&caller, &template, Mode::Upsert, key, changes)
            .map(|(id, created)| Answer::Upserted(id, created))
    };

    /// `keyed.patch_record(id uuid, body jsonb) returns jsonb`.
    keyed_patch_record => |call| {
        let (id, body) = (id_argument(call)?, call.required_json(1, "body")?);
        patch(id, &body).map(Answer::Json)
    };

    /// `keyed.replace_attributes(id uuid, attributes jsonb) returns jsonb`.
    keyed_replace_attributes => |call| {
        let (id, attributes) = (id_argument(call)?, call.required_json(1, "attributes")?);
        write::replace(&Caller::current(), id, attributes_argument(Some(&attributes))?).map(Answer::Json)
    };

    /// `keyed.delete_record(id uuid) returns void`.
    keyed_delete_record => |call| {
        write::delete(&Caller::current(), id_argument(call)?).map(|()| Answer::Void)
    };

    /// `keyed.restore_record(id uuid, body jsonb) returns jsonb`.
    keyed_restore_record => |call| {
        let (id, body) = (id_argument(call)?, call.json(1));
        restore(id, body.as_deref()).map(Answer::Json)
    };

    /// `keyed.history_page(id uuid, page_size integer, cursor text) returns jsonb`.
    keyed_history_page => |call| {
        let id = id_argument(call)?;
        history::read::page(&Caller::current(), id, call.integer(1), call.text(2).as_deref()).map(Answer::Json)
    };

    /// `keyed.metric_page(id uuid, slug text, from, to, bucket, aggregate text, page_size integer, cursor text)`.
    keyed_metric_page => |call| metric_page(call, id_argument(call)?).map(Answer::Json);

    /// `keyed_http.create_record(template text, body text) returns text[]`.
    keyed_http_create_record => |call| {
        let (template, body) = (template_name(call)?, call.required_text(1, "body")?);
        let caller = Caller::current();
        caller.require(Right::Create, &template)?;
        let (key, attributes) = write::parse_body(&body)?;
        let changes = attributes.map(|it| changes::parse(&template, it)).transpose()?.unwrap_or_default();
        let (id, record) = write::create(&caller, &template, key.value(), changes)?;
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
        let (key, attributes) = write::parse_body(&body)?;
        if key != Key::Absent {
            return Err(Error::at(Code::UnknownField, "/external_key", "PUT replaces attributes: the key is untouched")
                .hint("change the key with PATCH"));
        }
        let attributes = attributes.ok_or_else(|| Error::at(Code::InvalidValue, "/attributes", "attributes is missing"))?;
        write::replace(&Caller::current(), id, attributes).map(|record| answer(200, None, Some(record)))
    };

    /// `keyed_http.delete_record(id text) returns text[]`.
    keyed_http_delete_record => |call| {
        write::delete(&Caller::current(), id_name(call)?).map(|()| answer(204, None, None))
    };

    /// `keyed_http.delete_by_key(template text, external_key text) returns text[]`.
    keyed_http_delete_by_key => |call| {
        let (template, key) = (template_name(call)?, call.required_text(1, "key")?);
        write::delete_by_key(&Caller::current(), &template, &key).map(|_| answer(204, None, None))
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

fn template_argument(call: &Call) -> Result<Rc<Template>, Error> {
    catalog::by_table(call.oid(0).ok_or_else(|| must_not_be_null("template"))?)
}

fn template_name(call: &Call) -> Result<Rc<Template>, Error> {
    catalog::by_name(&Caller::current(), &call.required_text(0, "template")?)
}

fn id_argument(call: &Call) -> Result<Uuid, Error> {
    call.uuid(0).ok_or_else(|| must_not_be_null("id"))
}

/// The id in a path: what is not one names nothing.
fn id_name(call: &Call) -> Result<Uuid, Error> {
    Uuid::parse_str(&call.required_text(0, "id")?).map_err(|_| Error::not_found())
}

fn attributes_argument(attributes: Option<&str>) -> Result<&RawValue, Error> {
    serde_json::from_str(attributes.unwrap_or("{}"))
        .map_err(|error| Error::new(Code::MalformedRequest, format!("attributes cannot be read: {error}")))
}

fn split_fields(fields: &str) -> Vec<String> {
    fields.split(',').map(str::trim).filter(|field| !field.is_empty()).map(str::to_owned).collect()
}

fn answer(status: u16, id: Option<Uuid>, body: Option<String>) -> Answer {
    Answer::Texts(vec![Some(status.to_string()), id.map(|id| id.to_string()), body])
}

fn get_record(
    id: Uuid,
    fields: Option<&[String]>,
    verbose: bool,
    include_deleted: bool,
) -> Result<String, Error> {
    let caller = Caller::current();
    let template = read::template_of(&caller, id, Right::Read)?;
    let view = View::parse(&caller, &template, fields, verbose)?;
    let lifetime = if include_deleted { Lifetime::Any } else { Lifetime::Live };
    read::by_id(&template, id, lifetime, &view, Access::Snapshot)
}

fn get_by_key(
    template: &Template,
    key: &str,
    fields: Option<&[String]>,
    verbose: bool,
) -> Result<String, Error> {
    let caller = Caller::current();
    caller.require(Right::Read, template)?;
    read::by_key(template, key, &View::parse(&caller, template, fields, verbose)?)
}

fn http_upsert(template: &Template, body: &str, mode: Mode, return_record: bool) -> Result<Answer, Error> {
    let caller = Caller::current();
    upsert::require_rights(&caller, template, mode)?;
    let (key, attributes) = write::parse_body(body)?;
    let key = match &key {
        Key::Value(key) => key,
        Key::Null | Key::Absent => {
            return Err(Error::at(
                Code::InvalidExternalKey,
                "/external_key",
                "an upsert needs an external_key",
            ));
        }
    };
    let changes =
        attributes.map(|attributes| changes::parse(template, attributes)).transpose()?.unwrap_or_default();
    let (id, created) = upsert::upsert(&caller, template, mode, key, changes)?;
    let mut body = format!("{{\"id\":\"{id}\",\"created\":{created}");
    if return_record {
        body.push_str(",\"record\":");
        let view = View::of_written(&caller, template);
        body.push_str(&read::by_id(template, id, Lifetime::Live, &view, Access::Latest)?);
    }
    body.push('}');
    Ok(answer(if created { 201 } else { 200 }, created.then_some(id), Some(body)))
}

fn patch(id: Uuid, body: &str) -> Result<String, Error> {
    let (key, attributes) = write::parse_body(body)?;
    write::patch(&Caller::current(), id, &key, attributes)
}

fn restore(id: Uuid, body: Option<&str>) -> Result<String, Error> {
    let mut key = Key::Absent;
    for (name, value) in body.map(json::object).transpose()?.unwrap_or_default().0 {
        if name != "external_key" {
            let pointer = format!("/{}", json::pointer_step(&name));
            return Err(Error::at(Code::UnknownField, pointer, "a restore knows only external_key"));
        }
        key = upsert::parse_key(value)?;
    }
    write::restore(&Caller::current(), id, &key)
}

fn metric_page(call: &Call, id: Uuid) -> Result<String, Error> {
    let slug = call.required_text(1, "slug")?;
    let query = metric::Query {
        from: call.text(2),
        to: call.text(3),
        bucket: call.text(4),
        aggregate: call.text(5),
        limit: call.integer(6),
        cursor: call.text(7),
    };
    metric::series(&Caller::current(), id, &slug, &query)
}
