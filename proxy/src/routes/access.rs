//! The access overview of a caller.

use axum::response::Response;

use crate::call::Call;
use crate::problem::Problem;
use keyed_service::statement::{flag, statement};

pub(crate) async fn me(call: Call<0>) -> Result<Response, Problem> {
    let query_text = call.app.embedder.is_some();
    call.read(statement!("me($4::bool)"), &[flag(&query_text)]).await
}

pub(crate) async fn projects(call: Call<0>) -> Result<Response, Problem> {
    call.read(statement!("list_projects()"), &[]).await
}
