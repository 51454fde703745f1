//! Searches.

use axum::http::HeaderName;
use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::database::Effect::Read;
use crate::problem::Problem;
use crate::query_text::{Check, Context, with_vector};
use crate::response;
use crate::state::App;
use keyed_service::statement::{statement, text};

pub(crate) async fn run(mut call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [] = call.parameters([])?;
    let [template] = call.segments();
    let check =
        Check { statement: statement!("check_search($4::text, $5::text)"), arguments: &[text(template)] };
    let body = with_vector(context(&call.app), &call.caller, body, check).await?;
    call.read(statement!("search($4::text, $5::text)"), &[text(template), text(&body)]).await
}

pub(crate) async fn suggest(mut call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [] = call.parameters([])?;
    let [template] = call.segments();
    call.read(statement!("suggest($4::text, $5::text)"), &[text(template), text(&body)]).await
}

fn context(app: &App) -> Context<'_> {
    Context { database: &app.database, embedder: app.embedder.as_deref(), timeout: app.body_timeout }
}

/// Headers that show whether the result is exact and complete.
const HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-search-exact"), HeaderName::from_static("x-search-exhausted")];

pub(crate) async fn semantic(mut call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [] = call.parameters([])?;
    let check = Check { statement: statement!("check_semantic_search($4::text)"), arguments: &[] };
    let body = with_vector(context(&call.app), &call.caller, body, check).await?;
    let row = call.ask(Read, statement!("semantic_search($4::text)"), &[text(&body)]).await?;
    response::read_with(&row, &HEADERS)
}
