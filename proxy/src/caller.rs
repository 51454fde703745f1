//! The caller of a request: the digest of its bearer token, and the project header.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};

use keyed_service::statement::{Source, digest};

use crate::admission::{Admitted, FilePermit};
use crate::header::single;
use crate::idempotency::Idempotency;
use crate::numbers::Numbers;
use crate::observation::Observation;
use crate::position::Freshness;
use crate::problem::Problem;
use crate::source::source_of;

pub(crate) const PROJECT: HeaderName = HeaderName::from_static("x-service-project-id");

/// The arguments of `keyed.authenticate`. The proxy never decides whether a token is valid.
pub(crate) struct Caller {
    pub(crate) token_digest: [u8; 32],
    pub(crate) project: Option<String>,
    /// The source that the history shows for its changes.
    pub(crate) source: Source,
    /// The representation of numbers in its requests and responses.
    pub(crate) numbers: Numbers,
    /// Which servers may answer its reads.
    pub(crate) freshness: Freshness,
    /// The idempotency key of a write.
    pub(crate) idempotency: Option<Idempotency>,
    /// The resources of the request; `None` for the service itself.
    pub(crate) admitted: Option<Admitted>,
}

impl Caller {
    /// The caller whose API key has this digest, without a project.
    pub(crate) fn with_digest(token_digest: [u8; 32]) -> Caller {
        Caller {
            token_digest,
            project: None,
            source: Source::Api,
            numbers: Numbers::default(),
            freshness: Freshness::default(),
            idempotency: None,
            admitted: None,
        }
    }

    /// The request argument of `keyed.authenticate`: the representation of numbers, and the request id, which
    /// administrators can see. The id is empty for the service itself.
    pub(crate) fn request(&self) -> Cow<'_, str> {
        let observation = self.admitted.as_ref().and_then(Admitted::observation);
        let id = observation.map_or("", |observation| observation.id().as_str());
        match self.numbers {
            Numbers::Json => Cow::Borrowed(id),
            Numbers::Strings => Cow::Owned(format!("numbers=string {id}")),
        }
    }

    /// Acquires a permit for an import or export.
    pub(crate) async fn file(&self) -> Result<Option<FilePermit<'_>>, Problem> {
        match &self.admitted {
            Some(admitted) => admitted.file().await.map(Some),
            None => Ok(None),
        }
    }
}

/// Admits requests: the shared state of the routes.
pub(crate) trait Admit: Send + Sync {
    /// Admits a request with an API key. `digest` is the digest of `token`.
    fn admit_key(
        &self,
        parts: &mut Parts,
        token: &[u8],
        digest: [u8; 32],
    ) -> impl Future<Output = Result<Admitted, Problem>> + Send;
}

impl<S: Admit> FromRequestParts<Arc<S>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<S>) -> Result<Caller, Problem> {
        let (token, caller) = caller(&parts.headers)?;
        let token = token.to_owned();
        let numbers = Numbers::of(&parts.uri)?;
        if let (Some(observation), Some(project)) = (Observation::find(&parts.extensions), &caller.project) {
            observation.names_project(project);
        }
        let admitted = state.admit_key(parts, &token, caller.token_digest).await?;
        if let Some(Ambiguous(problem)) = parts.extensions.remove() {
            return Err(problem);
        }
        let (freshness, idempotency) = (Freshness::of(&parts.headers)?, Idempotency::of(parts)?);
        Ok(Caller { numbers, freshness, idempotency, admitted: Some(admitted), ..caller })
    }
}

/// In the extensions of a request whose shard is not clear. Only a valid key learns why.
#[derive(Clone)]
pub(crate) struct Ambiguous(pub(crate) Problem);

/// The token and the project of the headers, as far as they are well-formed: [`Caller`] rejects what is not.
pub(crate) fn credentials(headers: &HeaderMap) -> Option<(&[u8], Option<&str>)> {
    let token = single(headers, header::AUTHORIZATION).ok().flatten().and_then(bearer_token)?;
    let project = single(headers, PROJECT).ok().flatten().and_then(|value| std::str::from_utf8(value).ok());
    Some((token, project.filter(|project| !project.is_empty())))
}

/// The token and the caller in the headers of a request.
fn caller(headers: &HeaderMap) -> Result<(&[u8], Caller), Problem> {
    let Some(token) = single(headers, header::AUTHORIZATION)?.and_then(bearer_token) else {
        return Err(Problem::no_token());
    };
    let project = match single(headers, PROJECT)? {
        // A client with an unset variable sends an empty header.
        None | Some(b"") => None,
        Some(value) => match std::str::from_utf8(value) {
            Ok(project) => Some(project.to_owned()),
            Err(_) => return Err(Problem::malformed("the header X-Service-Project-Id is not UTF-8")),
        },
    };
    let source = source_of(headers)?;
    Ok((token, Caller { project, source, ..Caller::with_digest(digest(token)) }))
}

fn bearer_token(authorization: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = authorization.split_at_checked(b"bearer ".len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, StatusCode};

    use proptest::prelude::*;

    use super::*;

    fn ask(headers: &[(&'static str, &'static [u8])]) -> Result<Caller, StatusCode> {
        let headers = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).expect("a header value"))
        });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        caller(&map).map(|(_, caller)| caller).map_err(|problem| problem.status())
    }

    #[test]
    fn token_is_hashed_and_scheme_is_case_insensitive() {
        let digest: [u8; 32] = digest(b"abc");
        for value in [&b"Bearer abc"[..], b"bearer abc", b"BEARER   abc "] {
            let caller = ask(&[("authorization", value)]).expect("a caller");
            assert_eq!(caller.token_digest, digest);
            assert_eq!(caller.project, None);
        }
    }

    #[test]
    fn header_without_a_bearer_token_is_unauthorized() {
        for value in [&b""[..], b"Bearer", b"Bearer ", b"Basic YTpi", b"Bearerabc"] {
            assert_eq!(ask(&[("authorization", value)]).err(), Some(StatusCode::UNAUTHORIZED));
        }
        assert_eq!(ask(&[]).err(), Some(StatusCode::UNAUTHORIZED));
    }

    #[test]
    fn project_is_optional_and_must_be_text() {
        let token = ("authorization", &b"Bearer abc"[..]);
        let project = |value| ask(&[token, ("x-service-project-id", value)]).map(|caller| caller.project);
        assert_eq!(project(b"crm"), Ok(Some("crm".to_owned())));
        assert_eq!(project(b" "), Ok(None));
        assert_eq!(project(b"\xff"), Err(StatusCode::BAD_REQUEST));
    }

    #[test]
    fn repeated_header_is_rejected() {
        let token = ("authorization", &b"Bearer abc"[..]);
        assert_eq!(ask(&[token, token]).err(), Some(StatusCode::BAD_REQUEST));
        let project = ("x-service-project-id", &b"crm"[..]);
        assert_eq!(ask(&[token, project, project]).err(), Some(StatusCode::BAD_REQUEST));
    }

    proptest! {
        #[test]
        fn any_header_has_one_token_or_is_unauthorized(
            value in prop::collection::vec(prop_oneof![Just(b' '), 0x20..=0x7e_u8, 0x80..=0xff_u8], 0..30),
            scheme in prop::sample::select(vec!["", "Bearer ", "bEARER   ", "Bearer"]),
        ) {
            let value = [scheme.as_bytes(), &value].concat();
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_bytes(&value).expect("a value"))]);
            let expected = bearer_token(value.trim_ascii()).map(digest);
            match caller(&headers) {
                Ok((token, caller)) => {
                    prop_assert_eq!(caller.token_digest, digest(token));
                    prop_assert_eq!(Some(caller.token_digest), expected);
                    prop_assert!(value.trim_ascii().to_ascii_lowercase().starts_with(b"bearer "));
                }
                Err(problem) => prop_assert_eq!((problem.status(), expected), (StatusCode::UNAUTHORIZED, None)),
            }
        }
    }
}
