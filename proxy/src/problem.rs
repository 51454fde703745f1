//! Problem details: an error as a response, with its code, message and headers.

/// Its body.
mod body;

/// The exceeded limit.
mod reason;

use std::borrow::Cow;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use keyed_errors::Code;
use serde_json::value::RawValue;

pub(crate) use reason::{Excess, Reason};

use crate::shard::Shard;

/// An error response. The `envelope` renders its body, because only it knows the request id.
#[derive(Clone, Debug)]
pub struct Problem(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    code: Code,
    detail: Cow<'static, str>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// For the log only.
    cause: Option<String>,
    /// For logs and metrics only.
    reason: Option<Reason>,
    outcome: Outcome,
    /// The shards without a response.
    unavailable_shards: Vec<Shard>,
    database_details: DatabaseDetails,
}

/// The outcome of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The request had no effect.
    None,
    /// A write was sent, but its result was not received, so it may have been committed.
    Unknown,
    /// A part of the request was committed.
    Partial,
}

/// Details that only the database knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct DatabaseDetails {
    /// The error code, if it is more specific than the SQLSTATE.
    pub(crate) code: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) errors: Option<Box<RawValue>>,
    pub(crate) existing_id: Option<Box<RawValue>>,
    pub(crate) failed_index: Option<Box<RawValue>>,
    /// Whether the database reports the error as retryable.
    pub(crate) retryable: bool,
    /// The partial report of an import.
    pub(crate) report: Option<Box<RawValue>>,
    pub(crate) quota: Option<Box<RawValue>>,
}

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Problem {
        let headers = match code {
            Code::Unauthorized => vec![(header::WWW_AUTHENTICATE, INVALID_TOKEN)],
            Code::Forbidden => vec![(header::WWW_AUTHENTICATE, INSUFFICIENT_SCOPE)],
            _ => Vec::new(),
        };
        let detail = detail.into();
        let database_details = DatabaseDetails::default();
        let (cause, reason, outcome) = (None, None, Outcome::None);
        let unavailable_shards = Vec::new();
        Problem(Box::new(Parts {
            code,
            detail,
            headers,
            cause,
            reason,
            outcome,
            unavailable_shards,
            database_details,
        }))
    }

    pub(crate) fn no_such_route() -> Problem {
        Problem::new(Code::NotFound, "this path does not exist")
    }

    pub(crate) fn method_not_allowed() -> Problem {
        Problem::new(Code::MethodNotAllowed, "this path does not support the method; see the header Allow")
    }

    pub(crate) fn malformed(detail: impl Into<Cow<'static, str>>) -> Problem {
        Problem::new(Code::MalformedRequest, detail)
    }

    pub(crate) fn invalid_value(detail: impl Into<Cow<'static, str>>) -> Problem {
        Problem::new(Code::InvalidValue, detail)
    }

    /// An error in one member of the body.
    pub(crate) fn invalid_member(pointer: &str, reason: String) -> Problem {
        let fault =
            serde_json::json!([{"pointer": pointer, "code": Code::InvalidValue.name(), "detail": &reason}]);
        let errors = RawValue::from_string(fault.to_string()).ok();
        Problem::invalid_value(format!("{}: {reason}", pointer.trim_start_matches('/')))
            .with_database_details(DatabaseDetails { errors, ..DatabaseDetails::default() })
    }

    pub(crate) fn unsupported_media_type(detail: &'static str) -> Problem {
        Problem::new(Code::UnsupportedMediaType, detail)
    }

    pub(crate) fn body_too_large(limit: usize) -> Problem {
        Problem::new(Code::PayloadTooLarge, format!("the body is larger than {limit} bytes"))
    }

    pub(crate) fn body_too_slow() -> Problem {
        let mut problem = Problem::new(Code::RequestTimeout, "the body did not arrive in time");
        problem.0.headers = vec![(header::CONNECTION, HeaderValue::from_static("close"))];
        problem
    }

    /// The error for a request without a token. As in RFC 6750, it has no error code, only the scheme.
    pub(crate) fn no_token() -> Problem {
        Problem::new(
            Code::Unauthorized,
            "the request has no API key: send the header Authorization: Bearer <key>",
        )
        .without_token()
    }

    /// Removes the error code of a bearer token, because none was sent.
    pub(crate) fn without_token(mut self) -> Problem {
        if self.is_unauthorized() {
            let challenge = HeaderValue::from_static(r#"Bearer realm="keyed""#);
            self.0.headers = vec![(header::WWW_AUTHENTICATE, challenge)];
        }
        self
    }

    /// The error for every invalid API key, regardless of whether it was looked up.
    pub(crate) fn invalid_key() -> Problem {
        Problem::new(Code::Unauthorized, "the API key is not valid: it is unknown, revoked or expired")
            .with_hint("Ask an administrator for a key: SELECT keyed.issue_api_key(role, projects, label).")
    }

    /// The error for objects that do not exist or are not visible to the caller, as from the database.
    pub(crate) fn not_found() -> Problem {
        Problem::new(Code::NotFound, keyed_errors::NOT_FOUND)
    }

    /// The error for a caller that exceeds a limit. `setting` is the name of the limit.
    pub(crate) fn rate_limited(
        reason: Reason,
        detail: &'static str,
        setting: &'static str,
        excess: Excess,
    ) -> Problem {
        let seconds = |time: Duration| HeaderValue::from(time.as_secs_f64().ceil() as u64);
        let mut problem = Problem::new(Code::RateLimited, detail).with_reason(reason);
        problem.0.headers = vec![
            (header::RETRY_AFTER, retry_after(excess.next)),
            (RATE_LIMIT, HeaderValue::from(excess.limit)),
            (RATE_REMAINING, HeaderValue::from(0)),
            (RATE_RESET, seconds(excess.reset)),
        ];
        problem.with_hint(&format!(
            "Wait for the seconds in Retry-After. The operator sets the limit with {setting}."
        ))
    }

    pub(crate) fn unavailable(detail: &'static str, cause: String) -> Problem {
        Problem::new(Code::Unavailable, detail).with_cause(cause)
    }

    /// An internal error. Its cause is logged with the instance of the problem.
    pub(crate) fn internal(cause: String) -> Problem {
        Problem::new(Code::Internal, "internal error; find the cause in the log by this instance")
            .with_cause(cause)
    }

    pub(crate) fn with_cause(mut self, cause: String) -> Problem {
        self.0.cause = Some(cause);
        self
    }

    pub(crate) fn with_reason(mut self, reason: Reason) -> Problem {
        self.0.reason = Some(reason);
        self
    }

    pub(crate) fn with_database_details(mut self, database_details: DatabaseDetails) -> Problem {
        self.0.database_details = database_details;
        self
    }

    /// Sets Retry-After.
    pub(crate) fn with_retry_after(mut self, pause: Duration) -> Problem {
        self.0.headers = vec![(header::RETRY_AFTER, retry_after(pause))];
        self
    }

    pub(crate) fn with_hint(mut self, hint: &str) -> Problem {
        self.0.database_details.hint = Some(hint.to_owned());
        self
    }

    /// Appends to the hint.
    pub(crate) fn with_further_hint(self, hint: &str) -> Problem {
        match self.0.database_details.hint.clone() {
            Some(first) => {
                let both = format!("{first} {hint}");
                self.with_hint(&both)
            }
            None => self.with_hint(hint),
        }
    }

    /// Names the shard whose database cannot be used or did not respond in time. Another problem stays as it is.
    pub(crate) fn of_shard(mut self, shard: Shard) -> Problem {
        let parts = &mut *self.0;
        if matches!(parts.code.status(), 503 | 504) && parts.unavailable_shards.is_empty() {
            parts.detail = format!("shard {shard}: {}", parts.detail).into();
            parts.unavailable_shards = vec![shard];
        }
        self
    }

    /// These shards did not respond.
    pub(crate) fn unavailable_shards(shards: Vec<Shard>, cause: String) -> Problem {
        let mut problem = Problem::new(Code::Unavailable, format!("{} not respond", with_do(&shards)));
        problem.0.unavailable_shards = shards;
        problem.with_cause(cause)
    }

    /// Adds the partial report of an import, as JSON.
    pub(crate) fn with_report(mut self, report: String) -> Problem {
        self.0.database_details.report = RawValue::from_string(report).ok();
        self
    }

    /// A write was sent, but its result was not received, so it may have been committed.
    pub(crate) fn with_outcome_unknown(self) -> Problem {
        self.with_outcome(Outcome::Unknown)
    }

    /// A part of the request was committed.
    pub(crate) fn with_partial_outcome(self) -> Problem {
        match self.0.outcome {
            Outcome::None => self.with_outcome(Outcome::Partial),
            Outcome::Unknown | Outcome::Partial => self,
        }
    }

    /// Removes the headers that ask for a retry, which could repeat the effect.
    fn with_outcome(mut self, outcome: Outcome) -> Problem {
        const RETRY_HEADERS: [HeaderName; 4] = [header::RETRY_AFTER, RATE_LIMIT, RATE_REMAINING, RATE_RESET];
        let parts = &mut *self.0;
        parts.outcome = outcome;
        parts.headers.retain(|(name, _)| !RETRY_HEADERS.contains(name));
        if parts.code == Code::RateLimited {
            parts.code = Code::Unavailable;
        }
        self
    }

    pub(crate) fn is_unauthorized(&self) -> bool {
        self.0.code == Code::Unauthorized
    }

    pub(crate) fn is_not_found(&self) -> bool {
        self.0.code == Code::NotFound
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The `detail` of the response.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The cause, for the log.
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// The limit that the request exceeds, if any.
    pub(crate) fn reason(&self) -> Option<Reason> {
        self.0.reason
    }
}

/// `shard 3 does`, or `shards 0 and 3 do`.
fn with_do(shards: &[Shard]) -> String {
    format!("{} {}", named(shards), if shards.len() == 1 { "does" } else { "do" })
}

/// `shard 3`, or `shards 0 and 3`.
pub(crate) fn named(shards: &[Shard]) -> String {
    format!("{} {}", if shards.len() == 1 { "shard" } else { "shards" }, listed(shards))
}

/// `0, 2 and 3`.
pub(crate) fn listed(shards: &[Shard]) -> String {
    let numbers: Vec<String> = shards.iter().map(Shard::to_string).collect();
    match numbers.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.join(", "),
    }
}

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// The seconds of Retry-After: not less than `time`, with jitter so that callers do not all retry at the same moment.
fn retry_after(time: Duration) -> HeaderValue {
    let least = (time.as_secs_f64().ceil() as u64).max(1);
    HeaderValue::from(fastrand::u64(least..=least + 2 + least / 4))
}

const INVALID_TOKEN: HeaderValue = HeaderValue::from_static(r#"Bearer realm="keyed", error="invalid_token""#);
const INSUFFICIENT_SCOPE: HeaderValue =
    HeaderValue::from_static(r#"Bearer realm="keyed", error="insufficient_scope""#);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        let headers = response.headers_mut();
        if self.is_retryable() {
            headers.insert(header::RETRY_AFTER, retry_after(Duration::from_secs(1)));
        }
        for (name, value) in &self.0.headers {
            headers.insert(name.clone(), value.clone());
        }
        response.extensions_mut().insert(self);
        response
    }
}
