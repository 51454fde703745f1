//! The body of an error (RFC 9457).

use keyed_errors::title;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{Outcome, Parts, Problem};
use crate::shard::Shard;

#[derive(Serialize)]
struct Body<'a> {
    r#type: String,
    title: String,
    status: u16,
    detail: &'a str,
    instance: String,
    code: &'a str,
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    existing_id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_index: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "<[Shard]>::is_empty")]
    unavailable_shards: &'a [Shard],
}

impl Problem {
    /// Whether a retry of the same request can succeed. False if a write was or may have been committed, because the
    /// client must decide whether to repeat it.
    pub(crate) fn is_retryable(&self) -> bool {
        let Parts { code, database_details, outcome, .. } = &*self.0;
        (code.is_retryable() || database_details.retryable) && *outcome == Outcome::None
    }

    /// Renders the body for the request with this id.
    pub(crate) fn render(&self, request_id: Uuid) -> String {
        let Parts { code, detail, outcome, unavailable_shards, database_details, .. } = &*self.0;
        let name = database_details.code.as_deref().unwrap_or(code.name());
        let body = Body {
            r#type: format!("urn:problem-type:keyed:{name}"),
            title: title(name),
            status: code.status(),
            detail,
            instance: request_id.urn().to_string(),
            code: name,
            retryable: self.is_retryable(),
            hint: database_details.hint.as_deref(),
            errors: database_details.errors.as_deref(),
            existing_id: database_details.existing_id.as_deref(),
            failed_index: database_details.failed_index.as_deref(),
            report: database_details.report.as_deref(),
            quota: database_details.quota.as_deref(),
            outcome: match outcome {
                Outcome::None => None,
                Outcome::Unknown => Some("unknown"),
                Outcome::Partial => Some("partial"),
            },
            unavailable_shards,
        };
        serde_json::to_string(&body).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use keyed_errors::Code;

    use super::*;
    use crate::problem::{DatabaseDetails, Excess, Reason};

    #[test]
    fn problem_has_the_form_of_rfc_9457() {
        let body = Problem::malformed("the body is not UTF-8").render(Uuid::nil());
        assert_eq!(
            body,
            r#"{"type":"urn:problem-type:keyed:malformed_request","title":"Malformed request","status":400,"#
                .to_owned()
                + r#""detail":"the body is not UTF-8","#
                + r#""instance":"urn:uuid:00000000-0000-0000-0000-000000000000","#
                + r#""code":"malformed_request","retryable":false}"#
        );
    }

    #[test]
    fn internal_cause_is_not_disclosed() {
        let body = Problem::internal("relation \"secret\" does not exist".into()).render(Uuid::nil());
        assert!(!body.contains("secret"), "{body}");
    }

    #[test]
    fn retryable_problem_has_retry_after() {
        let lost_race = DatabaseDetails { retryable: true, ..DatabaseDetails::default() };
        let conflict = Problem::new(Code::ExternalKeyTaken, "taken").with_database_details(lost_race);
        let all = Code::ALL.iter().map(|code| Problem::new(*code, "refused"));
        for problem in all.chain([conflict, Problem::body_too_slow()]) {
            let body = problem.render(Uuid::nil());
            let says_so = problem.into_response().headers().contains_key("retry-after");
            assert_eq!(says_so, body.contains(r#""retryable":true"#), "{body}");
        }
    }

    #[test]
    fn problem_names_the_shards_without_a_response() {
        let shard = Shard::new(3).expect("a number of a shard");
        let problem = Problem::unavailable("the database cannot be reached", String::new()).of_shard(shard);
        let body = problem.render(Uuid::nil());
        assert!(body.contains(r#""detail":"shard 3: the database cannot be reached""#), "{body}");
        assert!(body.ends_with(r#""unavailable_shards":[3]}"#), "{body}");
        assert!(!Problem::not_found().of_shard(shard).render(Uuid::nil()).contains("shard"));
        let two = vec![Shard::new(0).expect("a number"), shard];
        let body = Problem::unavailable_shards(two, String::new()).render(Uuid::nil());
        assert!(body.contains(r#""detail":"shards 0 and 3 do not respond""#), "{body}");
    }

    #[test]
    fn unknown_outcome_is_not_retryable() {
        let problem = Problem::unavailable("the connection broke", String::new());
        assert!(problem.render(Uuid::nil()).contains(r#""retryable":true"#));
        let problem = problem.with_outcome_unknown();
        let body = problem.render(Uuid::nil());
        assert_eq!(problem.into_response().headers().len(), 0);
        assert!(body.contains(r#""retryable":false"#) && body.contains(r#""outcome":"unknown""#), "{body}");
    }

    #[test]
    fn partial_outcome_is_not_retryable() {
        let excess = Excess::of_concurrent(1);
        let problem = Problem::rate_limited(
            Reason::KeyConnections,
            "too many",
            "KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY",
            excess,
        );
        let problem = problem.with_partial_outcome();
        let body = problem.render(Uuid::nil());
        assert!(body.contains(r#""retryable":false"#) && body.contains(r#""outcome":"partial""#), "{body}");
        let response = problem.into_response();
        assert_eq!((response.status().as_u16(), response.headers().len()), (503, 0));
    }
}
