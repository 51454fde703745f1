//! Who is let in, and how much of the process one caller may use.
//!
//! A request passes here before anything of its body is read: its key must be known to be good, and it must be within
//! the bounds of its key, of its address, and of the process. What it has taken is given back when the [`Admitted`] is
//! dropped. Keys that were good once are remembered, so that in the usual case nothing here waits and the database
//! authenticates and answers by one statement; that statement has the last word, so that a revocation holds at once.

/// From which address a request comes.
pub(crate) mod address;
/// A request that was let in.
mod admitted;
/// Events that may happen so often, and no oftener.
mod bucket;
/// How much is left of what all callers share.
mod budget;
/// How many connections callers have.
pub(crate) mod connections;
/// API keys and delivery tokens that were presented lately.
mod credential;
/// Failed authentications by address.
mod failures;
/// The least rate of a transfer.
pub(crate) mod min_rate;
/// What is set by flags and environment.
pub(crate) mod settings;
/// A connection whose other side must keep moving.
pub(crate) mod socket;
/// What a key looks like.
mod token;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

pub(crate) use admitted::{Admitted, FilePermit};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
pub(crate) use bucket::Excess;
use bucket::Limit;
use budget::Budget;
pub(crate) use budget::Reserved as ReservedBytes;
use credential::{CredentialState, Table};
use failures::Failures;
use settings::Bounds;
use tokio::sync::Semaphore;

use crate::problem::Problem;
use crate::state::App;

/// A body of no more than this is read on the word of a key that was good a while ago.
const SMALL_BODY: u64 = 64 << 10;

/// So many keys that are not known are looked up at once. Each takes well under a millisecond.
const MOST_LOOKS: usize = 2;

/// How long ago a key may have been found good when more of a body is read.
const RECENTLY: Duration = Duration::from_secs(1);

/// What a request identifies itself with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialKind {
    ApiKey,
    DeliveryToken,
}

impl CredentialKind {
    /// What somebody is told whose key or token is not one.
    fn refusal(self) -> Problem {
        match self {
            CredentialKind::ApiKey => Problem::invalid_key(),
            CredentialKind::DeliveryToken => Problem::not_found(),
        }
    }

    /// Whether a statement was refused because the key or token is not one.
    fn is_refusal(self, problem: &Problem) -> bool {
        match self {
            CredentialKind::ApiKey => problem.is_unauthorized(),
            CredentialKind::DeliveryToken => problem.is_not_found(),
        }
    }
}

/// The bounds of the process, and what is in use.
pub(crate) struct Admission {
    keys: Table,
    tokens: Table,
    failures: Failures,
    /// How many requests are in flight.
    requests: AtomicUsize,
    most_requests: usize,
    most_requests_of_a_key: usize,
    bodies: Budget,
    /// Looks into the database for keys that are not known, so that strangers leave connections to the others.
    looks: Semaphore,
    files: Semaphore,
    trusted_proxies: usize,
    /// How long is waited for what others have in use.
    patience: Duration,
}

impl Admission {
    /// The bounds that are set, for a pool of so many connections that are not shared.
    pub(crate) fn new(
        bounds: &Bounds,
        connections: usize,
        body_limit: usize,
        patience: Duration,
    ) -> Admission {
        let each = credential::Parts {
            rate: Limit::per_second(bounds.key_rate),
            connections: bounds.connections_of_a_key(connections),
            files: bounds.files_of_a_key(connections),
            body_bytes: (bounds.body_budget / 2).max(body_limit),
            memory: bounds.refusal_memory,
        };
        Admission {
            keys: Table::new(each),
            tokens: Table::new(each),
            failures: Failures::new(Limit::per_minute(bounds.auth_failures)),
            requests: AtomicUsize::new(0),
            most_requests: bounds.requests,
            most_requests_of_a_key: bounds.key_requests,
            bodies: Budget::new(bounds.body_budget),
            looks: Semaphore::new(MOST_LOOKS),
            files: Semaphore::new(bounds.files(connections)),
            trusted_proxies: bounds.trusted_proxies,
            patience,
        }
    }

    fn table(&self, kind: CredentialKind) -> &Table {
        match kind {
            CredentialKind::ApiKey => &self.keys,
            CredentialKind::DeliveryToken => &self.tokens,
        }
    }

    /// A refusal of somebody whose key is not one, unless this address has had too many of them.
    fn refuse(&self, kind: CredentialKind, address: IpAddr, now: Instant) -> Problem {
        match self.failures.refused(address, now) {
            Ok(()) => kind.refusal(),
            Err(excess) => too_many_failures(excess),
        }
    }
}

/// Lets a request in, or says why not. `digest` is the digest of `token`.
pub(crate) async fn admit(
    app: &Arc<App>,
    parts: &mut Parts,
    kind: CredentialKind,
    token: &[u8],
    digest: [u8; 32],
) -> Result<Admitted, Problem> {
    let admission = &app.admission;
    let now = Instant::now();
    let address = address::of(parts, admission.trusted_proxies);
    let table = admission.table(kind);
    let credential = match table.find(&digest) {
        Some(credential) => credential,
        // No database is needed to see that this cannot be one.
        None if !token::is_well_formed(kind, token) => return Err(admission.refuse(kind, address, now)),
        None => table.insert(digest, now),
    };
    let state = match credential.enter(now, table.parts()) {
        Ok(state) => state,
        Err(excess) => return Err(too_many_requests(excess)),
    };
    if state == CredentialState::Wrong {
        return Err(admission.refuse(kind, address, now));
    }
    let admitted = Admitted::new(app, kind, digest, credential, address)?;
    let must_ask = match state {
        CredentialState::Unknown | CredentialState::Doubtful => true,
        CredentialState::Good { since } => {
            now.duration_since(since) > RECENTLY && body_size(&parts.headers) > SMALL_BODY
        }
        CredentialState::Wrong => false,
    };
    if must_ask {
        admitted.authenticate(state == CredentialState::Unknown, now).await?;
    }
    if body_size(&parts.headers) > 0 {
        parts.extensions.insert(admitted.clone());
    }
    Ok(admitted)
}

/// How long a body may be: as long as it is announced to be, and without an announcement of any length.
fn body_size(headers: &HeaderMap) -> u64 {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        return u64::MAX;
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

fn too_many_requests(excess: Excess) -> Problem {
    Problem::rate_limited("this API key has sent too many requests", "KEYED_KEY_RATE", excess)
}

fn too_many_failures(excess: Excess) -> Problem {
    Problem::rate_limited(
        "too many requests with a wrong key came from this address",
        "KEYED_AUTH_FAILURES",
        excess,
    )
}
