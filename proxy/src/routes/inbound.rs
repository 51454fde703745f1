//! Inbound endpoints: their configuration, and the deliveries that come in by them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use sha2::{Digest, Sha256};
use tokio_postgres::types::Type;

use crate::answer;
use crate::app::App;
use crate::body::JsonText;
use crate::caller::Caller;
use crate::database::Effect::{Read, Write, WriteOnce};
use crate::database::{number, text};
use crate::problem::Problem;
use crate::query::{self, Prefix, Segments, parameters};

/// Takes a delivery. The token in the address says for whom it is; as with API keys only its digest travels on.
pub(crate) async fn deliver(
    State(app): State<Arc<App>>,
    Segments([token]): Segments<1>,
    headers: HeaderMap,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
    let digest = digest.as_slice();
    let id = header(&headers, "webhook-id")?;
    let timestamp = header(&headers, "webhook-timestamp")?;
    let signature = header(&headers, "webhook-signature")?;
    let statement = "select keyed_http.deliver($1::bytea, $2::text, $3::text, $4::text, $5::text)";
    let arguments = [(&digest as _, Type::BYTEA), text(&id), text(&timestamp), text(&signature), text(&body)];
    // By its id a delivery that was sent twice is known.
    let effect = if id.is_some() { WriteOnce } else { Write };
    let row = app.database.run(effect, statement, &arguments).await?;
    answer::written(&row, None)
}

/// A header that may be missing. Two of one name would let two readers see two deliveries.
fn header<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err(Problem::malformed(format!("the header {name} is given more than once")));
    }
    let read = |value: &'a axum::http::HeaderValue| {
        value.to_str().map_err(|_| Problem::malformed(format!("the header {name} is not plain ASCII")))
    };
    first.map(read).transpose()
}

pub(crate) async fn list(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.list_inbound_endpoints() from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[]).await?;
    answer::read(&row)
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    prefix: Prefix,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement =
        "select keyed_http.create_inbound_endpoint($3::text) from keyed.authenticate($1::bytea, $2::text)";
    let caller = without_memory(caller);
    let row = app.database.call(Write, &caller, statement, &[text(&body)]).await?;
    answer::written(&row, Some((prefix, "inbound-endpoints")))
}

/// An answer that may hold a secret is kept nowhere, whatever Idempotency-Key the request has: a second endpoint of a
/// name is refused anyway.
fn without_memory(caller: Caller) -> Caller {
    Caller { idempotency: None, ..caller }
}

pub(crate) async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([endpoint]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement =
        "select keyed_http.get_inbound_endpoint($3::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[text(&endpoint)]).await?;
    answer::read(&row)
}

pub(crate) async fn alter(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([endpoint]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.alter_inbound_endpoint($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let caller = without_memory(caller);
    let row = app.database.call(Write, &caller, statement, &[text(&endpoint), text(&body)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn drop(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([endpoint]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement =
        "select keyed_http.drop_inbound_endpoint($3::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&endpoint)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn dry_run(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([endpoint]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.dry_run_inbound($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&endpoint), text(&body)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn deliveries(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([endpoint]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [status, limit, cursor] = parameters(&uri, ["status", "limit", "cursor"])?;
    let limit = query::number("limit", limit)?;
    let statement = "select keyed_http.inbound_deliveries($3::text, $4::text, $5::int4, $6::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let arguments = [text(&endpoint), text(&status), number(&limit), text(&cursor)];
    let row = app.database.call(Read, &caller, statement, &arguments).await?;
    answer::read(&row)
}

pub(crate) async fn delivery(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([endpoint, id]): Segments<2>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement =
        "select keyed_http.get_delivery($3::text, $4::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[text(&endpoint), text(&id)]).await?;
    answer::read(&row)
}

pub(crate) async fn replay(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([endpoint, id]): Segments<2>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement =
        "select keyed_http.replay_delivery($3::text, $4::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&endpoint), text(&id)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn replay_failed(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([endpoint]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [cursor] = parameters(&uri, ["cursor"])?;
    let statement = "select keyed_http.replay_failed_deliveries($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&endpoint), text(&cursor)]).await?;
    answer::written(&row, None)
}
