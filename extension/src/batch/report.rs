//! Results → JSON, in the order of the request (docs/reference/http.md).

use super::operation::OperationKind;
use super::returned::WrittenRecord;
use super::single::{Done, Outcome};
use crate::error::detail::Detail;
use crate::error::{Code, Error};
use crate::json_write::to_json as json;
use crate::value::written::{Id, OperationSubject};
use keyed_errors::title;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

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
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem<'a>>,
}

/// The problem (RFC 9457), equal to the response to the operation as a single request.
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

/// `{errors, results: [{index, status, id, created, version?, record?, error?}]}`.
pub fn to_json(outcomes: &[Option<Outcome>], records: &HashMap<usize, WrittenRecord>) -> String {
    let errors: Vec<Option<Error>> = outcomes.iter().enumerate().map(error).collect();
    let result = |(index, outcome): (usize, &Option<Outcome>)| match outcome {
        Some(Ok(done)) => OperationResult {
            index,
            status: status(done),
            id: Some(done.id.to_string()),
            created: done.created,
            version: records.get(&index).and_then(|it| it.version.as_deref()),
            record: records.get(&index).and_then(|it| serde_json::from_str(it.record.as_deref()?).ok()),
            error: None,
        },
        _ => {
            let error = errors[index].as_ref().map(problem);
            let status = error.as_ref().map_or(500, |error| error.status);
            OperationResult { index, status, id: None, created: false, version: None, record: None, error }
        }
    };
    json(&Report {
        errors: errors.iter().any(Option::is_some),
        results: outcomes.iter().enumerate().map(result).collect(),
    })
}

/// The subjects of errors and records. A missing record has none.
pub fn subjects(
    outcomes: &[Option<Outcome>],
    records: &HashMap<usize, WrittenRecord>,
    subjects: Vec<Option<OperationSubject>>,
) -> Vec<OperationSubject> {
    let shown = outcomes.iter().zip(subjects).filter_map(|(outcome, subject)| match (outcome, subject) {
        (Some(Ok(done)), Some(subject)) if records.contains_key(&subject.index) => {
            Some(OperationSubject { id: None, external_key: None, existing_id: Some(Id(done.id)), ..subject })
        }
        (Some(Err(error)), Some(subject)) => Some(match error.code {
            Code::NotFound => OperationSubject { id: None, external_key: None, ..subject },
            _ => OperationSubject { existing_id: error.existing_id.map(Id), ..subject },
        }),
        _ => None,
    });
    shown.collect()
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
    fn rejected_operation_has_the_problem_of_a_single_request() {
        let done = Done { kind: OperationKind::Upsert, id: Uuid::nil(), created: true, changed: true };
        let rejected =
            Error::at(Code::ExternalKeyTaken, "/external_key", "external_key is taken").hint("take another");
        assert_eq!(
            to_json(&[Some(Ok(done)), Some(Err(rejected)), None], &HashMap::new()),
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

    #[test]
    fn result_has_version_and_record_only_if_requested() {
        let done = Done { kind: OperationKind::Update, id: Uuid::nil(), created: false, changed: true };
        let json = |version: Option<&str>, record: Option<&str>| {
            let written =
                WrittenRecord { version: version.map(str::to_owned), record: record.map(str::to_owned) };
            to_json(&[Some(Ok(done))], &HashMap::from([(0, written)]))
        };
        let id = Uuid::nil();
        let expected = |more: &str| {
            format!(
                r#"{{"errors":false,"results":[{{"index":0,"status":200,"id":"{id}","created":false{more}}}]}}"#
            )
        };
        assert_eq!(json(None, None), expected(""));
        assert_eq!(json(Some("v"), None), expected(r#","version":"v""#));
        assert_eq!(json(Some("v"), Some(r#"{"a":1.50}"#)), expected(r#","version":"v","record":{"a":1.50}"#));
    }
}
