//! Many operations in one request.

use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::problem::Problem;
use crate::query;
use keyed_service::statement::{flag, statement, text};

pub(crate) async fn run(mut call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [answer_with, versions] = call.parameters(["return", "versions"])?;
    let return_record = query::returns_record(answer_with)?;
    let versions = query::flag("versions", versions)?;
    let statement = statement!("batch($4::text, $5::bool, $6::bool)");
    call.write(statement, &[text(&body), flag(&return_record), flag(&versions)]).await
}
