//! Results → JSON, in the order of the request (docs/reference/http.md).

use super::operation::OperationKind;
use super::single::{Done, Outcome};
use crate::error::detail::Detail;
use crate::error::{Code, Error};
use crate::json_write::to_json as json;
use crate::value::written::{FailedOperation, Id};
use keyed_errors::title;
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    errors: bool,
    results: Vec<OperationResult<'a>>,
}

#[derive(Serialize)]
struct OperationResult<'a> {
    index: usize,
    status: u16,
    id: Option<String>,
    created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem<'a>>,
}

/// The problem (RFC 9457) that is also the response to the operation alone.
#[derive(Serialize)]
struct Problem<'a> {
    r#type: String,
    title: String,
    status: u16,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(flatten)]
    machine_readable: Detail<'a>,
}

/// `{errors, results: [{index, status, id, created, error?}]}`.
pub fn to_json(outcomes: &[Option<Outcome>]) -> String {
    let errors: Vec<Option<Error>> = outcomes.iter().enumerate().map(error).collect();
    let result = |(index, outcome): (usize, &Option<Outcome>)| match outcome {
        Some(Ok(done)) => OperationResult {
            index,
            status: status(done),
            id: Some(done.id.to_string()),
            created: done.created,
            error: None,
        },
        _ => {
            let error = errors[index].as_ref().map(problem);
            let status = error.as_ref().map_or(500, |error| error.status);
            OperationResult { index, status, id: None, created: false, error }
        }
    };
    json(&Report {
        errors: errors.iter().any(Option::is_some),
        results: outcomes.iter().enumerate().map(result).collect(),
    })
}

/// The subjects of the errors. A missing record is none.
pub fn rejected(
    outcomes: &[Option<Outcome>],
    subjects: Vec<Option<FailedOperation>>,
) -> Vec<FailedOperation> {
    let rejected = outcomes.iter().zip(subjects).filter_map(|(outcome, subject)| match (outcome, subject) {
        (Some(Err(error)), Some(subject)) => Some(match error.code {
            Code::NotFound => FailedOperation { id: None, external_key: None, ..subject },
            _ => FailedOperation { existing_id: error.existing_id.map(Id), ..subject },
        }),
        _ => None,
    });
    rejected.collect()
}

/// The error of an operation, with pointers into the request.
fn error((index, outcome): (usize, &Option<Outcome>)) -> Option<Error> {
    match outcome {
        Some(Ok(_)) => None,
        Some(Err(error)) => Some(error.clone().below(&format!("/operations/{index}"))),
        None => Some(Error::not_found()),
    }
}

fn status(done: &Done) -> u16 {
    match (done.kind, done.created) {
        (OperationKind::Delete, _) => 204,
        (_, true) => 201,
        (_, false) => 200,
    }
}

fn problem(error: &Error) -> Problem<'_> {
    let name = error.code.name();
    Problem {
        r#type: format!("urn:problem-type:keyed:{name}"),
        title: title(name),
        status: error.code.status(),
        detail: error.located_message(),
        hint: error.hint.as_deref(),
        machine_readable: error.machine_readable(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn rejected_operation_has_the_problem_of_the_operation_alone() {
        let done = Done { kind: OperationKind::Upsert, id: Uuid::nil(), created: true, changed: true };
        let rejected =
            Error::at(Code::ExternalKeyTaken, "/external_key", "external_key is taken").hint("take another");
        assert_eq!(
            to_json(&[Some(Ok(done)), Some(Err(rejected)), None]),
            r#"{"errors":true,"results":[{"index":0,"status":201,"id":"00000000-0000-0000-0000-000000000000","created":true},"#
                .to_owned()
                + r#"{"index":1,"status":409,"id":null,"created":false,"error":{"type":"urn:problem-type:keyed:external_key_taken","#
                + r#""title":"External key taken","status":409,"detail":"external_key is taken","hint":"take another","#
                + r#""code":"external_key_taken","errors":[{"pointer":"/operations/1/external_key","code":"external_key_taken","#
                + r#""detail":"external_key is taken"}]}},"#
                + r#"{"index":2,"status":404,"id":null,"created":false,"error":{"type":"urn:problem-type:keyed:not_found","#
                + r#""title":"Not found","status":404,"#
                + r#""detail":"not found: it does not exist, was deleted, or is not visible to this caller","code":"not_found"}}]}"#
        );
    }
}
