//! An admitted request, and the shared resources that it uses.
//!
//! Each resource counts towards the limit of the key and the limit of the process, and is released when the request is
//! dropped: a request in flight, a database connection, an import or export, bytes of the body. No request waits longer
//! than `KEYED_POOL_WAIT` for one of them, except an import that has written rows. Before the key is verified, only the
//! client connection counts. Tables of keys and addresses have a maximum size.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use super::budget::{self, Reserved};
use super::credential::Credential;
use super::expectation::{ResponseKind, SMALL};
use super::limits::Admission;
use super::party::PartyName;
use super::rejection::{response_memory_exhausted, too_many_concurrent};
use super::responses::{Exhausted, Holder, ResponseBytes};
use super::shares::{NoShare, Share};
use super::token::CredentialKind;
use crate::observation::{Identity, Observation, Resources};
use crate::problem::{Problem, Reason};

/// An admitted request. Its resources are released when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Admitted(Arc<Inner>);

struct Inner {
    admission: Arc<Admission>,
    kind: CredentialKind,
    credential: Arc<Credential>,
    /// Whether the request waits for changes, and does not count as in flight.
    listens: AtomicBool,
    body: OnceLock<Reserved>,
    /// The bytes of its response, unless it is small.
    response: Mutex<Option<ResponseBytes>>,
    /// `None` in unit tests.
    observation: Option<Observation>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let (own, all) = match self.listens.load(Ordering::Relaxed) {
            true => (&self.credential.listeners, &self.admission.listeners),
            false => (&self.credential.in_flight, &self.admission.requests),
        };
        own.fetch_sub(1, Ordering::Relaxed);
        all.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Resources for Inner {
    fn hold(&self, bytes: usize) {
        let _ = self.resize(bytes, true);
    }
}

impl Inner {
    fn holder(&self) -> Holder {
        let key = self.credential.number;
        Holder { party: PartyName::of(self.credential.identity().as_deref(), key), key }
    }

    /// Counts this many bytes of the response.
    fn resize(&self, bytes: usize, must_be_given: bool) -> Result<(), Exhausted> {
        let mut response = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes <= SMALL {
            *response = None;
            return Ok(());
        }
        let response = response.get_or_insert_with(|| self.admission.responses.enter(self.holder()));
        response.resize(bytes, must_be_given)
    }
}

impl Admitted {
    pub(super) fn new(
        admission: &Arc<Admission>,
        kind: CredentialKind,
        credential: Arc<Credential>,
        observation: Option<Observation>,
    ) -> Result<Admitted, Problem> {
        let all = admission.requests.fetch_add(1, Ordering::Relaxed);
        let own = credential.in_flight.fetch_add(1, Ordering::Relaxed);
        // From here on, dropping it decrements both counters.
        let admitted = Admitted(Arc::new(Inner {
            admission: Arc::clone(admission),
            kind,
            credential,
            listens: AtomicBool::new(false),
            body: OnceLock::new(),
            response: Mutex::default(),
            observation,
        }));
        if own >= admission.max_requests_per_key {
            return Err(too_many_concurrent(
                Reason::KeyRequests,
                admission.max_requests_per_key,
                "this API key has reached its maximum number of requests in flight",
                "KEYED_MAX_REQUESTS_PER_KEY",
            ));
        }
        if all >= admission.max_requests {
            return Err(Problem::unavailable(
                "the service has reached its maximum number of requests in flight",
                "KEYED_MAX_REQUESTS is reached".to_owned(),
            )
            .with_reason(Reason::Requests));
        }
        if let Some(observation) = admitted.observation() {
            let resources: Arc<dyn Resources> = Arc::clone(&admitted.0) as _;
            observation.occupy(resources);
        }
        Ok(admitted)
    }

    /// Marks the request as waiting for changes. It no longer counts as in flight, so it does not use up the limit of
    /// reads and writes.
    pub(crate) fn listen(&self) -> Result<(), Problem> {
        let Inner { admission, credential, listens, .. } = &*self.0;
        let all = admission.listeners.fetch_add(1, Ordering::Relaxed);
        let own = credential.listeners.fetch_add(1, Ordering::Relaxed);
        let rejection = if own >= admission.max_listeners_per_key {
            too_many_concurrent(
                Reason::KeyListeners,
                admission.max_listeners_per_key,
                "this API key has reached its maximum number of requests that wait for changes",
                "KEYED_MAX_LISTENERS",
            )
        } else if all >= admission.max_listeners {
            Problem::unavailable(
                "the service has reached its maximum number of requests that wait for changes",
                "KEYED_MAX_LISTENERS is reached".to_owned(),
            )
            .with_reason(Reason::Listeners)
        } else {
            listens.store(true, Ordering::Relaxed);
            credential.in_flight.fetch_sub(1, Ordering::Relaxed);
            admission.requests.fetch_sub(1, Ordering::Relaxed);
            return Ok(());
        };
        credential.listeners.fetch_sub(1, Ordering::Relaxed);
        admission.listeners.fetch_sub(1, Ordering::Relaxed);
        Err(rejection)
    }

    /// The project of the key, if it has exactly one.
    pub(crate) fn project_of_key(&self) -> Option<String> {
        match self.0.credential.identity().as_deref() {
            Some(Identity::Key { project, .. }) => project.clone(),
            _ => None,
        }
    }

    /// Takes the bytes of its last response, which count until the caller drops them.
    pub(crate) fn take_response(&self) -> Option<ResponseBytes> {
        self.0.response.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The observation of the request.
    pub(crate) fn observation(&self) -> Option<&Observation> {
        self.0.observation.as_ref()
    }

    fn admission(&self) -> &Admission {
        &self.0.admission
    }

    /// If a statement failed because of an invalid key, has the key verified before the next request. The error is not
    /// conclusive, because a user's trigger can raise it too.
    pub(crate) fn recheck_key_if_denied(&self, problem: &Problem) {
        let Inner { kind, credential, .. } = &*self.0;
        if kind.is_rejection(problem) {
            credential.mark_suspect();
        }
    }

    /// Acquires a connection to the primary, or to the replica of this number, and memory for the response.
    pub(crate) async fn acquire(&self, kind: ResponseKind, replica: Option<u64>) -> Result<Share, Problem> {
        let Inner { admission, credential, .. } = &*self.0;
        let (deadline, expected) = (Instant::now() + admission.patience, &credential.expectations);
        let need = || admission.responses.limited_to_key(expected.next(kind));
        // The response of an earlier statement of this request is no longer needed.
        let _ = self.0.resize(0, true);
        while !expected.is_small(kind) {
            // Memory is not reserved while the request waits for a connection, because others could use it meanwhile.
            if admission.responses.wait_for(&self.0.holder(), need, deadline).await.is_err() {
                // The response of a write is sent even if it exceeds the limit, so its expectation is not lowered.
                if kind != ResponseKind::Write {
                    expected.lower(kind);
                }
                return Err(response_memory_exhausted());
            }
            let share = self.connection(deadline, replica).await?;
            if self.0.resize(need(), false).is_ok() {
                return Ok(share);
            }
        }
        self.connection(deadline, replica).await
    }

    /// Whether a response of this kind is expected to be small.
    pub(crate) fn expects_small_response(&self, kind: ResponseKind) -> bool {
        self.0.credential.expectations.is_small(kind)
    }

    /// Counts the bytes of a statement's response. A response that does not fit the limit is rejected, unless it is the
    /// response of a completed write.
    pub(crate) fn receive(&self, kind: ResponseKind, bytes: usize) -> Result<(), Problem> {
        let expected = &self.0.credential.expectations;
        // Nothing was reserved, and the expectation does not change.
        if bytes <= SMALL && expected.is_small(kind) {
            return Ok(());
        }
        expected.record(kind, bytes);
        self.0.resize(bytes, kind == ResponseKind::Write).map_err(|Exhausted| response_memory_exhausted())
    }

    /// Acquires a database connection for a chunk of an import or export.
    pub(crate) async fn acquire_for_transfer(&self) -> Result<Share, Problem> {
        self.connection(Instant::now() + self.admission().patience, None).await
    }

    /// Acquires a connection to a server.
    async fn connection(&self, deadline: Instant, replica: Option<u64>) -> Result<Share, Problem> {
        let admission = self.admission();
        let Holder { party, key } = self.0.holder();
        let index = replica.and_then(|number| usize::try_from(number.checked_sub(1)?).ok());
        let shares = index.and_then(|index| admission.replicas.get(index)).unwrap_or(&admission.connections);
        let share = shares.take(party, key, deadline).await;
        share.map_err(|rejection| match rejection {
            // In this case, no limit of a caller is the cause.
            _ if admission.pulse.is_silent() => Problem::unavailable(
                "the database does not respond",
                "no response to any statement".to_owned(),
            )
            .with_reason(Reason::PoolWait),
            NoShare::KeyLimit(limit) => too_many_concurrent(
                Reason::KeyConnections,
                limit,
                "this API key has reached its maximum number of concurrent database requests",
                "KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY",
            ),
            NoShare::PartyLimit(limit) => too_many_concurrent(
                Reason::RoleConnections,
                limit,
                "the API keys of this role have reached their maximum number of concurrent database requests",
                "KEYED_POOL_SIZE",
            ),
            NoShare::Busy => Problem::unavailable(
                "every connection to the database is busy",
                "no connection for another request of this role".to_owned(),
            )
            .with_reason(Reason::PoolWait),
        })
    }

    /// Acquires a permit for an import or export.
    pub(crate) async fn file(&self) -> Result<FilePermit<'_>, Problem> {
        let (own, all) = (&self.0.credential.files, &self.admission().files);
        let deadline = Instant::now() + self.admission().patience;
        let Ok(Ok(own)) = tokio::time::timeout_at(deadline, own.acquire()).await else {
            return Err(too_many_concurrent(
                Reason::KeyFiles,
                self.admission().table(self.0.kind).parts().files,
                "this API key has reached its maximum number of concurrent imports and exports",
                "KEYED_MAX_TRANSFERS_PER_KEY",
            ));
        };
        match tokio::time::timeout_at(deadline, all.acquire()).await {
            Ok(Ok(all)) => Ok(FilePermit { _own: own, _all: all }),
            _ => Err(Problem::unavailable(
                "the service has reached its maximum number of concurrent imports and exports",
                "no permit for an import or export".to_owned(),
            )
            .with_reason(Reason::Files)),
        }
    }

    /// Reserves memory for this many more bytes of this request's body.
    pub(crate) async fn reserve(&self, reserved: &mut Option<Reserved>, bytes: usize) -> Result<(), Problem> {
        let deadline = Instant::now() + self.admission().patience;
        let own = Arc::clone(&self.0.credential.body_bytes);
        let Ok(own) = budget::take(own, bytes, deadline).await else {
            return Err(too_many_concurrent(
                Reason::KeyBodyBudget,
                self.admission().table(self.0.kind).parts().body_bytes,
                "this API key has reached its maximum memory for request bodies",
                "KEYED_BODY_BUDGET",
            ));
        };
        let Ok(all) = self.admission().bodies.take(bytes, deadline).await else {
            return Err(Problem::unavailable(
                "the service has no memory for the body at the moment",
                "KEYED_BODY_BUDGET is used up".to_owned(),
            )
            .with_reason(Reason::BodyBudget));
        };
        match reserved {
            Some(reserved) => reserved.add(own, all),
            None => *reserved = Some(Reserved::new(own, all)),
        }
        Ok(())
    }

    /// Holds the reserved memory until the request ends.
    pub(crate) fn keep(&self, reserved: Reserved) {
        let _ = self.0.body.set(reserved);
    }
}

/// The permit for an import or export.
pub(crate) struct FilePermit<'a> {
    _own: SemaphorePermit<'a>,
    _all: SemaphorePermit<'a>,
}
