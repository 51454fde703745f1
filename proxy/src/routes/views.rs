//! Saved views of a template's records.

use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::problem::Problem;
use keyed_service::statement::{statement, text};

pub(crate) async fn list(call: Call<1>) -> Result<Response, Problem> {
    let [template] = call.segments();
    call.read(statement!("list_views($4::text)"), &[text(template)]).await
}

pub(crate) async fn create(call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [template] = call.segments();
    let statement = statement!("save_view($4::text, null, $5::text)");
    call.create("templates", statement, &[text(template), text(&body)]).await
}

pub(crate) async fn read(call: Call<2>) -> Result<Response, Problem> {
    let [template, slug] = call.segments();
    call.read(statement!("get_view($4::text, $5::text)"), &[text(template), text(slug)]).await
}

pub(crate) async fn save(call: Call<2>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [template, slug] = call.segments();
    let statement = statement!("save_view($4::text, $5::text, $6::text)");
    call.create("templates", statement, &[text(template), text(slug), text(&body)]).await
}

pub(crate) async fn drop(call: Call<2>) -> Result<Response, Problem> {
    let [template, slug] = call.segments();
    call.write(statement!("drop_view($4::text, $5::text)"), &[text(template), text(slug)]).await
}
