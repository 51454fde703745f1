//! Admission of a request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use super::admitted::Admitted;
use super::credential::{CredentialState, LookupResult};
use super::limits::Admission;
use super::lookup::Lookup;
use super::rejection::too_many_requests;
use super::token::CredentialKind;
use super::{address, token};
use crate::observation::Observation;
use crate::problem::Problem;

/// The maximum size of a body that is read without a recent verification of the key.
const SMALL_BODY: u64 = 64 << 10;

/// The maximum age of the verification for a larger body.
const MAX_VERIFICATION_AGE: Duration = Duration::from_secs(1);

/// The age at which a key is looked up again, so that the log does not show an outdated role for longer.
const MAX_IDENTITY_AGE: Duration = Duration::from_secs(600);

/// Admits or rejects a request. `digest` is the digest of `token`. `ask` looks the key up in the database, and is
/// called only if earlier requests have not verified it.
pub(crate) async fn admit<A>(
    admission: &Arc<Admission>,
    parts: &mut Parts,
    kind: CredentialKind,
    token: &[u8],
    digest: [u8; 32],
    ask: impl FnOnce() -> A,
) -> Result<Admitted, Problem>
where
    A: Future<Output = LookupResult> + Send + 'static,
{
    let now = Instant::now();
    let address = address::of(parts, admission.trusted_proxies);
    let table = admission.table(kind);
    let credential = match table.find(&digest) {
        Some(credential) => credential,
        // A malformed key is rejected without a lookup.
        None if !token::is_well_formed(kind, token) => return Err(admission.reject(kind, address, now)),
        None => table.insert(digest, now),
    };
    let observation = Observation::find(&parts.extensions);
    // Set for rejected requests as well.
    if let Some(observation) = &observation {
        observation.identified(credential.identity());
    }
    let state = match credential.enter(now, table.parts()) {
        Ok(state) => state,
        Err(excess) => return Err(too_many_requests(excess)),
    };
    if state == CredentialState::Wrong {
        return Err(admission.reject(kind, address, now));
    }
    let must_ask = match state {
        CredentialState::Unknown | CredentialState::Suspect => true,
        CredentialState::Good { since } => {
            let age = now.duration_since(since);
            age > MAX_VERIFICATION_AGE && body_size(&parts.headers) > SMALL_BODY || age > MAX_IDENTITY_AGE
        }
        CredentialState::Wrong => false,
    };
    if must_ask {
        let lookup = Lookup { admission, kind, credential: &credential, address };
        let verified = lookup.verify(state == CredentialState::Unknown, ask).await;
        if let Some(observation) = &observation {
            observation.authenticated(now);
            observation.identified(credential.identity());
        }
        verified?;
    }
    // Counted only now, so that requests without a valid key do not count as requests in flight.
    let admitted = Admitted::new(admission, kind, Arc::clone(&credential), observation)?;
    if body_size(&parts.headers) > 0 {
        parts.extensions.insert(admitted.clone());
    }
    Ok(admitted)
}

/// Whether a credential was valid when it was last looked up.
pub(crate) fn is_remembered(admission: &Admission, kind: CredentialKind, digest: &[u8; 32]) -> bool {
    let credential = admission.table(kind).find(digest);
    credential.is_some_and(|it| matches!(it.state(Instant::now()), CredentialState::Good { .. }))
}

/// Whether the database knows a credential. Nothing counts against the address of the request if the credential is
/// `trusted`: known to be valid in another database.
pub(crate) async fn is_known<A>(
    admission: &Arc<Admission>,
    parts: &Parts,
    kind: CredentialKind,
    token: &[u8],
    digest: [u8; 32],
    trusted: bool,
    ask: impl FnOnce() -> A,
) -> Result<bool, Problem>
where
    A: Future<Output = LookupResult> + Send + 'static,
{
    let now = Instant::now();
    let table = admission.table(kind);
    let credential = match table.find(&digest) {
        Some(credential) => credential,
        None if !token::is_well_formed(kind, token) => return Ok(false),
        None => table.insert(digest, now),
    };
    match credential.state(now) {
        CredentialState::Good { .. } => Ok(true),
        CredentialState::Wrong => Ok(false),
        state => {
            let address = address::of(parts, admission.trusted_proxies);
            let lookup = Lookup { admission, kind, credential: &credential, address };
            lookup.is_valid(state == CredentialState::Unknown && !trusted, ask).await
        }
    }
}

/// The size of the body: the Content-Length, or unlimited without one.
fn body_size(headers: &HeaderMap) -> u64 {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        return u64::MAX;
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}
