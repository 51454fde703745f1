//! The SQL functions of idempotency.

use super::store::{self, Request};
use crate::access::Caller;
use crate::access::principal::Principal;
use crate::error::{Code, Error};
use crate::postgres::function::{Call, ReturnValue, must_not_be_null, sql_functions};
use pgrx::pg_sys::Datum;

sql_functions! {
    /// `keyed_http.stored_answer(authenticated boolean, idempotency_key text, fingerprint bytea) returns text[]`.
    keyed_http_stored_answer => |call| {
        let request = request(call, 1)?;
        store::find(&request).map(|response| response.map_or(ReturnValue::Null, ReturnValue::Texts))
    };

    /// `keyed_http.store_answer(idempotency_key text, fingerprint bytea, answer text[]) returns text[]`.
    keyed_http_store_answer => |call| {
        let request = request(call, 0)?;
        let response = call.datum(2).ok_or_else(|| must_not_be_null("answer"))?;
        store::keep(&request, response)?;
        Ok(ReturnValue::Datum(response))
    };

    /// `keyed_http.forget_expired_answers() returns bigint`.
    keyed_http_forget_expired_answers => |_| Ok(ReturnValue::Datum(Datum::from(store::forget_expired(CHUNK))));

    /// `keyed.purge_idempotency_keys(older_than interval) returns bigint`.
    keyed_purge_idempotency_keys => |call| {
        Caller::current().require_admin("purge idempotency keys")?;
        let older_than = call.datum(0).ok_or_else(|| must_not_be_null("older_than"))?;
        Ok(ReturnValue::Datum(Datum::from(store::purge(older_than))))
    };
}

/// The maximum number of responses that a call deletes.
const CHUNK: u64 = 1000;

/// The request of two arguments, beginning at this position.
fn request(call: &Call, position: usize) -> Result<Request, Error> {
    let api_key = Principal::current().and_then(|principal| principal.key).ok_or_else(|| {
        Error::new(Code::Unauthorized, "an Idempotency-Key belongs to an API key")
            .hint("Call keyed.authenticate first, in the same transaction.")
    })?;
    let key = call.required_text(position, "idempotency_key")?;
    let fingerprint = call.bytes(position + 1).ok_or_else(|| must_not_be_null("fingerprint"))?;
    Ok(Request { api_key, key, fingerprint })
}
