//! Records, by the key that another system gave them.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use crate::answer;
use crate::app::App;
use crate::body::JsonText;
use crate::caller::Caller;
use crate::database::Effect::{Lookup, Read, Write};
use crate::database::{flag, text};
use crate::problem::Problem;
use crate::query::{self, Prefix, Segments, parameters};

pub(crate) async fn upsert(
    State(app): State<Arc<App>>,
    caller: Caller,
    prefix: Prefix,
    Segments([template]): Segments<1>,
    uri: Uri,
    JsonText(body): JsonText,
) -> Result<Response, Problem> {
    let [mode, answer_with] = parameters(&uri, ["mode", "return"])?;
    let return_record = match answer_with.as_deref() {
        None => false,
        Some("record") => true,
        Some(_) => {
            return Err(Problem::invalid_value("the query parameter \"return\" takes only the value record"));
        }
    };
    let statement = "select keyed_http.upsert_by_key($3::text, $4::text, $5::text, $6::bool) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let arguments = [text(&template), text(&body), text(&mode), flag(&return_record)];
    let row = app.database.call(Write, &caller, statement, &arguments).await?;
    answer::written(&row, Some((prefix, "entities")))
}

pub(crate) async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([template]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [key, fields, verbose] = parameters(&uri, ["key", "fields", "verbose"])?;
    let key = given(key)?;
    let verbose = query::flag("verbose", verbose)?;
    // Following references may take long.
    let effect = if verbose == Some(true) { Read } else { Lookup };
    let statement = "select keyed_http.get_by_key($3::text, $4::text, $5::text, $6::bool) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let arguments = [text(&template), text(&key), text(&fields), flag(&verbose)];
    let row = app.database.call(effect, &caller, statement, &arguments).await?;
    answer::read(&row)
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([template]): Segments<1>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [key] = parameters(&uri, ["key"])?;
    let key = given(key)?;
    let statement = "select keyed_http.delete_by_key($3::text, $4::text) \
                     from keyed.authenticate($1::bytea, $2::text)";
    let row = app.database.call(Write, &caller, statement, &[text(&template), text(&key)]).await?;
    answer::written(&row, None)
}

fn given(key: Option<Cow<'_, str>>) -> Result<Cow<'_, str>, Problem> {
    key.ok_or_else(|| Problem::malformed("the query parameter \"key\" is needed here"))
}
