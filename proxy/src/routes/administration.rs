//! Administration: API keys, projects, grants and quotas.

use std::borrow::Cow;

use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::problem::Problem;
use crate::query;
use keyed_service::statement::{number, statement, text};

pub(crate) async fn list_keys(mut call: Call<0>) -> Result<Response, Problem> {
    let [limit, cursor] = call.parameters(["limit", "cursor"])?;
    let limit = query::number("limit", limit)?;
    call.read_primary(statement!("list_api_keys($4::int4, $5::text)"), &[number(&limit), text(&cursor)]).await
}

pub(crate) async fn create_key(call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    call.write(statement!("create_api_key($4::text)"), &[text(&body)]).await
}

pub(crate) async fn revoke_key(call: Call<1>) -> Result<Response, Problem> {
    let [id] = call.segments();
    call.write(statement!("revoke_api_key($4::text)"), &[text(id)]).await
}

pub(crate) async fn roles(mut call: Call<0>) -> Result<Response, Problem> {
    let [limit, cursor] = call.parameters(["limit", "cursor"])?;
    let limit = query::number("limit", limit)?;
    call.read_primary(statement!("list_roles($4::int4, $5::text)"), &[number(&limit), text(&cursor)]).await
}

pub(crate) async fn grants(mut call: Call<0>) -> Result<Response, Problem> {
    let [role, target, limit, cursor] = call.parameters(["role", "target", "limit", "cursor"])?;
    let limit = query::number("limit", limit)?;
    let statement = statement!("list_grants($4::text, $5::text, $6::int4, $7::text)");
    call.read_primary(statement, &[text(&role), text(&target), number(&limit), text(&cursor)]).await
}

pub(crate) async fn grant(call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    call.write(statement!("grant_access($4::text)"), &[text(&body)]).await
}

pub(crate) async fn revoke(mut call: Call<0>) -> Result<Response, Problem> {
    let [role, target] = call.parameters(["role", "target"])?;
    let (role, target) = (given("role", role)?, given("target", target)?);
    call.write(statement!("revoke_access($4::text, $5::text)"), &[text(&role), text(&target)]).await
}

pub(crate) async fn explain(mut call: Call<1>) -> Result<Response, Problem> {
    let [role] = call.parameters(["role"])?;
    let role = given("role", role)?;
    let [id] = call.segments();
    call.read_primary(statement!("explain_access($4::text, $5::text)"), &[text(id), text(&role)]).await
}

fn given(name: &str, value: Option<Cow<'static, str>>) -> Result<Cow<'static, str>, Problem> {
    value.ok_or_else(|| Problem::malformed(format!("the query parameter \"{name}\" is required")))
}

pub(crate) async fn create_project(call: Call<0>, JsonText(body): JsonText) -> Result<Response, Problem> {
    call.write(statement!("create_project($4::text)"), &[text(&body)]).await
}

pub(crate) async fn quotas(call: Call<0>) -> Result<Response, Problem> {
    call.read_primary(statement!("list_quotas()"), &[]).await
}

pub(crate) async fn set_quota(call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [name] = call.segments();
    call.write(statement!("set_quota($4::text, $5::text)"), &[text(name), text(&body)]).await
}
