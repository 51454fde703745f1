//! The SQL functions of batches.

use super::execute::execute;
use super::mode::{Conflict, Mode};
use super::{parse, report};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::function::{Answer, sql_functions};

sql_functions! {
    /// `keyed.batch(operations jsonb, atomic boolean, conflict text) returns jsonb`.
    keyed_batch => |call| {
        let operations = call.required_json(0, "operations")?;
        let operations = serde_json::from_str(&operations)
            .map_err(|error| Error::new(Code::MalformedRequest, format!("operations cannot be read: {error}")))?;
        let conflict = call.text(2).map(|name| Conflict::parse(&name)).transpose()?;
        run(&Caller::current(), operations, parse::mode(call.flag(1), conflict)?).map(Answer::Json)
    };

    /// `keyed_http.batch(body text) returns text[]`.
    keyed_http_batch => |call| {
        let body = call.required_text(0, "body")?;
        let (operations, mode) = parse::body(&body)?;
        let report = run(&Caller::current(), operations, mode)?;
        Ok(Answer::Texts(vec![Some("200".to_owned()), None, Some(report)]))
    };
}

fn run(caller: &Caller, operations: &serde_json::value::RawValue, mode: Mode) -> Result<String, Error> {
    let parsed = parse::operations(caller, operations)?;
    Ok(report::to_json(&execute(caller, parsed, mode)?))
}
