//! Which error of the database is which answer: the one table, and how an error's fields become a problem's members.

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_postgres::error::DbError;

use crate::problem::{Particulars, Problem};

/// What went wrong, as one word that a program can act on. The database may put a more exact word in its place
/// (`external_key_taken` for `conflict`), the status stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    MalformedRequest,
    ProjectRequired,
    Unauthorized,
    Forbidden,
    QuotaExceeded,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    Conflict,
    RequestInProgress,
    PreconditionFailed,
    PayloadTooLarge,
    UnsupportedMediaType,
    InvalidValue,
    RateLimited,
    Internal,
    Unavailable,
    Timeout,
}

impl Code {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Code::MalformedRequest => "malformed_request",
            Code::ProjectRequired => "project_required",
            Code::Unauthorized => "unauthorized",
            Code::Forbidden => "forbidden",
            Code::QuotaExceeded => "quota_exceeded",
            Code::NotFound => "not_found",
            Code::MethodNotAllowed => "method_not_allowed",
            Code::RequestTimeout => "request_timeout",
            Code::Conflict => "conflict",
            Code::RequestInProgress => "request_in_progress",
            Code::PreconditionFailed => "precondition_failed",
            Code::PayloadTooLarge => "payload_too_large",
            Code::UnsupportedMediaType => "unsupported_media_type",
            Code::InvalidValue => "invalid_value",
            Code::RateLimited => "rate_limited",
            Code::Internal => "internal",
            Code::Unavailable => "unavailable",
            Code::Timeout => "timeout",
        }
    }

    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Code::MalformedRequest | Code::ProjectRequired => StatusCode::BAD_REQUEST,
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::Forbidden | Code::QuotaExceeded => StatusCode::FORBIDDEN,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Code::Conflict | Code::RequestInProgress => StatusCode::CONFLICT,
            Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::InvalidValue => StatusCode::UNPROCESSABLE_ENTITY,
            Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// Whether the same request, sent again later, may succeed.
    pub(crate) const fn is_retryable(self) -> bool {
        matches!(
            self,
            Code::RequestTimeout
                | Code::RequestInProgress
                | Code::RateLimited
                | Code::Unavailable
                | Code::Timeout
        )
    }
}

/// SQLSTATE, or the two characters of a whole class, and what it is answered with. Anything else is `internal`.
#[rustfmt::skip]
pub(crate) const TABLE: &[(&str, Code)] = &[
    ("22032", Code::MalformedRequest),  // invalid JSON text
    ("54001", Code::MalformedRequest),  // nested too deeply
    ("3F000", Code::ProjectRequired),
    ("28000", Code::Unauthorized),
    ("42501", Code::Forbidden),
    ("53400", Code::QuotaExceeded),
    ("P0002", Code::NotFound),
    ("23505", Code::Conflict),          // unique violation
    ("55006", Code::RequestInProgress), // in use at this moment
    ("55000", Code::PreconditionFailed), // If-Match, If-None-Match
    ("54000", Code::PayloadTooLarge),   // a limit of the program
    ("22001", Code::InvalidValue),      // too long
    ("22003", Code::InvalidValue),      // number out of range
    ("22007", Code::InvalidValue),      // not a date or time
    ("22008", Code::InvalidValue),      // date or time out of range
    ("22021", Code::InvalidValue),      // a character that text cannot hold
    ("22023", Code::InvalidValue),      // invalid parameter value
    ("22P02", Code::InvalidValue),      // not a value of its type
    ("22P05", Code::InvalidValue),      // untranslatable character
    ("23502", Code::InvalidValue),      // required, and null
    ("23503", Code::InvalidValue),      // reference to nothing
    ("23514", Code::InvalidValue),      // check violated
    ("42P17", Code::InvalidValue),      // invalid definition
    ("40001", Code::Unavailable),       // serialization failure, after three tries
    ("40P01", Code::Unavailable),       // deadlock, after three tries
    ("55P03", Code::Unavailable),       // a lock was not to be had in time
    ("25006", Code::Unavailable),       // a standby, where nothing can be written
    ("53100", Code::Unavailable),       // disk full
    ("53200", Code::Unavailable),       // out of memory
    ("53300", Code::Unavailable),       // too many connections
    ("57P01", Code::Unavailable),       // shutting down
    ("57P02", Code::Unavailable),       // another session crashed
    ("57P03", Code::Unavailable),       // starting up
    ("57P04", Code::Unavailable),       // the database was dropped
    ("57P05", Code::Unavailable),       // idle for too long
    ("08",    Code::Unavailable),       // the connection
    ("57014", Code::Timeout),           // statement timeout
];

/// The table's answer to a SQLSTATE.
pub(crate) fn code_of(sqlstate: &str) -> Code {
    let line = TABLE
        .iter()
        .find(|(state, _)| *state == sqlstate || (state.len() == 2 && sqlstate.starts_with(state)));
    line.map_or(Code::Internal, |(_, code)| *code)
}

/// Members that the extension puts into DETAIL as JSON, since they fit no field of a PostgreSQL error.
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

/// The answer to an error that a statement of ours raised.
pub(crate) fn problem_of(error: &DbError) -> Problem {
    problem(error.code().code(), error.message(), error.detail(), error.hint())
}

fn problem(sqlstate: &str, message: &str, detail: Option<&str>, hint: Option<&str>) -> Problem {
    let code = code_of(sqlstate);
    let cause = format!("{sqlstate}: {message}");
    match code {
        // Its text may tell of the inside, or of what the caller may not see.
        Code::Internal => return Problem::internal(cause),
        Code::Unavailable => {
            return Problem::unavailable("the database cannot do this at the moment", cause);
        }
        Code::Timeout => return Problem::new(code, "the database did not finish in time").with_cause(cause),
        _ => {}
    }
    // A DETAIL that is no JSON object is PostgreSQL's own, and may hold values of other rows.
    let detail = detail.filter(|detail| detail.starts_with('{'));
    let detail = detail.and_then(|detail| serde_json::from_str::<Detail>(detail).ok());
    if code == Code::PreconditionFailed && detail.is_none() {
        // PostgreSQL has its own uses for this state, of which a condition of the request is none.
        return Problem::internal(cause);
    }
    let hint = hint.map(str::to_owned);
    let particulars = match detail {
        Some(Detail { code, errors, existing_id, failed_index, retryable, quota }) => {
            Particulars { code, hint, errors, existing_id, failed_index, retryable, quota, report: None }
        }
        None => Particulars { hint, ..Particulars::default() },
    };
    Problem::new(code, message.to_owned()).with_particulars(particulars)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// The table as the manual prints it.
    const LINES: &str = "\
22032 400 malformed_request
54001 400 malformed_request
3F000 400 project_required
28000 401 unauthorized
42501 403 forbidden
53400 403 quota_exceeded
P0002 404 not_found
23505 409 conflict
55006 409 request_in_progress
55000 412 precondition_failed
54000 413 payload_too_large
22001 422 invalid_value
22003 422 invalid_value
22007 422 invalid_value
22008 422 invalid_value
22021 422 invalid_value
22023 422 invalid_value
22P02 422 invalid_value
22P05 422 invalid_value
23502 422 invalid_value
23503 422 invalid_value
23514 422 invalid_value
42P17 422 invalid_value
40001 503 unavailable
40P01 503 unavailable
55P03 503 unavailable
25006 503 unavailable
53100 503 unavailable
53200 503 unavailable
53300 503 unavailable
57P01 503 unavailable
57P02 503 unavailable
57P03 503 unavailable
57P04 503 unavailable
57P05 503 unavailable
08 503 unavailable
57014 504 timeout
";

    #[test]
    fn every_line_of_the_table_is_as_printed() {
        let lines: String = TABLE
            .iter()
            .map(|(state, code)| format!("{state} {} {}\n", code.status().as_u16(), code.name()))
            .collect();
        assert_eq!(lines, LINES);
    }

    #[test]
    fn a_class_covers_its_states_and_the_rest_is_internal() {
        assert_eq!(code_of("08006"), Code::Unavailable);
        assert_eq!(code_of("23505"), Code::Conflict);
        for state in ["XX000", "42P01", "22012", "P0001", ""] {
            assert_eq!(code_of(state), Code::Internal, "{state}");
        }
    }

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
    fn any_other_detail_is_dropped() {
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
    fn only_our_own_refusal_is_a_failed_precondition() {
        let ours = body("55000", Some(r#"{"code":"precondition_failed"}"#));
        assert_eq!((&ours["status"], &ours["code"]), (&412.into(), &"precondition_failed".into()));
        assert_eq!(body("55000", None)["code"], "internal");
    }

    #[test]
    fn an_unknown_error_shows_nothing_of_itself() {
        let text = body("XX000", Some(r#"{"code":"hidden"}"#)).to_string();
        assert!(
            !text.contains("the key is taken") && !text.contains("hidden") && !text.contains("take another"),
            "{text}"
        );
    }
}
