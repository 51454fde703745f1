//! The SQL functions of the queue, for administrators and for the worker of keyed-proxy.

use super::{claim, finish, manage};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::function::{Call, ReturnValue, must_not_be_null, sql_functions};
use crate::template::catalog;
use pgrx::pg_sys::Datum;
use uuid::Uuid;

sql_functions! {
    /// `keyed.retry_embeddings(template regclass) returns bigint`.
    keyed_retry_embeddings => |call| {
        let template = call.oid(0).map(catalog::by_table).transpose()?;
        manage::retry(template.as_deref()).map(|count| ReturnValue::Datum(Datum::from(count)))
    };

    /// `keyed.reembed(template regclass, other_than text) returns bigint`.
    keyed_reembed => |call| {
        let template = catalog::by_argument(call)?;
        manage::reembed(&template, call.text(1).as_deref()).map(|count| ReturnValue::Datum(Datum::from(count)))
    };

    /// `keyed_http.claim_embeddings(model text, max_texts integer, lease integer) returns text`.
    keyed_http_claim_embeddings => |call| {
        let model = call.required_text(0, "model")?;
        let max_texts = call.integer(1).ok_or_else(|| must_not_be_null("max_texts"))?;
        let lease = call.integer(2).ok_or_else(|| must_not_be_null("lease"))?;
        claim::claim(&Caller::current(), &model, max_texts, lease).map(ReturnValue::Text)
    };

    /// `keyed_http.store_embedding(claim text, record text, hash text, model text, vector real[]) returns boolean`.
    keyed_http_store_embedding => |call| {
        let (claim, record) = (uuid(call, 0, "claim")?, uuid(call, 1, "record")?);
        let (hash, model) = (call.required_text(2, "hash")?, call.required_text(3, "model")?);
        let vector = call.reals(4, "vector")?;
        finish::store(&Caller::current(), claim, record, &hash, &model, vector)
            .map(|is_stored| ReturnValue::Datum(Datum::from(is_stored)))
    };

    /// `keyed_http.fail_embedding(claim text, record text, reason text) returns boolean`.
    keyed_http_fail_embedding => |call| {
        let (claim, record) = (uuid(call, 0, "claim")?, uuid(call, 1, "record")?);
        let reason = call.required_text(2, "reason")?;
        finish::fail(&Caller::current(), claim, record, &reason)
            .map(|is_known| ReturnValue::Datum(Datum::from(is_known)))
    };

    /// `keyed_http.release_embeddings(claim text, reason text, rest integer) returns integer`.
    keyed_http_release_embeddings => |call| {
        let rest = call.integer(2).unwrap_or(0);
        finish::release(uuid(call, 0, "claim")?, call.text(1).as_deref(), rest)
            .map(|count| ReturnValue::Datum(Datum::from(count)))
    };
}

fn uuid(call: &Call, position: usize, name: &str) -> Result<Uuid, Error> {
    let text = call.required_text(position, name)?;
    Uuid::try_parse(&text)
        .map_err(|_| Error::at(Code::InvalidValue, format!("/{name}"), format!("{name} must be a UUID")))
}
