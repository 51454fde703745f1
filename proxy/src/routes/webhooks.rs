//! Webhook endpoints: configuration, deliveries and replays.

use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::problem::Problem;
use crate::query;
use keyed_service::statement::{number, statement, text};

pub(crate) async fn list(call: Call<0>) -> Result<Response, Problem> {
    call.read_primary(statement!("list_webhook_endpoints()"), &[]).await
}

pub(crate) async fn create(call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let statement = statement!("create_webhook_endpoint($4::text)");
    call.create("webhook-endpoints", statement, &[text(&body)]).await
}

pub(crate) async fn read(call: Call<1>) -> Result<Response, Problem> {
    let [endpoint] = call.segments();
    call.read_primary(statement!("get_webhook_endpoint($4::text)"), &[text(endpoint)]).await
}

pub(crate) async fn alter(call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [endpoint] = call.segments();
    call.write(statement!("alter_webhook_endpoint($4::text, $5::text)"), &[text(endpoint), text(&body)]).await
}

pub(crate) async fn drop(call: Call<1>) -> Result<Response, Problem> {
    let [endpoint] = call.segments();
    call.write(statement!("drop_webhook_endpoint($4::text)"), &[text(endpoint)]).await
}

pub(crate) async fn test(call: Call<1>) -> Result<Response, Problem> {
    let [endpoint] = call.segments();
    call.write(statement!("test_webhook_endpoint($4::text)"), &[text(endpoint)]).await
}

pub(crate) async fn deliveries(mut call: Call<1>) -> Result<Response, Problem> {
    let [state, limit, cursor] = call.parameters(["state", "limit", "cursor"])?;
    let limit = query::number("limit", limit)?;
    let [endpoint] = call.segments();
    let statement = statement!("webhook_deliveries($4::text, $5::text, $6::int4, $7::text)");
    call.read_primary(statement, &[text(endpoint), text(&state), number(&limit), text(&cursor)]).await
}

pub(crate) async fn delivery(call: Call<2>) -> Result<Response, Problem> {
    let [endpoint, id] = call.segments();
    call.read_primary(statement!("get_webhook_delivery($4::text, $5::text)"), &[text(endpoint), text(id)])
        .await
}

pub(crate) async fn replay(call: Call<2>) -> Result<Response, Problem> {
    let [endpoint, id] = call.segments();
    call.write(statement!("replay_webhook_delivery($4::text, $5::text)"), &[text(endpoint), text(id)]).await
}
