//! The access overview of a caller.

use axum::response::Response;

use crate::call::Call;
use crate::problem::Problem;
use crate::statement::statement;

pub(crate) async fn me(call: Call<0>) -> Result<Response, Problem> {
    call.read(statement!("me()"), &[]).await
}

pub(crate) async fn projects(call: Call<0>) -> Result<Response, Problem> {
    call.read(statement!("list_projects()"), &[]).await
}
