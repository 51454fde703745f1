//! Templates.

use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::problem::Problem;
use crate::query;
use keyed_service::statement::{flag, statement, text};

pub(crate) async fn list(call: Call<0>) -> Result<Response, Problem> {
    call.read(statement!("list_templates()"), &[]).await
}

pub(crate) async fn create(mut call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let dry_run = dry_run(&mut call)?;
    let statement = statement!("create_template($4::text, $5::bool)");
    call.create("templates", statement, &[text(&body), flag(&dry_run)]).await
}

/// Parses `dry_run`.
fn dry_run<const N: usize>(call: &mut Call<N>) -> Result<Option<bool>, Problem> {
    let [dry_run] = call.parameters(["dry_run"])?;
    query::flag("dry_run", dry_run)
}

pub(crate) async fn read(call: Call<1>) -> Result<Response, Problem> {
    let [template] = call.segments();
    call.read(statement!("get_template($4::text)"), &[text(template)]).await
}

pub(crate) async fn alter(mut call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let dry_run = dry_run(&mut call)?;
    let [template] = call.segments();
    let statement = statement!("alter_template($4::text, $5::text, $6::bool)");
    call.write(statement, &[text(template), text(&body), flag(&dry_run)]).await
}

pub(crate) async fn drop(call: Call<1>) -> Result<Response, Problem> {
    let [template] = call.segments();
    call.write(statement!("drop_template($4::text)"), &[text(template)]).await
}
