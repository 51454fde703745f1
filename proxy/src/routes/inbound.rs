//! Inbound endpoints: configuration and deliveries.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::response::Response;
use tokio_postgres::types::Type;

use crate::admission::{Admitted, CredentialKind};
use crate::authentication::admit;
use crate::body::JsonText;
use crate::call::Call;
use crate::database::Effect::{Write, WriteOnce};
use crate::header::single_text;
use crate::problem::Problem;
use crate::query::{self, Segments, parameters};
use crate::response;
use crate::state::App;
use keyed_service::statement::{digest, number, statement, text};

/// The endpoint of a delivery, identified by the digest of the token in the URL.
pub(crate) struct TargetEndpoint {
    token_digest: [u8; 32],
    admitted: Admitted,
}

impl FromRequestParts<Arc<App>> for TargetEndpoint {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<TargetEndpoint, Problem> {
        let Segments([token]) = Segments::from_request_parts(parts, app).await?;
        let token_digest = digest(token.as_bytes());
        let admitted =
            admit(app, parts, CredentialKind::DeliveryToken, token.as_bytes(), token_digest).await?;
        Ok(TargetEndpoint { token_digest, admitted })
    }
}

/// Accepts a delivery. The token in the URL identifies the endpoint. As with API keys, only its digest is sent to the database.
pub(crate) async fn deliver(
    State(app): State<Arc<App>>,
    TargetEndpoint { token_digest, admitted }: TargetEndpoint,
    headers: HeaderMap,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let digest = token_digest.as_slice();
    let id = single_text(&headers, HeaderName::from_static("webhook-id"))?;
    let timestamp = single_text(&headers, HeaderName::from_static("webhook-timestamp"))?;
    let signature = single_text(&headers, HeaderName::from_static("webhook-signature"))?;
    let statement = "select keyed_http.deliver($1::bytea, $2::text, $3::text, $4::text, $5::text) \
                     from keyed_http.name_request($6::text)";
    let request = admitted.observation().map(|observation| observation.id().as_str());
    let arguments = [
        (&digest as _, Type::BYTEA),
        text(&id),
        text(&timestamp),
        text(&signature),
        text(&body),
        text(&request),
    ];
    // The id detects a delivery that was sent twice.
    let effect = if id.is_some() { WriteOnce } else { Write };
    let response = app.database.run_for(Some(&admitted), effect, "deliver", statement, &arguments).await;
    let response = response.and_then(|row| response::written(&row, None));
    app.metrics.deliveries.with_label_values(&[outcome(&response)]).inc();
    // The signature is invalid, and there is no bearer token.
    response.map_err(Problem::without_token)
}

/// The outcome of a delivery for [`Metrics`](crate::metrics::Metrics), from its response.
fn outcome(response: &Result<Response, Problem>) -> &'static str {
    match response {
        // The payload was rejected, and is stored for a replay.
        Ok(response) if response.status() == StatusCode::ACCEPTED => "rejected",
        Ok(_) => "accepted",
        Err(problem) if problem.is_unauthorized() => "unauthorized",
        Err(problem) if problem.status().is_client_error() => "invalid",
        Err(_) => "failed",
    }
}

pub(crate) async fn list(call: Call<0>) -> Result<Response, Problem> {
    call.read_primary(statement!("list_inbound_endpoints()"), &[]).await
}

pub(crate) async fn create(call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let statement = statement!("create_inbound_endpoint($4::text)");
    call.create("inbound-endpoints", statement, &[text(&body)]).await
}

pub(crate) async fn read(call: Call<1>) -> Result<Response, Problem> {
    let [endpoint] = call.segments();
    call.read_primary(statement!("get_inbound_endpoint($4::text)"), &[text(endpoint)]).await
}

pub(crate) async fn alter(call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [endpoint] = call.segments();
    call.write(statement!("alter_inbound_endpoint($4::text, $5::text)"), &[text(endpoint), text(&body)]).await
}

pub(crate) async fn drop(call: Call<1>) -> Result<Response, Problem> {
    let [endpoint] = call.segments();
    call.write(statement!("drop_inbound_endpoint($4::text)"), &[text(endpoint)]).await
}

pub(crate) async fn dry_run(call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [endpoint] = call.segments();
    call.write(statement!("dry_run_inbound($4::text, $5::text)"), &[text(endpoint), text(&body)]).await
}

pub(crate) async fn deliveries(mut call: Call<1>) -> Result<Response, Problem> {
    let [status, limit, cursor] = call.parameters(["status", "limit", "cursor"])?;
    let limit = query::number("limit", limit)?;
    let [endpoint] = call.segments();
    let statement = statement!("inbound_deliveries($4::text, $5::text, $6::int4, $7::text)");
    call.read_primary(statement, &[text(endpoint), text(&status), number(&limit), text(&cursor)]).await
}

pub(crate) async fn delivery(call: Call<2>) -> Result<Response, Problem> {
    let [endpoint, id] = call.segments();
    call.read_primary(statement!("get_delivery($4::text, $5::text)"), &[text(endpoint), text(id)]).await
}

pub(crate) async fn replay(call: Call<2>) -> Result<Response, Problem> {
    let [endpoint, id] = call.segments();
    call.write(statement!("replay_delivery($4::text, $5::text)"), &[text(endpoint), text(id)]).await
}

pub(crate) async fn replay_failed(mut call: Call<1>) -> Result<Response, Problem> {
    let [cursor] = call.parameters(["cursor"])?;
    let [endpoint] = call.segments();
    let statement = statement!("replay_failed_deliveries($4::text, $5::text)");
    call.write(statement, &[text(endpoint), text(&cursor)]).await
}
