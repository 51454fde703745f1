//! Records by external key.

use std::borrow::Cow;

use axum::response::Response;
use keyed_errors::Code;

use crate::body::JsonText;
use crate::call::Call;
use crate::conditional::Conditions;
use crate::database::Effect::{Lookup, Read};
use crate::problem::Problem;
use crate::query;
use crate::response;
use keyed_service::statement::{flag, statement, text};

pub(crate) async fn upsert(mut call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [mode, answer_with] = call.parameters(["mode", "return"])?;
    let return_record = query::returns_record(answer_with)?;
    let Conditions { if_match, if_none_match } = call.conditions();
    let [template] = call.segments();
    let statement = statement!("upsert_by_key($4::text, $5::text, $6::text, $7::bool, $8::text, $9::text)");
    let arguments = [
        text(template),
        text(&body),
        text(&mode),
        flag(&return_record),
        text(&if_match),
        text(&if_none_match),
    ];
    call.create("entities", statement, &arguments).await
}

pub(crate) async fn read(mut call: Call<1>) -> Result<Response, Problem> {
    let [key, fields, verbose] = call.parameters(["key", "fields", "verbose"])?;
    let key = given(key)?;
    let verbose = query::flag("verbose", verbose)?;
    // Following references may be slow.
    let effect = if verbose == Some(true) { Read } else { Lookup };
    let conditions = call.conditions();
    let [template] = call.segments();
    let statement = statement!("get_by_key($4::text, $5::text, $6::text, $7::bool, $8::text)");
    let arguments =
        [text(template), text(&key), text(&fields), flag(&verbose), text(&conditions.if_none_match)];
    response::record(&call.ask(effect, statement, &arguments).await?)
}

pub(crate) async fn read_many(mut call: Call<1>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let [] = call.parameters([])?;
    let [template] = call.segments();
    call.read(statement!("get_by_keys($4::text, $5::text)"), &[text(template), text(&body)]).await
}

pub(crate) async fn delete(mut call: Call<1>) -> Result<Response, Problem> {
    let [key] = call.parameters(["key"])?;
    let key = given(key)?;
    let Conditions { if_match, if_none_match } = call.conditions();
    let [template] = call.segments();
    let statement = statement!("delete_by_key($4::text, $5::text, $6::text, $7::text)");
    let arguments = [text(template), text(&key), text(&if_match), text(&if_none_match)];
    call.write(statement, &arguments).await
}

/// Checks the key in a query string. A space at either end is rejected and not trimmed: it may stand for an unencoded
/// `+`, and the trimmed key could belong to another record.
pub(super) fn given(key: Option<Cow<'_, str>>) -> Result<Cow<'_, str>, Problem> {
    let key = key.ok_or_else(|| Problem::malformed("the query parameter \"key\" is required"))?;
    if key.starts_with(' ') || key.ends_with(' ') {
        let detail = "the query parameter \"key\" begins or ends with a space";
        return Err(Problem::new(Code::InvalidExternalKey, detail)
            .with_hint("Write + as %2B: in a query string, + is a space."));
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_with_a_space_at_either_end_is_rejected() {
        let status = |key: &'static str| given(Some(Cow::Borrowed(key))).err().map(|it| it.status().as_u16());
        for key in [" 41791234567", "A ", "  ", " "] {
            assert_eq!(status(key), Some(422), "{key:?}");
        }
        for key in ["+41791234567", "a b", "", "\u{a0}A", "\u{3000}A"] {
            assert_eq!(status(key), None, "{key:?}");
        }
        assert_eq!(given(None).err().map(|it| it.status().as_u16()), Some(400));
    }
}
