//! Replaces `query_text` in the body of a search with the vector of the text. The rest of the body does not change.

use std::collections::BTreeMap;
use std::time::Duration;

use keyed_errors::Code;
use serde_json::value::RawValue;

use crate::caller::Caller;
use crate::database::{Database, Effect};
use crate::problem::Problem;
use keyed_embedding_worker::embedder::Embedder;
use keyed_embedding_worker::outcome::{Failed, wrong_length};
use keyed_embedding_worker::vector::Vector;
use keyed_service::statement::{self, Argument, Statement};

/// Detects a body with a text to embed. A client that escapes characters of this name gets the error for an unknown member.
const MEMBER: &str = "\"query_text\"";

/// The maximum number of characters of a text.
const MAX_CHARACTERS: usize = 8000;

/// A statement that validates a search, and its arguments before the body.
pub(crate) struct Check<'a> {
    pub(crate) statement: Statement,
    pub(crate) arguments: &'a [Argument<'a>],
}

/// The database, which validates a search before the provider is called, and the provider.
pub(crate) struct Context<'a> {
    pub(crate) database: &'a Database,
    pub(crate) embedder: Option<&'a Embedder>,
    /// The timeout of the provider.
    pub(crate) timeout: Duration,
}

/// The body with `query_vector` in place of `query_text`. A body without `query_text` is not parsed.
pub(crate) async fn with_vector(
    Context { database, embedder, timeout }: Context<'_>,
    caller: &Caller,
    body: String,
    check: Check<'_>,
) -> Result<String, Problem> {
    if !body.contains(MEMBER) {
        return Ok(body);
    }
    // The database rejects invalid bodies. Raw values keep the digits of numbers.
    let Ok(mut members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(&body) else { return Ok(body) };
    let Some(text) = members.remove("query_text") else { return Ok(body) };
    if is_null(text) {
        return write(&members);
    }
    let has_vector = members.get("query_vector").is_some_and(|vector| !is_null(vector));
    let text = self::check(text, has_vector)?;
    if members.get("mode").is_some_and(|mode| is_keyword(mode)) {
        return write(&members);
    }
    let Some(embedder) = embedder else {
        return Err(invalid(
            "this service has no embedding provider: send query_vector, or ask the operator to set \
            KEYED_EMBED_PROVIDER",
        ));
    };
    // Calls of the provider may cost money, so the rest of the search is validated first.
    let any_vector = raw(Vector::any().to_json())?;
    members.insert("query_vector".to_owned(), &any_vector);
    let body = write(&members)?;
    let arguments: Vec<Argument<'_>> =
        check.arguments.iter().cloned().chain([statement::text(&body)]).collect();
    database.call(Effect::Read, caller, check.statement, &arguments).await?;
    let vector = match tokio::time::timeout(timeout, embedder.query(&text)).await {
        Ok(Ok(Ok(vector))) => vector,
        Ok(Ok(Err(reason))) => return Err(invalid(format!("the text has no vector: {reason}"))),
        Ok(Err(failed)) => return Err(provider_error(failed)),
        Err(_) => return Err(provider_unavailable("no response within the request timeout".to_owned())),
    };
    let vector = raw(vector.to_json())?;
    members.insert("query_vector".to_owned(), &vector);
    write(&members)
}

fn write(members: &BTreeMap<String, &RawValue>) -> Result<String, Problem> {
    serde_json::to_string(members).map_err(|error| Problem::internal(error.to_string()))
}

fn raw(json: String) -> Result<Box<RawValue>, Problem> {
    RawValue::from_string(json).map_err(|error| Problem::internal(error.to_string()))
}

fn provider_unavailable(cause: String) -> Problem {
    Problem::unavailable("the embedding provider does not respond", cause)
}

/// The error for a failed embedding, which says whether to retry or what the operator must fix. The message of the
/// provider is only logged.
fn provider_error(failed: Failed) -> Problem {
    let internal = |detail: String, cause| Problem::new(Code::Internal, detail).with_cause(cause);
    match failed {
        Failed::Temporary { message, retry_after, is_busy: true, .. } => {
            let problem = Problem::unavailable("the embedding provider is overloaded at the moment", message);
            retry_after.into_iter().fold(problem, Problem::with_retry_after)
        }
        Failed::Temporary { message, .. } => provider_unavailable(message),
        Failed::Length(length) => internal(wrong_length(length), wrong_length(length)),
        Failed::Texts(message) | Failed::Permanent(message) => internal(
            "the embedding provider rejects this service: its URL, key or model is misconfigured; find the cause in the log by this instance"
                .to_owned(),
            message,
        ),
    }
}

/// Null counts as absent, as everywhere in a search.
fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// Whether the mode of the search ignores vectors.
fn is_keyword(mode: &RawValue) -> bool {
    serde_json::from_str::<String>(mode.get()).is_ok_and(|mode| mode == "keyword")
}

fn check(text: &RawValue, has_vector: bool) -> Result<String, Problem> {
    let text: String = serde_json::from_str(text.get()).map_err(|_| invalid("must be a string"))?;
    if has_vector {
        return Err(invalid("cannot be combined with query_vector: send one of them"));
    }
    if text.trim().is_empty() {
        return Err(invalid("must not be empty"));
    }
    if text.chars().count() > MAX_CHARACTERS {
        return Err(invalid(format!("can have at most {MAX_CHARACTERS} characters")));
    }
    Ok(text)
}

fn invalid(reason: impl Into<String>) -> Problem {
    Problem::invalid_member("/query_text", reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str, has_vector: bool) -> Result<String, u16> {
        let raw = RawValue::from_string(json.to_owned()).expect("JSON");
        check(&raw, has_vector).map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn query_text_is_a_non_empty_string() {
        assert_eq!(read(r#""pearl \u00e9arring""#, false), Ok("pearl éarring".to_owned()));
        for json in ["1", "null", "[]", r#""""#, r#""  ""#] {
            assert_eq!(read(json, false), Err(422), "{json}");
        }
        assert_eq!(read(r#""pearl""#, true), Err(422));
        assert_eq!(read(&format!("\"{}\"", "x".repeat(MAX_CHARACTERS + 1)), false), Err(422));
    }
}
