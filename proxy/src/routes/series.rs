//! The series of a record's metrics.

use axum::response::Response;

use crate::body::JsonText;
use crate::call::Call;
use crate::conditional::Conditions;
use crate::problem::Problem;
use crate::query;
use keyed_service::statement::{number, statement, text};

pub(crate) async fn read(mut call: Call<2>) -> Result<Response, Problem> {
    let accepted = ["from", "to", "bucket", "aggregate", "limit", "cursor"];
    let [from, to, bucket, aggregate, limit, cursor] = call.parameters(accepted)?;
    let limit = query::number("limit", limit)?;
    let [id, slug] = call.segments();
    let statement = statement!(
        "metric_series($4::text, $5::text, $6::text, $7::text, $8::text, $9::text, $10::int4, $11::text)"
    );
    let arguments = [
        text(id),
        text(slug),
        text(&from),
        text(&to),
        text(&bucket),
        text(&aggregate),
        number(&limit),
        text(&cursor),
    ];
    call.read(statement, &arguments).await
}

pub(crate) async fn replace(mut call: Call<2>, JsonText(body): JsonText) -> Result<Response, Problem> {
    let Conditions { if_match, if_none_match } = call.conditions();
    let [id, slug] = call.segments();
    let statement = statement!("replace_metric_points($4::text, $5::text, $6::text, $7::text, $8::text)");
    call.write(statement, &[text(id), text(slug), text(&body), text(&if_match), text(&if_none_match)]).await
}

pub(crate) async fn delete(mut call: Call<2>) -> Result<Response, Problem> {
    let [at, from, to] = call.parameters(["at", "from", "to"])?;
    let Conditions { if_match, if_none_match } = call.conditions();
    let [id, slug] = call.segments();
    let statement = statement!(
        "delete_metric_points($4::text, $5::text, $6::text, $7::text, $8::text, $9::text, $10::text)"
    );
    let arguments =
        [text(id), text(slug), text(&at), text(&from), text(&to), text(&if_match), text(&if_none_match)];
    call.write(statement, &arguments).await
}
