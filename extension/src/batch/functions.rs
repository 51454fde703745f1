//! The SQL functions of batches.

use super::execute::execute;
use super::operation::{Conflict, Mode};
use super::returned::{self, Returned};
use super::{parse, report};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::function::{ReturnValue, sql_functions};
use crate::value::written::{OperationSubject, Subject, Written};
use parse::Operations;
use serde_json::value::RawValue;

sql_functions! {
    /// `keyed.batch(operations jsonb, atomic boolean, conflict text, versions boolean, return_record boolean) returns jsonb`.
    keyed_batch => |call| {
        let operations = call.required_json(0, "operations")?;
        let operations: &RawValue = serde_json::from_str(&operations)
            .map_err(|error| Error::new(Code::MalformedRequest, format!("operations cannot be read: {error}")))?;
        let conflict = call.text(2).map(|name| Conflict::parse(&name)).transpose()?;
        let mode = parse::mode(call.flag(1), conflict)?;
        let returned = Returned { versions: call.flag(3), records: call.flag(4) };
        run(&Caller::current(), operations, mode, returned).map(|(report, _)| ReturnValue::Json(report))
    };

    /// `keyed_http.batch(body text, return_record boolean, versions boolean) returns text[]`.
    keyed_http_batch => |call| {
        let body = call.required_text(0, "body")?;
        let (operations, mode) = parse::body(&body)?;
        let returned = Returned { records: call.flag(1), versions: call.flag(2) };
        let (report, subjects) = run(&Caller::current(), operations, mode, returned)?;
        Ok(ReturnValue::Written(Written::new(200, report, Subject::Batch(subjects))))
    };
}

/// The report, and the subjects of its errors and records.
fn run(
    caller: &Caller,
    operations: &RawValue,
    mode: Mode,
    returned: Returned,
) -> Result<(String, Vec<OperationSubject>), Error> {
    let Operations { operations, subjects } = parse::operations(caller, operations)?;
    let requested = returned::requested(&operations, returned);
    let outcomes = execute(caller, operations, mode)?;
    let records = returned::read(caller, &outcomes, &requested, returned)?;
    Ok((report::to_json(&outcomes, &records), report::subjects(&outcomes, &records, subjects)))
}
