//! A stored report of a batch, without errors and records that the caller may no longer see.

use crate::error::{Code, Error};
use crate::json_write::to_json;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::HashSet;

/// The text of a withheld error.
const WITHHELD: &str = "the subject of the error is no longer visible to this caller; the code says why the operation \
                        was rejected";

#[derive(Serialize, Deserialize)]
struct Report {
    errors: bool,
    results: Vec<OperationResult>,
}

#[derive(Serialize, Deserialize)]
struct OperationResult {
    index: usize,
    status: u16,
    id: Option<String>,
    created: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Box<RawValue>>,
}

/// A withheld error: the members that every error of its code shares, with a sentence as `detail`.
#[derive(Serialize, Deserialize)]
struct Problem {
    r#type: String,
    title: String,
    status: u16,
    detail: String,
    code: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    retryable: bool,
}

/// The report, without the versions, the records and the details of the errors of these operations.
pub fn without(report: &str, withheld: &HashSet<usize>) -> Result<String, Error> {
    let mut report: Report = serde_json::from_str(report).map_err(unreadable)?;
    for result in report.results.iter_mut().filter(|result| withheld.contains(&result.index)) {
        (result.version, result.record) = (None, None);
        let Some(error) = &result.error else { continue };
        let problem: Problem = serde_json::from_str(error.get()).map_err(unreadable)?;
        let problem = Problem { detail: WITHHELD.to_owned(), ..problem };
        result.error = Some(to_raw_value(&problem).map_err(unreadable)?);
    }
    Ok(to_json(&report))
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::new(Code::Internal, format!("a stored report of a batch cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::operation::OperationKind;
    use crate::batch::report;
    use crate::batch::returned::WrittenRecord;
    use crate::batch::single::Done;
    use std::collections::HashMap;
    use uuid::Uuid;

    #[test]
    fn withheld_result_has_no_record_and_only_the_error_code() {
        let done = Done { kind: OperationKind::Upsert, id: Uuid::nil(), created: true, changed: true };
        let taken =
            Error::at(Code::ExternalKeyTaken, "/external_key", "the key \"secret\" is taken").hint("secret");
        let taken = Error { existing_id: Some(Uuid::max()), is_retryable: true, ..taken };
        let written = WrittenRecord { version: Some("v".to_owned()), record: Some("{\"a\":1}".to_owned()) };
        let outcomes = [Some(Ok(done)), Some(Err(taken.clone())), Some(Err(taken)), None, Some(Ok(done))];
        let stored = report::to_json(&outcomes, &HashMap::from([(0, written.clone()), (4, written)]));
        let shown = without(&stored, &HashSet::from([0, 1])).expect("it can be read");
        let (stored, shown): (serde_json::Value, serde_json::Value) =
            (stored.parse().expect("JSON"), shown.parse().expect("JSON"));
        for index in [2, 3, 4] {
            assert_eq!(shown["results"][index], stored["results"][index]);
        }
        let bare =
            serde_json::json!({"index": 0, "status": 201, "id": Uuid::nil().to_string(), "created": true});
        assert_eq!(shown["results"][0], bare);
        let expected = serde_json::json!({
            "type": "urn:problem-type:keyed:external_key_taken", "title": "External key taken", "status": 409,
            "detail": WITHHELD, "code": "external_key_taken", "retryable": true,
        });
        assert_eq!(shown["results"][1]["error"], expected);
        assert_eq!(shown["results"][1]["status"], 409);
    }

    #[test]
    fn report_without_withheld_results_is_unchanged() {
        let rejected = Error::at(Code::InvalidValue, "/attributes/a", "no").hint("else");
        let stored = report::to_json(&[Some(Err(rejected)), None], &HashMap::new());
        assert_eq!(without(&stored, &HashSet::new()).as_deref(), Ok(&*stored));
    }
}
