//! Templates.

use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::problem::Problem;
use crate::statement::{statement, text};

pub(crate) async fn list(call: Call<0>) -> Result<Response, Problem> {
    call.read(statement!("list_templates()"), &[]).await
}

pub(crate) async fn create(call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    call.create("templates", statement!("create_template($3::text)"), &[text(&body)]).await
}

pub(crate) async fn read(call: Call<1>) -> Result<Response, Problem> {
    let [template] = call.segments();
    call.read(statement!("get_template($3::text)"), &[text(template)]).await
}

pub(crate) async fn alter(call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [template] = call.segments();
    call.write(statement!("alter_template($3::text, $4::text)"), &[text(template), text(&body)]).await
}

pub(crate) async fn drop(call: Call<1>) -> Result<Response, Problem> {
    let [template] = call.segments();
    call.write(statement!("drop_template($3::text)"), &[text(template)]).await
}
