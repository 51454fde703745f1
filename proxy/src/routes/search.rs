//! Searches.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, Uri};
use axum::response::Response;

use crate::answer;
use crate::app::App;
use crate::body::JsonText;
use crate::caller::Caller;
use crate::database::Effect::Read;
use crate::database::text;
use crate::embedding::query;
use crate::problem::Problem;
use crate::query::{Segments, parameters};

pub(crate) async fn run(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([template]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let body = query::with_vector(&app, &caller, body).await?;
    let statement =
        "select keyed_http.search($3::text, $4::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[text(&template), text(&body)]).await?;
    answer::read(&row)
}

/// Whether all candidates were compared, and whether there are no more than were found.
const HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-search-exact"), HeaderName::from_static("x-search-exhausted")];

pub(crate) async fn semantic(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let body = query::with_vector(&app, &caller, body).await?;
    let statement =
        "select keyed_http.semantic_search($3::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[text(&body)]).await?;
    answer::read_with(&row, &HEADERS)
}
