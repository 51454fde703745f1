//! A recently used API key or delivery token: whether it is valid, and the resources that it uses.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::Shared;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::bucket::{Bucket, Limit};
use super::expectation::Expectations;
use crate::observation::Identity;
use crate::problem::{Excess, Problem};

/// The time for which an unused valid key is cached.
const CACHE_TIME: Duration = Duration::from_secs(600);

/// The id of the next credential.
static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// The limits of one key.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) rate: Limit,
    pub(super) files: usize,
    pub(super) body_bytes: usize,
    /// The time for which an invalid key is cached. It is short, because a key can be used before the transaction that
    /// issues it commits or reaches a standby.
    pub(super) memory: Duration,
}

/// The state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CredentialState {
    Unknown,
    /// It was valid, but a statement has since failed with an authentication error.
    Suspect,
    /// The database verified it at that time.
    Good {
        since: Instant,
    },
    Wrong,
}

/// The owner of a key; `None` if the key is invalid.
pub(super) type LookupResult = Result<Option<Arc<Identity>>, Problem>;
type PendingLookup = Shared<Pin<Box<dyn Future<Output = LookupResult> + Send>>>;

/// A key or token.
pub(super) struct Credential {
    /// Identifies the credential in this process.
    pub(super) number: u64,
    state: Mutex<State>,
    /// Requests in flight.
    pub(super) in_flight: AtomicUsize,
    /// Requests that wait for changes.
    pub(super) listeners: AtomicUsize,
    pub(super) files: Semaphore,
    pub(super) body_bytes: Arc<Semaphore>,
    pub(super) expectations: Expectations,
}

struct State {
    verification: Verification,
    requests: Bucket,
    used: Instant,
    /// A pending verification.
    lookup: Option<PendingLookup>,
    /// The identity from the last verification, only for the log.
    identity: Option<Arc<Identity>>,
}

enum Verification {
    Unknown,
    Suspect,
    Good { since: Instant },
    Wrong { until: Instant },
}

impl Verification {
    fn at(&self, now: Instant) -> CredentialState {
        match *self {
            Verification::Unknown => CredentialState::Unknown,
            Verification::Suspect => CredentialState::Suspect,
            Verification::Good { since } => CredentialState::Good { since },
            Verification::Wrong { until } if now < until => CredentialState::Wrong,
            Verification::Wrong { .. } => CredentialState::Unknown,
        }
    }
}

impl Credential {
    pub(super) fn new(parts: &Parts, now: Instant) -> Credential {
        let state = State {
            verification: Verification::Unknown,
            requests: Bucket::empty(now),
            used: now,
            lookup: None,
            identity: None,
        };
        Credential {
            number: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            state: Mutex::new(state),
            in_flight: AtomicUsize::new(0),
            listeners: AtomicUsize::new(0),
            files: Semaphore::new(parts.files),
            body_bytes: Arc::new(Semaphore::new(parts.body_bytes)),
            expectations: Expectations::default(),
        }
    }

    /// Counts a request and returns the state of its key.
    pub(super) fn enter(&self, now: Instant, parts: &Parts) -> Result<CredentialState, Excess> {
        let mut state = lock(&self.state);
        state.used = now;
        let found = state.verification.at(now);
        // An invalid key counts for its address.
        if found != CredentialState::Wrong {
            state.requests.add(parts.rate, now)?;
        }
        Ok(found)
    }

    /// The state of the key.
    pub(super) fn state(&self, now: Instant) -> CredentialState {
        lock(&self.state).verification.at(now)
    }

    /// The pending verification, if there is one.
    pub(super) fn pending(&self) -> Option<PendingLookup> {
        lock(&self.state).lookup.clone()
    }

    /// Returns the pending verification, or starts one. `begin` must spawn a task, because a waiting request may be
    /// dropped, and the resources would not be released.
    pub(super) fn lookup(
        &self,
        begin: impl FnOnce() -> Result<JoinHandle<LookupResult>, Problem>,
    ) -> Result<PendingLookup, Problem> {
        let mut state = lock(&self.state);
        match &state.lookup {
            Some(lookup) => Ok(lookup.clone()),
            None => {
                let task = begin()?;
                let result: Pin<Box<dyn Future<Output = LookupResult> + Send>> = Box::pin(async move {
                    let ended = || Problem::internal("the verification of a key was interrupted".to_owned());
                    task.await.unwrap_or_else(|_| Err(ended()))
                });
                Ok(state.lookup.insert(result.shared()).clone())
            }
        }
    }

    /// Stores the result of the pending verification.
    pub(super) fn store_result(&self, result: &LookupResult, now: Instant, parts: &Parts) {
        let mut state = lock(&self.state);
        state.lookup = None;
        match result {
            Ok(Some(identity)) => {
                state.verification = Verification::Good { since: now };
                state.identity = Some(Arc::clone(identity));
            }
            Ok(None) => state.verification = Verification::Wrong { until: now + parts.memory },
            Err(_) => {}
        }
    }

    /// The owner, if known. A revoked key keeps its last owner.
    pub(super) fn identity(&self) -> Option<Arc<Identity>> {
        lock(&self.state).identity.clone()
    }

    /// Has the key verified before the next request.
    pub(super) fn mark_suspect(&self) {
        let mut state = lock(&self.state);
        if matches!(state.verification, Verification::Good { .. }) {
            state.verification = Verification::Suspect;
        }
    }

    /// Whether an unused entry stays in the cache.
    pub(super) fn is_live(&self, now: Instant) -> bool {
        let state = lock(&self.state);
        match state.verification {
            Verification::Unknown => false,
            Verification::Suspect | Verification::Good { .. } => {
                now.saturating_duration_since(state.used) < CACHE_TIME
            }
            Verification::Wrong { until } => now < until,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic half-way runs under the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: fn() -> Parts =
        || Parts { rate: Limit::per_second(2), files: 1, body_bytes: 100, memory: Duration::from_secs(1) };

    fn valid_key() -> LookupResult {
        let (id, role, project) = ("1".to_owned(), None, None);
        Ok(Some(Arc::new(Identity::Key { id, role, project })))
    }

    #[test]
    fn invalid_key_is_verified_again_after_its_ttl() {
        let (parts, now) = (PARTS(), Instant::now());
        let credential = Credential::new(&parts, now);
        assert_eq!(credential.enter(now, &parts), Ok(CredentialState::Unknown));
        credential.store_result(&Ok(None), now, &parts);
        for _ in 0..10 {
            assert_eq!(credential.enter(now, &parts), Ok(CredentialState::Wrong));
        }
        let later = now + Duration::from_secs(1);
        assert_eq!(credential.enter(later, &parts), Ok(CredentialState::Unknown));
        credential.store_result(&valid_key(), later, &parts);
        assert_eq!(credential.enter(later, &parts), Ok(CredentialState::Good { since: later }));
        assert!(credential.enter(later, &parts).is_err(), "two per second");
        credential.mark_suspect();
        let even_later = later + Duration::from_secs(1);
        assert_eq!(credential.enter(even_later, &parts), Ok(CredentialState::Suspect));
    }

    #[tokio::test]
    async fn concurrent_requests_with_one_key_share_a_verification() {
        let (parts, now) = (PARTS(), Instant::now());
        let credential = Credential::new(&parts, now);
        let started = AtomicUsize::new(0);
        let lookup = || {
            credential.lookup(|| {
                started.fetch_add(1, Ordering::Relaxed);
                Ok(tokio::spawn(async { valid_key() }))
            })
        };
        let lookup = || lookup().expect("it starts");
        for lookup in [lookup(), lookup(), lookup()] {
            assert!(matches!(lookup.await, Ok(Some(_))));
        }
        assert_eq!(started.load(Ordering::Relaxed), 1);
        credential.store_result(&valid_key(), now, &parts);
        assert!(matches!(lookup().await, Ok(Some(_))));
        assert_eq!(started.load(Ordering::Relaxed), 2, "the next request starts a second lookup");
    }
}
