//! Saved views of a template's records.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use crate::answer;
use crate::app::App;
use crate::body::JsonText;
use crate::caller::Caller;
use crate::database::Effect::{Read, Write};
use crate::database::text;
use crate::problem::Problem;
use crate::query::{Prefix, Segments, parameters};

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([template]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.list_views($3::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[text(&template)]).await?;
    answer::read(&row)
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    prefix: Prefix,
    Segments([template]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.save_view($3::text, null, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&template), text(&body)]).await?;
    answer::written(&row, Some((prefix, "templates")))
}

pub(crate) async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([template, slug]): Segments<2>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement =
        "select keyed_http.get_view($3::text, $4::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[text(&template), text(&slug)]).await?;
    answer::read(&row)
}

pub(crate) async fn save(
    State(app): State<Arc<App>>,
    caller: Caller,
    prefix: Prefix,
    Segments([template, slug]): Segments<2>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.save_view($3::text, $4::text, $5::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let arguments = [text(&template), text(&slug), text(&body)];
    let row = app.database.call(Write, &caller, statement, &arguments).await?;
    answer::written(&row, Some((prefix, "templates")))
}

pub(crate) async fn drop(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([template, slug]): Segments<2>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement =
        "select keyed_http.drop_view($3::text, $4::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&template), text(&slug)]).await?;
    answer::written(&row, None)
}
