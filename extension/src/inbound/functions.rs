//! The SQL and HTTP functions of inbound endpoints.

use super::log::{self, LogQuery};
use super::signature::Signed;
use super::{configure, delivery, endpoint, replay};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::postgres::function::{Call, ReturnValue, must_not_be_null, sql_functions};
use crate::template::catalog;
use crate::value::written::{Subject, Written};
use endpoint::Endpoint;
use pgrx::pg_sys::Datum;

sql_functions! {
    /// `keyed.create_inbound_endpoint(template regclass, definition jsonb) returns jsonb`.
    keyed_create_inbound_endpoint => |call| {
        let template = catalog::by_argument(call)?;
        let definition = call.required_json(1, "definition")?;
        configure::create(&Caller::current(), &definition, Some(template)).map(ReturnValue::Json)
    };

    /// `keyed.list_inbound_endpoints() returns jsonb`.
    keyed_list_inbound_endpoints => |_| endpoint::list(&Caller::current()).map(ReturnValue::Json);

    /// `keyed.alter_inbound_endpoint(id integer, changes jsonb) returns jsonb`.
    keyed_alter_inbound_endpoint => |call| {
        let (caller, endpoint) = numbered(call)?;
        endpoint.alter(&caller, &call.required_json(1, "changes")?).map(|(changed, _)| ReturnValue::Json(changed))
    };

    /// `keyed.drop_inbound_endpoint(id integer) returns void`.
    keyed_drop_inbound_endpoint => |call| {
        numbered(call)?.1.drop();
        Ok(ReturnValue::Void)
    };

    /// `keyed.dry_run_inbound(id integer, trial jsonb) returns jsonb`.
    keyed_dry_run_inbound => |call| {
        let (_, endpoint) = numbered(call)?;
        replay::dry_run(endpoint, &call.required_json(1, "trial")?).map(ReturnValue::Json)
    };

    /// `keyed.inbound_deliveries(id integer, status text, page_size integer, cursor text) returns jsonb`.
    keyed_inbound_deliveries => |call| {
        let (_, endpoint) = numbered(call)?;
        log::page(&endpoint, &requested(call)).map(ReturnValue::Json)
    };

    /// `keyed.replay_delivery(id bigint) returns jsonb`.
    keyed_replay_delivery => |call| {
        catalog::refresh();
        let id = call.datum(0).map(datum::read_i64).ok_or_else(|| must_not_be_null("id"))?;
        replay::replay(&Caller::current(), None, id).map(|(_, line)| ReturnValue::Json(line))
    };

    /// `keyed.replay_failed_deliveries(id integer, cursor text) returns jsonb`.
    keyed_replay_failed_deliveries => |call| {
        let (_, endpoint) = numbered(call)?;
        replay::replay_all(&endpoint, call.text(1).as_deref()).map(ReturnValue::Json)
    };

    /// `keyed.purge_deliveries(before timestamptz, status text) returns bigint`.
    keyed_purge_deliveries => |call| {
        let before = call.datum(0).ok_or_else(|| must_not_be_null("before"))?;
        log::purge(before, &call.required_text(1, "status")?).map(|count| ReturnValue::Datum(Datum::from(count)))
    };

    /// `keyed_http.deliver(token_hash bytea, webhook_id text, webhook_timestamp text, webhook_signature text, body text)
    /// returns text[]`.
    keyed_http_deliver => |call| {
        let hash = call.bytes(0).unwrap_or_default();
        let (id, timestamp, signatures) = (call.text(1), call.text(2), call.text(3));
        let headers = Signed {
            id: id.as_deref(),
            timestamp: timestamp.as_deref(),
            signatures: signatures.as_deref(),
        };
        let (status, body) = delivery::deliver(&hash, headers, &call.required_text(4, "body")?)?;
        // The log entry has its own idempotency.
        Ok(ReturnValue::Written(Written::new(status, body, Subject::NotStored)))
    };

    /// `keyed_http.knows_delivery_token(token_hash bytea) returns boolean`.
    keyed_http_knows_delivery_token => |call| {
        catalog::refresh();
        let endpoint = endpoint::by_token(&call.bytes(0).unwrap_or_default())?;
        Ok(ReturnValue::Datum(Datum::from(endpoint.is_some())))
    };

    /// `keyed_http.identify_delivery_token(token_hash bytea) returns text[]`.
    keyed_http_identify_delivery_token => |call| {
        catalog::refresh();
        let endpoint = endpoint::by_token(&call.bytes(0).unwrap_or_default())?;
        let Some(endpoint) = endpoint else { return Ok(ReturnValue::Null) };
        let project = endpoint.template.project_slug.clone();
        Ok(ReturnValue::Texts(vec![Some(endpoint.slug), Some(project)]))
    };

    /// `keyed_http.create_inbound_endpoint(body text) returns text[]`.
    keyed_http_create_inbound_endpoint => |call| {
        catalog::refresh();
        let made = configure::create(&Caller::current(), &call.required_text(0, "body")?, None)?;
        let id = made.split('"').nth(3).map(str::to_owned);
        Ok(ReturnValue::Written(Written::new(201, made, Subject::Secret).created(id)))
    };

    /// `keyed_http.list_inbound_endpoints() returns text`.
    keyed_http_list_inbound_endpoints => |_| {
        catalog::refresh();
        endpoint::list(&Caller::current()).map(ReturnValue::Text)
    };

    /// `keyed_http.get_inbound_endpoint(endpoint text) returns text`.
    keyed_http_get_inbound_endpoint => |call| {
        Ok(ReturnValue::Text(named(call)?.1.to_json(&endpoint::Secrets::default())))
    };

    /// `keyed_http.alter_inbound_endpoint(endpoint text, body text) returns text[]`.
    keyed_http_alter_inbound_endpoint => |call| {
        let (caller, endpoint) = named(call)?;
        let (changed, has_secret) = endpoint.alter(&caller, &call.required_text(1, "body")?)?;
        let subject = if has_secret { Subject::Secret } else { Subject::Endpoint(endpoint.id) };
        Ok(ReturnValue::Written(Written::new(200, changed, subject)))
    };

    /// `keyed_http.drop_inbound_endpoint(endpoint text) returns text[]`.
    keyed_http_drop_inbound_endpoint => |call| {
        named(call)?.1.drop();
        Ok(ReturnValue::Written(Written::no_content()))
    };

    /// `keyed_http.dry_run_inbound(endpoint text, body text) returns text[]`.
    keyed_http_dry_run_inbound => |call| {
        let (_, endpoint) = named(call)?;
        let tried = replay::dry_run(endpoint, &call.required_text(1, "body")?)?;
        Ok(ReturnValue::Written(Written::new(200, tried, Subject::NotStored)))
    };

    /// `keyed_http.inbound_deliveries(endpoint text, status text, page_size integer, cursor text) returns text`.
    keyed_http_inbound_deliveries => |call| {
        let (_, endpoint) = named(call)?;
        log::page(&endpoint, &requested(call)).map(ReturnValue::Text)
    };

    /// `keyed_http.get_delivery(endpoint text, id text) returns text`.
    keyed_http_get_delivery => |call| {
        let (_, endpoint) = named(call)?;
        let found = log::get(delivery_id(call)?, false).filter(|(it, _)| it.endpoint == endpoint.id);
        let (delivery, payload) = found.ok_or_else(Error::not_found)?;
        Ok(ReturnValue::Text(delivery.to_json(Some(payload.as_deref().unwrap_or("null")))))
    };

    /// `keyed_http.replay_delivery(endpoint text, id text) returns text[]`.
    keyed_http_replay_delivery => |call| {
        let (caller, endpoint) = named(call)?;
        let id = delivery_id(call)?;
        let (status, line) = replay::replay(&caller, Some(&endpoint), id)?;
        Ok(ReturnValue::Written(Written::new(status, line, Subject::Delivery(id))))
    };

    /// `keyed_http.replay_failed_deliveries(endpoint text, cursor text) returns text[]`.
    keyed_http_replay_failed_deliveries => |call| {
        let (_, endpoint) = named(call)?;
        let report = replay::replay_all(&endpoint, call.text(1).as_deref())?;
        Ok(ReturnValue::Written(Written::new(200, report, Subject::Endpoint(endpoint.id))))
    };
}

/// The endpoint of the first argument, a slug or an id. The caller must be allowed to configure it.
fn named(call: &Call) -> Result<(Caller, Endpoint), Error> {
    catalog::refresh();
    let caller = Caller::current();
    let endpoint = endpoint::by_name(&caller, &call.required_text(0, "endpoint")?)?;
    Ok((caller, endpoint))
}

/// Like [`named`], by id only.
fn numbered(call: &Call) -> Result<(Caller, Endpoint), Error> {
    catalog::refresh();
    let caller = Caller::current();
    let id = call.integer(0).ok_or_else(|| must_not_be_null("id"))?;
    let endpoint = endpoint::by_name(&caller, &id.to_string()).map_err(|error| match error.code {
        Code::ProjectRequired => Error::not_found(),
        _ => error,
    })?;
    Ok((caller, endpoint))
}

fn delivery_id(call: &Call) -> Result<i64, Error> {
    call.required_text(1, "id")?.parse().map_err(|_| Error::not_found())
}

fn requested(call: &Call) -> LogQuery {
    LogQuery { status: call.text(1), limit: call.integer(2), cursor: call.text(3) }
}
