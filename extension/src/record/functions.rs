//! The SQL functions that read and write records.

use super::correction::{Correction, correct};
use super::key::{Key, parse_key};
use super::mode::Mode;
use super::new_id::new_id;
use super::precondition::preconditions;
use super::read::{self, Lifetime};
use super::shape::Projection;
use super::shown::Rendered;
use super::version::Preconditions;
use super::write;
use super::{by_keys, changes, deletion, history, series, upsert};
use crate::access::{Action, Caller, visibility};
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::function::{Call, ReturnValue, must_not_be_null, sql_functions};
use crate::postgres::spi::Snapshot;
use crate::template::{Template, catalog};
use crate::value::{key, record_id};
use serde_json::value::RawValue;
use uuid::Uuid;

sql_functions! {
    /// `keyed.new_id(template integer) returns uuid`.
    keyed_new_id => |call| {
        let template = call.integer(0).filter(|template| (1..=record_id::MAX_TEMPLATE).contains(template));
        let template = template.ok_or_else(|| Error::at(Code::InvalidValue, "/template", "invalid template number"))?;
        Ok(ReturnValue::Uuid(new_id(template)))
    };

    /// `keyed.normalize_key(external_key text) returns text`.
    keyed_normalize_key => |call| match call.text(0) {
        Some(key) => key::normalize(&key).map(|key| ReturnValue::Text(key.to_owned())),
        None => Ok(ReturnValue::Null),
    };

    /// `keyed.create_record(template regclass, attributes jsonb, external_key text) returns jsonb`.
    keyed_create_record => |call| {
        let template = catalog::by_argument(call)?;
        let attributes = call.json(1);
        let attributes = attributes_argument(attributes.as_deref())?;
        let key = call.text(2).map(|key| key::normalize(&key).map(str::to_owned)).transpose()?;
        let caller = Caller::current();
        caller.require(Action::Create, &template)?;
        let changes = changes::parse_new(&template, attributes)?;
        write::create(&caller, &template, key.as_deref(), changes).map(|(_, record)| ReturnValue::Json(record.json))
    };

    /// `keyed.get_record(id uuid, fields text[], verbose boolean, include_deleted boolean) returns jsonb`.
    keyed_get_record => |call| {
        let id = id_argument(call)?;
        let fields = call.texts(1, "fields")?;
        get_record(id, fields.as_deref(), call.flag(2), call.flag(3), false).map(|it| ReturnValue::Json(it.json))
    };

    /// `keyed.record_version(id uuid) returns text`.
    keyed_record_version => |call| {
        let shown = get_record(id_argument(call)?, None, false, true, true)?;
        Ok(shown.tag().map_or(ReturnValue::Null, ReturnValue::Text))
    };

    /// `keyed.get_by_key(template regclass, external_key text, fields text[], verbose boolean) returns jsonb`.
    keyed_get_by_key => |call| {
        let template = catalog::by_argument(call)?;
        let key = call.required_text(1, "external_key")?;
        let fields = call.texts(2, "fields")?;
        get_by_key(&template, &key, fields.as_deref(), call.flag(3), false).map(|it| ReturnValue::Json(it.json))
    };

    /// `keyed.get_by_keys(template regclass, keys text[], fields text[], verbose boolean) returns jsonb`.
    keyed_get_by_keys => |call| {
        let template = catalog::by_argument(call)?;
        let keys = call.texts(1, "keys")?.ok_or_else(|| must_not_be_null("keys"))?;
        let fields = call.texts(2, "fields")?;
        by_keys::find(&Caller::current(), &template, &keys, fields.as_deref(), call.flag(3), false)
            .map(ReturnValue::Json)
    };

    /// `keyed.upsert_by_key(template regclass, external_key text, attributes jsonb, if_match text, if_none_match text)
    /// returns (id, created)`.
    keyed_upsert_by_key => |call| {
        let template = catalog::by_argument(call)?;
        let key = call.required_text(1, "external_key")?;
        let attributes = call.json(2);
        let caller = Caller::current();
        Mode::Upsert.require_privileges(&caller, &template)?;
        let changes = changes::parse(&template, attributes_argument(attributes.as_deref())?)?;
        let key = key::normalize(&key)?;
        upsert::upsert(&caller, &template, Mode::Upsert, key, changes, &preconditions(call, 3)?)
            .map(|(id, created)| ReturnValue::Upserted(id, created))
    };

    /// `keyed.patch_record(id uuid, body jsonb, if_match text) returns jsonb`.
    keyed_patch_record => |call| {
        let (id, body) = (id_argument(call)?, call.required_json(1, "body")?);
        patch(id, &body, &preconditions(call, 2)?).map(|it| ReturnValue::Json(it.json))
    };

    /// `keyed.replace_attributes(id uuid, attributes jsonb, if_match text) returns jsonb`.
    keyed_replace_attributes => |call| {
        let (id, attributes) = (id_argument(call)?, call.required_json(1, "attributes")?);
        let attributes = attributes_argument(Some(&attributes))?;
        write::replace(&Caller::current(), id, attributes, &preconditions(call, 2)?).map(|it| ReturnValue::Json(it.json))
    };

    /// `keyed.delete_record(id uuid, if_match text) returns void`.
    keyed_delete_record => |call| {
        deletion::delete(&Caller::current(), id_argument(call)?, &preconditions(call, 1)?).map(|()| ReturnValue::Void)
    };

    /// `keyed.restore_record(id uuid, body jsonb, if_match text) returns jsonb`.
    keyed_restore_record => |call| {
        let (id, body) = (id_argument(call)?, call.json(1));
        restore(id, body.as_deref(), &preconditions(call, 2)?).map(|it| ReturnValue::Json(it.json))
    };

    /// `keyed.history_page(id uuid, page_size integer, cursor text) returns jsonb`.
    keyed_history_page => |call| {
        let id = id_argument(call)?;
        history::page(&Caller::current(), id, call.integer(1), call.text(2).as_deref()).map(ReturnValue::Json)
    };

    /// `keyed.metric_page(id uuid, slug text, from, to, bucket, aggregate text, page_size integer, cursor text)`.
    keyed_metric_page => |call| metric_page(call, id_argument(call)?).map(ReturnValue::Json);

    /// `keyed.replace_metric_points(id uuid, slug text, points jsonb, from, to, if_match text) returns jsonb`.
    keyed_replace_metric_points => |call| {
        let (id, points) = (id_argument(call)?, call.required_json(2, "points")?);
        let points: &RawValue = serde_json::from_str(&points)
            .map_err(|error| Error::new(Code::MalformedRequest, format!("points cannot be read: {error}")))?;
        let correction = Correction::replace(points, call.text(3).as_deref(), call.text(4).as_deref())?;
        correct(&Caller::current(), id, &call.required_text(1, "slug")?, correction, &preconditions(call, 5)?)
            .map(ReturnValue::Json)
    };

    /// `keyed.delete_metric_points(id uuid, slug text, at, from, to, if_match text) returns jsonb`.
    keyed_delete_metric_points => |call| {
        let (id, slug) = (id_argument(call)?, call.required_text(1, "slug")?);
        let (at, from, to) = (call.text(2), call.text(3), call.text(4));
        let correction = Correction::delete(at.as_deref(), from.as_deref(), to.as_deref())?;
        correct(&Caller::current(), id, &slug, correction, &preconditions(call, 5)?).map(ReturnValue::Json)
    };
}

fn id_argument(call: &Call) -> Result<Uuid, Error> {
    call.uuid(0).ok_or_else(|| must_not_be_null("id"))
}

pub(super) fn attributes_argument(attributes: Option<&str>) -> Result<&RawValue, Error> {
    serde_json::from_str(attributes.unwrap_or("{}"))
        .map_err(|error| Error::new(Code::MalformedRequest, format!("attributes cannot be read: {error}")))
}

pub(super) fn get_record(
    id: Uuid,
    fields: Option<&[String]>,
    verbose: bool,
    include_deleted: bool,
    wants_tag: bool,
) -> Result<Rendered, Error> {
    let caller = Caller::current();
    let template = read::template_of(&caller, id, Action::Read)?;
    let projection = Projection::parse(&caller, &template, fields, verbose)?.with_tag(wants_tag);
    let (lifetime, visible) = match include_deleted {
        true => (Lifetime::Any, visibility::row_of_any(&caller, &template)),
        false => (Lifetime::Live, visibility::row(&caller, &template)),
    };
    read::by_id(&template, id, visible.as_deref(), lifetime, &projection, Snapshot::Active)
}

pub(super) fn get_by_key(
    template: &Template,
    key: &str,
    fields: Option<&[String]>,
    verbose: bool,
    wants_tag: bool,
) -> Result<Rendered, Error> {
    let caller = Caller::current();
    caller.require(Action::Read, template)?;
    let visible = visibility::row(&caller, template);
    let projection = Projection::parse(&caller, template, fields, verbose)?.with_tag(wants_tag);
    read::by_key(template, key, visible.as_deref(), &projection)
}

pub(super) fn patch(id: Uuid, body: &str, preconditions: &Preconditions) -> Result<Rendered, Error> {
    write::patch(&Caller::current(), id, &write::parse_body(body)?, preconditions)
}

pub(super) fn restore(
    id: Uuid,
    body: Option<&str>,
    preconditions: &Preconditions,
) -> Result<Rendered, Error> {
    let mut key = Key::Absent;
    for (name, value) in body.map(json::object).transpose()?.unwrap_or_default().0 {
        if name != "external_key" {
            let pointer = format!("/{}", json::pointer_step(&name));
            return Err(Error::at(
                Code::UnknownField,
                pointer,
                "the body of a restore has only external_key",
            ));
        }
        key = parse_key(value)?;
    }
    deletion::restore(&Caller::current(), id, &key, preconditions)
}

pub(super) fn metric_page(call: &Call, id: Uuid) -> Result<String, Error> {
    let slug = call.required_text(1, "slug")?;
    let query = series::SeriesQuery {
        from: call.text(2),
        to: call.text(3),
        bucket: call.text(4),
        aggregate: call.text(5),
        limit: call.integer(6),
        cursor: call.text(7),
    };
    series::page(&Caller::current(), id, &slug, &query)
}
