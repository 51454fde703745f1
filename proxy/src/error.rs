//! Errors of the database as responses: the status comes from the table of codes, the members from the fields of the error.

use keyed_errors::Code;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_postgres::error::DbError;

use crate::problem::{DatabaseDetails, Problem};

/// Members that the extension writes into DETAIL as JSON, because PostgreSQL's errors have no fields for them.
#[derive(Deserialize)]
struct Detail {
    code: Option<String>,
    errors: Option<Box<RawValue>>,
    existing_id: Option<Box<RawValue>>,
    failed_index: Option<Box<RawValue>>,
    #[serde(default)]
    retryable: bool,
    quota: Option<Box<RawValue>>,
}

/// The response for an error of a statement.
pub(crate) fn problem_of(error: &DbError) -> Problem {
    problem(error.code().code(), error.message(), error.detail(), error.hint())
}

fn problem(sqlstate: &str, message: &str, detail: Option<&str>, hint: Option<&str>) -> Problem {
    let code = Code::of_sqlstate(sqlstate);
    let cause = format!("{sqlstate}: {message}");
    match code {
        // Its text could disclose internals, or records that the caller cannot see.
        Code::Internal => return Problem::internal(cause),
        Code::Unavailable => {
            return Problem::unavailable("the database cannot do this at the moment", cause);
        }
        Code::Timeout => return Problem::new(code, "the database did not finish in time").with_cause(cause),
        _ => {}
    }
    // A DETAIL that is not a JSON object comes from PostgreSQL, and may contain values of other rows.
    let detail = detail.filter(|detail| detail.starts_with('{'));
    let detail = detail.and_then(|detail| serde_json::from_str::<Detail>(detail).ok());
    if detail.is_none() && Code::of_postgres(sqlstate).is_none() {
        // PostgreSQL uses this SQLSTATE for other errors too.
        return Problem::internal(cause);
    }
    let hint = hint.map(str::to_owned);
    let database_details = match detail {
        Some(Detail { code, errors, existing_id, failed_index, retryable, quota }) => {
            DatabaseDetails { code, hint, errors, existing_id, failed_index, retryable, quota, report: None }
        }
        None => DatabaseDetails { hint, ..DatabaseDetails::default() },
    };
    Problem::new(code, message.to_owned()).with_database_details(database_details)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn body(sqlstate: &str, detail: Option<&str>) -> serde_json::Value {
        let problem = problem(sqlstate, "the key is taken", detail, Some("take another"));
        serde_json::from_str(&problem.render(Uuid::nil())).expect("a problem is JSON")
    }

    #[test]
    fn detail_in_json_becomes_members() {
        let detail = r#"{"code":"external_key_taken","existing_id":"a","failed_index":3,"other":1,
            "retryable":true,"errors":[{"pointer":"/external_key","code":"external_key_taken","detail":"it is taken"}]}"#;
        let body = body("23505", Some(detail));
        assert_eq!(body["code"], "external_key_taken");
        assert_eq!(body["title"], "External key taken");
        assert_eq!(body["detail"], "the key is taken");
        assert_eq!(body["hint"], "take another");
        assert_eq!(body["existing_id"], "a");
        assert_eq!((&body["failed_index"], &body["retryable"]), (&3.into(), &true.into()));
        assert_eq!(body["errors"][0]["pointer"], "/external_key");
        assert_eq!(body.get("other"), None);
    }

    #[test]
    fn unknown_detail_is_dropped() {
        for detail in [
            "Key (external_key)=(hidden) already exists.",
            "[\"hidden\",null,null,null]",
            "{\"code\":\"hidden\"",
            "\"hidden\"",
        ] {
            let body = body("23505", Some(detail));
            assert_eq!(body["code"], "conflict");
            assert!(!body.to_string().contains("hidden"), "{body}");
        }
    }

    #[test]
    fn failed_precondition_needs_the_code_of_keyed() {
        let ours = body("55000", Some(r#"{"code":"precondition_failed"}"#));
        assert_eq!((&ours["status"], &ours["code"]), (&412.into(), &"precondition_failed".into()));
        assert_eq!(body("55000", None)["code"], "internal");
    }

    #[test]
    fn unknown_error_is_not_disclosed() {
        let text = body("XX000", Some(r#"{"code":"hidden"}"#)).to_string();
        assert!(
            !text.contains("the key is taken") && !text.contains("hidden") && !text.contains("take another"),
            "{text}"
        );
    }
}
