//! Records, by their id.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use crate::answer;
use crate::app::App;
use crate::body::{JsonText, OptionalJsonText};
use crate::caller::Caller;
use crate::database::Effect::{Lookup, Read, Write};
use crate::database::{flag, number, text};
use crate::problem::Problem;
use crate::query::{self, Prefix, Segments, parameters};

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    prefix: Prefix,
    Segments([template]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.create_record($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&template), text(&body)]).await?;
    answer::written(&row, Some((prefix, "entities")))
}

pub(crate) async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [fields, verbose, include_deleted] = parameters(&uri, ["fields", "verbose", "include_deleted"])?;
    let verbose = query::flag("verbose", verbose)?;
    let include_deleted = query::flag("include_deleted", include_deleted)?;
    // Following references may take long.
    let effect = if verbose == Some(true) { Read } else { Lookup };
    let statement = "select keyed_http.get_record($3::text, $4::text, $5::bool, $6::bool) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let arguments = [text(&id), text(&fields), flag(&verbose), flag(&include_deleted)];
    let row = app.database.call(effect, &caller, statement, &arguments).await?;
    answer::read(&row)
}

pub(crate) async fn patch(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.patch_record($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&id), text(&body)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.replace_attributes($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&id), text(&body)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.delete_record($3::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&id)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn restore(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id]): Segments<1>,
    uri: Uri,
    OptionalJsonText(body): OptionalJsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.restore_record($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&id), text(&body)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn set_embedding(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement = "select keyed_http.set_embedding($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&id), text(&body)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn delete_embedding(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let statement =
        "select keyed_http.delete_embedding($3::text) from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&id)]).await?;
    answer::written(&row, None)
}

pub(crate) async fn history(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [limit, cursor] = parameters(&uri, ["limit", "cursor"])?;
    let limit = query::number("limit", limit)?;
    let statement = "select keyed_http.history($3::text, $4::int4, $5::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row =
        app.database.call(Read, &caller, statement, &[text(&id), number(&limit), text(&cursor)]).await?;
    answer::read(&row)
}

pub(crate) async fn metric_series(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([id, slug]): Segments<2>,
    uri: Uri,
) -> Result<Response, Problem> {
    let accepted = ["from", "to", "bucket", "aggregate", "limit", "cursor"];
    let [from, to, bucket, aggregate, limit, cursor] = parameters(&uri, accepted)?;
    let limit = query::number("limit", limit)?;
    let statement = "select keyed_http.metric_series($3::text, $4::text, $5::text, $6::text, $7::text, $8::text, \
                                                     $9::int4, $10::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let arguments = [
        text(&id),
        text(&slug),
        text(&from),
        text(&to),
        text(&bucket),
        text(&aggregate),
        number(&limit),
        text(&cursor),
    ];
    let row = app.database.call(Read, &caller, statement, &arguments).await?;
    answer::read(&row)
}
