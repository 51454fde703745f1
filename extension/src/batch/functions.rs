//! The SQL functions of batches.

use super::execute::execute;
use super::operation::{Conflict, Mode};
use super::{parse, report};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::function::{Answer, sql_functions};
use crate::value::written::{FailedOperation, Subject, Written};
use parse::Operations;
use serde_json::value::RawValue;

sql_functions! {
    /// `keyed.batch(operations jsonb, atomic boolean, conflict text) returns jsonb`.
    keyed_batch => |call| {
        let operations = call.required_json(0, "operations")?;
        let operations: &RawValue = serde_json::from_str(&operations)
            .map_err(|error| Error::new(Code::MalformedRequest, format!("operations cannot be read: {error}")))?;
        let conflict = call.text(2).map(|name| Conflict::parse(&name)).transpose()?;
        run(&Caller::current(), operations, parse::mode(call.flag(1), conflict)?).map(|(report, _)| Answer::Json(report))
    };

    /// `keyed_http.batch(body text) returns text[]`.
    keyed_http_batch => |call| {
        let body = call.required_text(0, "body")?;
        let (operations, mode) = parse::body(&body)?;
        let (report, rejected) = run(&Caller::current(), operations, mode)?;
        Ok(Answer::Written(Written::new(200, report, Subject::Batch(rejected))))
    };
}

/// The report, and the subjects of its errors.
fn run(caller: &Caller, operations: &RawValue, mode: Mode) -> Result<(String, Vec<FailedOperation>), Error> {
    let Operations { operations, subjects } = parse::operations(caller, operations)?;
    let outcomes = execute(caller, operations, mode)?;
    Ok((report::to_json(&outcomes), report::rejected(&outcomes, subjects)))
}
