//! The state of the database: background jobs, embedding, missing indexes, problems.

use axum::response::Response;

use crate::call::Call;
use crate::problem::Problem;
use crate::query;
use keyed_service::statement::{number, statement, text};

pub(crate) async fn jobs(call: Call<0>) -> Result<Response, Problem> {
    call.read_primary(statement!("list_jobs()"), &[]).await
}

pub(crate) async fn retry_jobs(call: Call<0>) -> Result<Response, Problem> {
    call.write(statement!("retry_jobs()"), &[]).await
}

pub(crate) async fn embedding_status(call: Call<0>) -> Result<Response, Problem> {
    call.read_primary(statement!("embedding_status()"), &[]).await
}

pub(crate) async fn embedding_failures(mut call: Call<0>) -> Result<Response, Problem> {
    let [template, limit] = call.parameters(["template", "limit"])?;
    let limit = query::number("limit", limit)?;
    let statement = statement!("embedding_failures($4::text, $5::int4)");
    call.read_primary(statement, &[text(&template), number(&limit)]).await
}

pub(crate) async fn retry_embeddings(mut call: Call<0>) -> Result<Response, Problem> {
    let [template] = call.parameters(["template"])?;
    call.write(statement!("retry_embeddings($4::text)"), &[text(&template)]).await
}

pub(crate) async fn suggest_indexes(call: Call<1>) -> Result<Response, Problem> {
    let [template] = call.segments();
    call.read_primary(statement!("suggest_indexes($4::text)"), &[text(template)]).await
}

pub(crate) async fn examine(call: Call<0>) -> Result<Response, Problem> {
    call.read_primary(statement!("examine()"), &[]).await
}
