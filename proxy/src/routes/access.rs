//! What the caller's key may see.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use crate::answer;
use crate::app::App;
use crate::caller::Caller;
use crate::database::Effect::Read;
use crate::problem::Problem;
use crate::query::parameters;

pub(crate) async fn me(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.me() from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[]).await?;
    answer::read(&row)
}

pub(crate) async fn projects(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.list_projects() from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Read, &caller, statement, &[]).await?;
    answer::read(&row)
}
