//! Records by id.

use axum::response::Response;

use crate::body::{JsonText, OptionalJsonText};
use crate::call::Call;
use crate::conditional::Conditions;
use crate::database::Effect::{Lookup, Read};
use crate::problem::Problem;
use crate::query;
use crate::response;
use keyed_service::statement::{flag, number, statement, text};

pub(crate) async fn create(call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [template] = call.segments();
    let statement = statement!("create_record($4::text, $5::text)");
    call.create("entities", statement, &[text(template), text(&body)]).await
}

pub(crate) async fn read(mut call: Call<1>) -> Result<Response, Problem> {
    let [fields, verbose, include_deleted] = call.parameters(["fields", "verbose", "include_deleted"])?;
    let verbose = query::flag("verbose", verbose)?;
    let include_deleted = query::flag("include_deleted", include_deleted)?;
    let conditions = call.conditions();
    // Following references may be slow.
    let effect = if verbose == Some(true) { Read } else { Lookup };
    let [id] = call.segments();
    let statement = statement!("get_record($4::text, $5::text, $6::bool, $7::bool, $8::text)");
    let arguments =
        [text(id), text(&fields), flag(&verbose), flag(&include_deleted), text(&conditions.if_none_match)];
    response::record(&call.ask(effect, statement, &arguments).await?)
}

pub(crate) async fn patch(mut call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let Conditions { if_match, if_none_match } = call.conditions();
    let [id] = call.segments();
    let statement = statement!("patch_record($4::text, $5::text, $6::text, $7::text)");
    call.write(statement, &[text(id), text(&body), text(&if_match), text(&if_none_match)]).await
}

pub(crate) async fn replace(mut call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let Conditions { if_match, if_none_match } = call.conditions();
    let [id] = call.segments();
    let statement = statement!("replace_attributes($4::text, $5::text, $6::text, $7::text)");
    call.write(statement, &[text(id), text(&body), text(&if_match), text(&if_none_match)]).await
}

pub(crate) async fn delete(mut call: Call<1>) -> Result<Response, Problem> {
    let Conditions { if_match, if_none_match } = call.conditions();
    let [id] = call.segments();
    let statement = statement!("delete_record($4::text, $5::text, $6::text)");
    call.write(statement, &[text(id), text(&if_match), text(&if_none_match)]).await
}

pub(crate) async fn restore(
    mut call: Call<1>,
    OptionalJsonText(body): OptionalJsonText,
) -> Result<Response, Problem> {
    let Conditions { if_match, if_none_match } = call.conditions();
    let [id] = call.segments();
    let statement = statement!("restore_record($4::text, $5::text, $6::text, $7::text)");
    call.write(statement, &[text(id), text(&body), text(&if_match), text(&if_none_match)]).await
}

pub(crate) async fn set_embedding(mut call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let Conditions { if_match, if_none_match } = call.conditions();
    let [id] = call.segments();
    let statement = statement!("set_embedding($4::text, $5::text, $6::text, $7::text)");
    call.write(statement, &[text(id), text(&body), text(&if_match), text(&if_none_match)]).await
}

pub(crate) async fn delete_embedding(mut call: Call<1>) -> Result<Response, Problem> {
    let Conditions { if_match, if_none_match } = call.conditions();
    let [id] = call.segments();
    let statement = statement!("delete_embedding($4::text, $5::text, $6::text)");
    call.write(statement, &[text(id), text(&if_match), text(&if_none_match)]).await
}

pub(crate) async fn history(mut call: Call<1>) -> Result<Response, Problem> {
    let [limit, cursor] = call.parameters(["limit", "cursor"])?;
    let limit = query::number("limit", limit)?;
    let [id] = call.segments();
    let arguments = [text(id), number(&limit), text(&cursor)];
    call.read(statement!("history($4::text, $5::int4, $6::text)"), &arguments).await
}
