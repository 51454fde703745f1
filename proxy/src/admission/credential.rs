//! Recently used API keys and delivery tokens, by digest: whether they are valid, and the resources that they use.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::Shared;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::bucket::{Bucket, Limit};
use crate::observation::Identity;
use crate::problem::{Excess, Problem};

/// The number of entries at which unused ones are removed.
const MANY: usize = 10_000;

/// How long an unused valid key is remembered.
const MEMORY: Duration = Duration::from_secs(600);

/// The limits of one key.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) rate: Limit,
    /// `None` for no limit.
    pub(super) connections: Option<usize>,
    pub(super) files: usize,
    pub(super) body_bytes: usize,
    /// How long an invalid key is remembered. A key may be used before the transaction that issues it has committed,
    /// or before it reaches a standby: so not for long.
    pub(super) memory: Duration,
}

/// All of them.
pub(super) struct Table {
    parts: Parts,
    map: Mutex<Map>,
}

struct Map {
    entries: HashMap<[u8; 32], Arc<Credential>>,
    /// The number of entries at which the next sweep is due, so that its cost is amortised.
    sweep_at: usize,
}

impl Table {
    pub(super) fn new(parts: Parts) -> Table {
        Table { parts, map: Mutex::new(Map { entries: HashMap::new(), sweep_at: MANY }) }
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(super) fn find(&self, digest: &[u8; 32]) -> Option<Arc<Credential>> {
        lock(&self.map).entries.get(digest).cloned()
    }

    pub(super) fn insert(&self, digest: [u8; 32], now: Instant) -> Arc<Credential> {
        let mut map = lock(&self.map);
        if map.entries.len() >= map.sweep_at {
            map.entries
                .retain(|_, credential| Arc::strong_count(credential) > 1 || credential.is_of_use(now));
            map.sweep_at = (2 * map.entries.len()).max(MANY);
        }
        // Another request with the same key may have inserted it.
        match map.entries.entry(digest) {
            Entry::Occupied(entry) => Arc::clone(entry.get()),
            Entry::Vacant(entry) => Arc::clone(entry.insert(Arc::new(Credential::new(&self.parts, now)))),
        }
    }
}

/// The state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CredentialState {
    Unknown,
    /// It was valid, and a statement was refused since.
    Doubtful,
    /// Verified by the database at that time.
    Good {
        since: Instant,
    },
    Wrong,
}

/// Whose a key is; `None` if the database does not accept it.
pub(super) type Answer = Result<Option<Arc<Identity>>, Problem>;
type Look = Shared<Pin<Box<dyn Future<Output = Answer> + Send>>>;

/// A key or token.
pub(super) struct Credential {
    state: Mutex<State>,
    /// Requests in flight.
    pub(super) in_flight: AtomicUsize,
    pub(super) connections: Option<Semaphore>,
    pub(super) files: Semaphore,
    pub(super) body_bytes: Arc<Semaphore>,
}

struct State {
    verification: Verification,
    requests: Bucket,
    used: Instant,
    /// A pending verification.
    look: Option<Look>,
    /// Whose it is, by the last verification: for the log alone.
    identity: Option<Arc<Identity>>,
}

enum Verification {
    Unknown,
    Doubtful,
    Good { since: Instant },
    Wrong { until: Instant },
}

impl Verification {
    fn at(&self, now: Instant) -> CredentialState {
        match *self {
            Verification::Unknown => CredentialState::Unknown,
            Verification::Doubtful => CredentialState::Doubtful,
            Verification::Good { since } => CredentialState::Good { since },
            Verification::Wrong { until } if now < until => CredentialState::Wrong,
            Verification::Wrong { .. } => CredentialState::Unknown,
        }
    }
}

impl Credential {
    fn new(parts: &Parts, now: Instant) -> Credential {
        let state = State {
            verification: Verification::Unknown,
            requests: Bucket::empty(now),
            used: now,
            look: None,
            identity: None,
        };
        Credential {
            state: Mutex::new(state),
            in_flight: AtomicUsize::new(0),
            connections: parts.connections.map(Semaphore::new),
            files: Semaphore::new(parts.files),
            body_bytes: Arc::new(Semaphore::new(parts.body_bytes)),
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
    pub(super) fn pending(&self) -> Option<Look> {
        lock(&self.state).look.clone()
    }

    /// The pending verification, or a new one. `begin` must spawn a task: a waiting request may be dropped, and the
    /// resources would stay taken.
    pub(super) fn look(
        &self,
        begin: impl FnOnce() -> Result<JoinHandle<Answer>, Problem>,
    ) -> Result<Look, Problem> {
        let mut state = lock(&self.state);
        match &state.look {
            Some(look) => Ok(look.clone()),
            None => {
                let task = begin()?;
                let answer: Pin<Box<dyn Future<Output = Answer> + Send>> = Box::pin(async move {
                    let ended = || Problem::internal("the verification of a key was interrupted".to_owned());
                    task.await.unwrap_or_else(|_| Err(ended()))
                });
                Ok(state.look.insert(answer.shared()).clone())
            }
        }
    }

    /// Stores the result of the pending verification.
    pub(super) fn seen(&self, answer: &Answer, now: Instant, parts: &Parts) {
        let mut state = lock(&self.state);
        state.look = None;
        match answer {
            Ok(Some(identity)) => {
                state.verification = Verification::Good { since: now };
                state.identity = Some(Arc::clone(identity));
            }
            Ok(None) => state.verification = Verification::Wrong { until: now + parts.memory },
            Err(_) => {}
        }
    }

    /// Whose it is, once that is known. A revoked key is told by its last owner.
    pub(super) fn identity(&self) -> Option<Arc<Identity>> {
        lock(&self.state).identity.clone()
    }

    /// It may have become invalid.
    pub(super) fn doubt(&self) {
        let mut state = lock(&self.state);
        if matches!(state.verification, Verification::Good { .. }) {
            state.verification = Verification::Doubtful;
        }
    }

    /// Whether an unused entry is worth keeping.
    fn is_of_use(&self, now: Instant) -> bool {
        let state = lock(&self.state);
        match state.verification {
            Verification::Unknown => false,
            Verification::Doubtful | Verification::Good { .. } => {
                now.saturating_duration_since(state.used) < MEMORY
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
    use std::sync::atomic::Ordering;

    use super::*;

    const PARTS: fn() -> Parts = || Parts {
        rate: Limit::per_second(2),
        connections: Some(1),
        files: 1,
        body_bytes: 100,
        memory: Duration::from_secs(1),
    };

    fn somebody() -> Answer {
        let (id, role, project) = ("1".to_owned(), None, None);
        Ok(Some(Arc::new(Identity::Key { id, role, project })))
    }

    fn digest(number: usize) -> [u8; 32] {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_be_bytes());
        digest
    }

    #[test]
    fn a_wrong_key_is_asked_for_again_after_a_while() {
        let (table, now) = (Table::new(PARTS()), Instant::now());
        let credential = table.insert(digest(1), now);
        assert_eq!(credential.enter(now, table.parts()), Ok(CredentialState::Unknown));
        credential.seen(&Ok(None), now, table.parts());
        for _ in 0..10 {
            assert_eq!(credential.enter(now, table.parts()), Ok(CredentialState::Wrong));
        }
        let later = now + Duration::from_secs(1);
        assert_eq!(credential.enter(later, table.parts()), Ok(CredentialState::Unknown));
        credential.seen(&somebody(), later, table.parts());
        assert_eq!(credential.enter(later, table.parts()), Ok(CredentialState::Good { since: later }));
        assert!(credential.enter(later, table.parts()).is_err(), "two a second");
        credential.doubt();
        let even_later = later + Duration::from_secs(1);
        assert_eq!(credential.enter(even_later, table.parts()), Ok(CredentialState::Doubtful));
    }

    #[tokio::test]
    async fn concurrent_requests_with_one_key_share_a_verification() {
        let (table, now) = (Table::new(PARTS()), Instant::now());
        let credential = table.insert(digest(1), now);
        let begun = AtomicUsize::new(0);
        let look = || {
            credential.look(|| {
                begun.fetch_add(1, Ordering::Relaxed);
                Ok(tokio::spawn(async { somebody() }))
            })
        };
        let look = || look().expect("it begins");
        for look in [look(), look(), look()] {
            assert!(matches!(look.await, Ok(Some(_))));
        }
        assert_eq!(begun.load(Ordering::Relaxed), 1);
        credential.seen(&somebody(), now, table.parts());
        assert!(matches!(look().await, Ok(Some(_))));
        assert_eq!(begun.load(Ordering::Relaxed), 2, "and then anew");
    }

    #[test]
    fn keys_that_are_not_good_take_no_more_than_so_much_room() {
        let (table, now) = (Table::new(PARTS()), Instant::now());
        let good = table.insert(digest(0), now);
        good.seen(&somebody(), now, table.parts());
        drop(good);
        for number in 1..5 * MANY {
            let credential = table.insert(digest(number), now);
            credential.seen(&Ok(None), now - Duration::from_secs(2), table.parts());
        }
        let entries = &lock(&table.map).entries;
        assert!(entries.len() <= MANY + 1, "{}", entries.len());
        assert!(entries.contains_key(&digest(0)));
    }
}
