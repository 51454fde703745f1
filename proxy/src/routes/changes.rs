//! The change feed, and the history of a key.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use keyed_service::shutdown::{Shutdown, Step};
use keyed_service::statement::{flag, number, statement, text};

use crate::call::Call;
use crate::changes::{self, Feed, Form, Listener};
use crate::header::single_text;
use crate::problem::Problem;
use crate::query;
use crate::response;
use crate::routes::by_key;

/// The maximum of `wait`, in seconds.
const MAX_WAIT: u64 = 60;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Disables buffering in nginx.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

pub(crate) async fn read(mut call: Call<0>, method: Method, headers: HeaderMap) -> Result<Response, Problem> {
    let names = ["template", "after", "limit", "include", "wait"];
    let [template, after, limit, include, wait] = call.parameters(names)?;
    let limit = query::number("limit", limit)?;
    let with_record = includes_record(include.as_deref())?;
    let wait = seconds(wait)?;
    let (template, after) = (template.map(Cow::into_owned), after.map(Cow::into_owned));
    if changes::is_requested(&headers) {
        if wait.is_some() {
            return Err(Problem::invalid_value(
                "the query parameter \"wait\" does not apply to a stream of events",
            ));
        }
        let last = single_text(&headers, LAST_EVENT_ID)?.filter(|id| !id.is_empty()).map(str::to_owned);
        let feed = Feed { template, limit, with_record, form: Form::Events };
        return events(call, &method, feed, last.or(after)).await;
    }
    let wait = wait.filter(|wait| !wait.is_zero() && method != Method::HEAD);
    let Some(wait) = wait else {
        let statement = statement!("changes($4::text, $5::text, $6::int4, $7::bool)");
        return call
            .read_primary(statement, &[text(&template), text(&after), number(&limit), flag(&with_record)])
            .await;
    };
    let feed = Feed { template, limit, with_record, form: Form::Json };
    let Call { app, caller, .. } = call;
    let listener = Listener::new(&app.changes, caller, feed)?;
    let page = changes::poll(listener, after, wait, app.shutdown.reached(end_of(&app.shutdown))).await?;
    let json = HeaderValue::from_static("application/json");
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, json)], Body::from(page.text.clone())).into_response())
}

async fn events(
    call: Call<0>,
    method: &Method,
    feed: Feed,
    after: Option<String>,
) -> Result<Response, Problem> {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static(changes::MEDIA_TYPE));
    if method == Method::HEAD {
        // For HEAD: whether the stream is possible.
        let statement = statement!("changes($4::text, $5::text, $6::int4, $7::bool)");
        let arguments = [text(&feed.template), text(&after), number(&feed.limit), flag(&feed.with_record)];
        response::read(&call.ask(crate::database::Effect::PrimaryRead, statement, &arguments).await?)?;
        return Ok(([kind, UNBUFFERED], Body::empty()).into_response());
    }
    let Call { app, caller, .. } = call;
    let listener = Listener::new(&app.changes, caller, feed)?;
    let end = end_of(&app.shutdown);
    let body = changes::stream(listener, after, app.shutdown.clone(), end).await?;
    Ok(([kind, UNBUFFERED], body).into_response())
}

/// The shutdown step that ends a wait. A wait that begins during draining ends later, because the client may have no
/// other instance.
fn end_of(shutdown: &Shutdown) -> Step {
    if shutdown.has_begun() { Step::Finishing } else { Step::Draining }
}

fn includes_record(include: Option<&str>) -> Result<bool, Problem> {
    match include {
        None => Ok(false),
        Some("record") => Ok(true),
        Some(_) => {
            Err(Problem::invalid_value("the query parameter \"include\" accepts only the value record"))
        }
    }
}

/// Parses `wait`.
fn seconds(wait: Option<Cow<'_, str>>) -> Result<Option<Duration>, Problem> {
    let Some(wait) = wait else { return Ok(None) };
    match wait.parse() {
        Ok(seconds) if seconds <= MAX_WAIT => Ok(Some(Duration::from_secs(seconds))),
        _ => Err(Problem::invalid_value(format!(
            "the query parameter \"wait\" must be a whole number of seconds from 0 to {MAX_WAIT}"
        ))),
    }
}

pub(crate) async fn key_history(mut call: Call<1>) -> Result<Response, Problem> {
    let [key] = call.parameters(["key"])?;
    let key = by_key::given(key)?;
    let [template] = call.segments();
    call.read(statement!("key_history($4::text, $5::text)"), &[text(template), text(&key)]).await
}
