//! Many operations in one request.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use crate::answer;
use crate::app::App;
use crate::body::JsonText;
use crate::caller::Caller;
use crate::database::Effect::Write;
use crate::database::text;
use crate::problem::Problem;
use crate::query::parameters;

pub(crate) async fn run(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.batch($3::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&body)]).await?;
    answer::written(&row, None)
}
