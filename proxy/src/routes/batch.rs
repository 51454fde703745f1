//! Many operations in one request.

use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::problem::Problem;
use keyed_service::statement::{statement, text};

pub(crate) async fn run(call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    call.write(statement!("batch($4::text)"), &[text(&body)]).await
}
