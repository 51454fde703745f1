//! The SQL and HTTP functions of webhook endpoints.

use super::endpoint::{self, Endpoint};
use super::finish::{Outcome, finish};
use super::log::{self, LogQuery};
use super::{claim, configure, queue};
use crate::access::Caller;
use crate::access::lookup::project_named;
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::postgres::function::{Call, ReturnValue, must_not_be_null, sql_functions};
use crate::template::catalog;
use crate::value::written::{Subject, Written};
use pgrx::pg_sys::Datum;
use uuid::Uuid;

sql_functions! {
    /// `keyed.create_webhook_endpoint(project text, definition jsonb) returns jsonb`.
    keyed_create_webhook_endpoint => |call| {
        let caller = Caller::current();
        endpoint::require(&caller, "create webhook endpoints")?;
        let project = project_named(&call.required_text(0, "project")?)?;
        let definition = call.required_json(1, "definition")?;
        configure::create(&caller, &project, &definition).map(|(_, made)| ReturnValue::Json(made))
    };

    /// `keyed.list_webhook_endpoints(project text) returns jsonb`.
    keyed_list_webhook_endpoints => |call| {
        let caller = Caller::current();
        endpoint::require(&caller, "list webhook endpoints")?;
        let project = call.text(0).map(|project| project_named(&project)).transpose()?;
        endpoint::list(&caller, project.map(|project| project.id)).map(ReturnValue::Json)
    };

    /// `keyed.alter_webhook_endpoint(id integer, changes jsonb) returns jsonb`.
    keyed_alter_webhook_endpoint => |call| {
        let (caller, endpoint) = numbered(call)?;
        endpoint.alter(&caller, &call.required_json(1, "changes")?).map(|(changed, _)| ReturnValue::Json(changed))
    };

    /// `keyed.drop_webhook_endpoint(id integer) returns void`.
    keyed_drop_webhook_endpoint => |call| {
        numbered(call)?.1.drop();
        Ok(ReturnValue::Void)
    };

    /// `keyed.test_webhook_endpoint(id integer) returns jsonb`.
    keyed_test_webhook_endpoint => |call| log::test(&numbered(call)?.1).map(ReturnValue::Json);

    /// `keyed.webhook_deliveries(id integer, state text, page_size integer, cursor text) returns jsonb`.
    keyed_webhook_deliveries => |call| log::page(&numbered(call)?.1, &requested(call)).map(ReturnValue::Json);

    /// `keyed.replay_webhook_delivery(id uuid) returns jsonb`.
    keyed_replay_webhook_delivery => |call| {
        let caller = Caller::current();
        endpoint::require(&caller, "replay deliveries")?;
        let id = call.datum(0).map(datum::read_uuid).ok_or_else(|| must_not_be_null("id"))?;
        let endpoint = log::endpoint_of(id).and_then(endpoint::by_id);
        let endpoint = endpoint.filter(|it| caller.can_access_project(it.project));
        let unknown = || Error::new(Code::NotFound, format!("delivery {id} does not exist"));
        log::replay(&endpoint.ok_or_else(unknown)?, id).map(ReturnValue::Json)
    };

    /// `keyed_http.create_webhook_endpoint(body text) returns text[]`.
    keyed_http_create_webhook_endpoint => |call| {
        catalog::refresh();
        let caller = Caller::current();
        endpoint::require(&caller, "create webhook endpoints")?;
        let project = caller.project().and_then(catalog::project_by_id).ok_or_else(|| {
            Error::new(Code::ProjectRequired, "the request does not specify a project")
                .hint("Send the header X-Service-Project-Id.")
        })?;
        let (id, made) = configure::create(&caller, &project, &call.required_text(0, "body")?)?;
        Ok(ReturnValue::Written(Written::new(201, made, Subject::Secret).created(Some(id))))
    };

    /// `keyed_http.list_webhook_endpoints() returns text`.
    keyed_http_list_webhook_endpoints => |_| {
        catalog::refresh();
        let caller = Caller::current();
        endpoint::list(&caller, caller.project()).map(ReturnValue::Text)
    };

    /// `keyed_http.get_webhook_endpoint(endpoint text) returns text`.
    keyed_http_get_webhook_endpoint => |call| named(call)?.1.shown().map(ReturnValue::Text);

    /// `keyed_http.alter_webhook_endpoint(endpoint text, body text) returns text[]`.
    keyed_http_alter_webhook_endpoint => |call| {
        let (caller, endpoint) = named(call)?;
        let (changed, has_secret) = endpoint.alter(&caller, &call.required_text(1, "body")?)?;
        let subject = if has_secret { Subject::Secret } else { Subject::Administration };
        Ok(ReturnValue::Written(Written::new(200, changed, subject)))
    };

    /// `keyed_http.drop_webhook_endpoint(endpoint text) returns text[]`.
    keyed_http_drop_webhook_endpoint => |call| {
        named(call)?.1.drop();
        Ok(ReturnValue::Written(Written::no_content()))
    };

    /// `keyed_http.test_webhook_endpoint(endpoint text) returns text[]`.
    keyed_http_test_webhook_endpoint => |call| {
        let queued = log::test(&named(call)?.1)?;
        Ok(ReturnValue::Written(Written::new(202, queued, Subject::Administration)))
    };

    /// `keyed_http.webhook_deliveries(endpoint text, state text, page_size integer, cursor text) returns text`.
    keyed_http_webhook_deliveries => |call| log::page(&named(call)?.1, &requested(call)).map(ReturnValue::Text);

    /// `keyed_http.get_webhook_delivery(endpoint text, id text) returns text`.
    keyed_http_get_webhook_delivery => |call| {
        let endpoint = named(call)?.1;
        log::read(&endpoint, delivery(call)?).map(ReturnValue::Text)
    };

    /// `keyed_http.replay_webhook_delivery(endpoint text, id text) returns text[]`.
    keyed_http_replay_webhook_delivery => |call| {
        let endpoint = named(call)?.1;
        let queued = log::replay(&endpoint, delivery(call)?)?;
        Ok(ReturnValue::Written(Written::new(202, queued, Subject::Administration)))
    };

    /// `keyed_http.queue_webhooks() returns text`.
    keyed_http_queue_webhooks => |_| {
        catalog::refresh();
        queue::queue(&Caller::current()).map(ReturnValue::Text)
    };

    /// `keyed_http.claim_webhooks(max_deliveries integer, lease integer, max_in_flight integer) returns text`.
    keyed_http_claim_webhooks => |call| {
        catalog::refresh();
        let max = call.integer(0).ok_or_else(|| must_not_be_null("max_deliveries"))?;
        let lease = call.integer(1).ok_or_else(|| must_not_be_null("lease"))?;
        let max_in_flight = call.integer(2).ok_or_else(|| must_not_be_null("max_in_flight"))?;
        claim::claim(&Caller::current(), max, lease, max_in_flight).map(ReturnValue::Text)
    };

    /// `keyed_http.finish_webhook(claim text, id text, status integer, error text, response text, retry_after integer,
    /// duration integer) returns boolean`.
    keyed_http_finish_webhook => |call| {
        let (claim, id) = (uuid(call, 0, "claim")?, uuid(call, 1, "id")?);
        let outcome = Outcome {
            status: call.integer(2),
            error: call.text(3),
            response: call.text(4),
            retry_after: call.integer(5),
            duration: call.integer(6).unwrap_or_default(),
        };
        finish(&Caller::current(), claim, id, &outcome).map(|is_stored| ReturnValue::Datum(Datum::from(is_stored)))
    };
}

/// The endpoint of the first argument, a slug or an id.
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
    endpoint::require(&caller, "configure webhook endpoints")?;
    let id = call.integer(0).ok_or_else(|| must_not_be_null("id"))?;
    let endpoint = endpoint::by_id(id).filter(|it| caller.can_access_project(it.project));
    endpoint.map(|endpoint| (caller, endpoint)).ok_or_else(Error::not_found)
}

fn uuid(call: &Call, position: usize, name: &str) -> Result<Uuid, Error> {
    let text = call.required_text(position, name)?;
    Uuid::try_parse(&text)
        .map_err(|_| Error::at(Code::InvalidValue, format!("/{name}"), format!("{name} must be a UUID")))
}

/// The delivery of the second argument.
fn delivery(call: &Call) -> Result<Uuid, Error> {
    Uuid::try_parse(&call.required_text(1, "id")?).map_err(|_| Error::not_found())
}

fn requested(call: &Call) -> LogQuery {
    LogQuery { state: call.text(1), limit: call.integer(2), cursor: call.text(3) }
}
