//! The feed of changes, and who held a key.

use axum::response::Response;

use crate::call::Call;
use crate::problem::Problem;
use crate::query;
use crate::routes::by_key;
use keyed_service::statement::{flag, number, statement, text};

pub(crate) async fn read(mut call: Call<0>) -> Result<Response, Problem> {
    let [template, after, limit, include] = call.parameters(["template", "after", "limit", "include"])?;
    let limit = query::number("limit", limit)?;
    let include_record = match include.as_deref() {
        None => false,
        Some("record") => true,
        Some(_) => {
            return Err(Problem::invalid_value(
                "the query parameter \"include\" takes only the value record",
            ));
        }
    };
    let statement = statement!("changes($4::text, $5::text, $6::int4, $7::bool)");
    let arguments = [text(&template), text(&after), number(&limit), flag(&include_record)];
    call.read(statement, &arguments).await
}

pub(crate) async fn key_history(mut call: Call<1>) -> Result<Response, Problem> {
    let [key] = call.parameters(["key"])?;
    let key = by_key::given(key)?;
    let [template] = call.segments();
    call.read(statement!("key_history($4::text, $5::text)"), &[text(template), text(&key)]).await
}
