//! An admitted request, and the shared resources that it uses.
//!
//! Everything that a request uses of the process counts for its key and in total, and is released when the request is
//! dropped: a slot in flight, a connection, a slot for a file, bytes of its body. No request waits longer than
//! `KEYED_POOL_WAIT` for one of them, except an import that has written a part. Before a key is known to be valid,
//! only its connection counts. Tables of keys and addresses have a maximum size.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use super::budget::{self, Reserved};
use super::credential::Credential;
use super::expectation::{ResponseKind, SMALL};
use super::limits::Admission;
use super::party::PartyName;
use super::refusal::{no_room_for_responses, too_many_at_once};
use super::responses::{Holder, ResponseBytes, UsedUp};
use super::shares::{NoShare, Share};
use super::token::CredentialKind;
use crate::observation::{Identity, Observation, Resources};
use crate::problem::{Problem, Reason};

/// An admitted request. Its resources are released when the last copy is dropped.
#[derive(Clone)]
pub(crate) struct Admitted(Arc<Inner>);

struct Inner {
    admission: Arc<Admission>,
    kind: CredentialKind,
    credential: Arc<Credential>,
    /// Whether it waits for changes, and is not among the requests in flight.
    listens: AtomicBool,
    body: OnceLock<Reserved>,
    /// What its response takes, if it is not small.
    response: Mutex<Option<ResponseBytes>>,
    /// None in unit tests.
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
    fn resize(&self, bytes: usize, must_be_given: bool) -> Result<(), UsedUp> {
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
        // From here on dropping it takes both back.
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
            return Err(too_many_at_once(
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

    /// The request waits for changes from now on. It is no longer among those in flight, so it takes no place of reads and writes.
    pub(crate) fn listen(&self) -> Result<(), Problem> {
        let Inner { admission, credential, listens, .. } = &*self.0;
        let all = admission.listeners.fetch_add(1, Ordering::Relaxed);
        let own = credential.listeners.fetch_add(1, Ordering::Relaxed);
        let refusal = if own >= admission.max_listeners_per_key {
            too_many_at_once(
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
        Err(refusal)
    }

    /// The project of the key, if it has exactly one.
    pub(crate) fn project_of_key(&self) -> Option<String> {
        match self.0.credential.identity().as_deref() {
            Some(Identity::Key { project, .. }) => project.clone(),
            _ => None,
        }
    }

    /// What its last response takes, for as long as the caller keeps it.
    pub(crate) fn take_response(&self) -> Option<ResponseBytes> {
        self.0.response.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What is known of the request.
    pub(crate) fn observation(&self) -> Option<&Observation> {
        self.0.observation.as_ref()
    }

    fn admission(&self) -> &Admission {
        &self.0.admission
    }

    /// Reacts to an error of a statement of this key. If it says that the key is invalid, the key is verified before
    /// the next request, because a user's trigger may raise the same error.
    pub(crate) fn recheck_key_if_denied(&self, problem: &Problem) {
        let Inner { kind, credential, .. } = &*self.0;
        if kind.is_refusal(problem) {
            credential.doubt();
        }
    }

    /// Permission to ask the primary, or the replica of this number, for a response: a connection, and capacity for the response.
    pub(crate) async fn leave(&self, kind: ResponseKind, replica: Option<u64>) -> Result<Share, Problem> {
        let Inner { admission, credential, .. } = &*self.0;
        let (deadline, expected) = (Instant::now() + admission.patience, &credential.expectations);
        let need = || admission.responses.part_of_a_key(expected.next(kind));
        // What an earlier statement of this request has answered is used by now.
        let _ = self.0.resize(0, true);
        while !expected.is_small(kind) {
            // Room that were reserved before there is a connection would be missing to others.
            if admission.responses.room(&self.0.holder(), need, deadline).await.is_err() {
                // The true size of a write does not decide: its response is given in any case.
                if kind != ResponseKind::Write {
                    expected.doubt(kind);
                }
                return Err(no_room_for_responses());
            }
            let share = self.connection(deadline, replica).await?;
            if self.0.resize(need(), false).is_ok() {
                return Ok(share);
            }
        }
        self.connection(deadline, replica).await
    }

    /// Whether a response of this kind is expected to be small.
    pub(crate) fn expects_little(&self, kind: ResponseKind) -> bool {
        self.0.credential.expectations.is_small(kind)
    }

    /// The response to a statement has this many bytes, which count from now on. It is rejected if there is no capacity, unless a
    /// write is done already.
    pub(crate) fn receive(&self, kind: ResponseKind, bytes: usize) -> Result<(), Problem> {
        let expected = &self.0.credential.expectations;
        // Nothing is reserved or known that would change.
        if bytes <= SMALL && expected.is_small(kind) {
            return Ok(());
        }
        expected.learn(kind, bytes);
        self.0.resize(bytes, kind == ResponseKind::Write).map_err(|UsedUp| no_room_for_responses())
    }

    /// Leave to have a file on its way, portion by portion.
    pub(crate) async fn leave_for_file(&self) -> Result<Share, Problem> {
        self.connection(Instant::now() + self.admission().patience, None).await
    }

    /// A share of the connections to a server.
    async fn connection(&self, deadline: Instant, replica: Option<u64>) -> Result<Share, Problem> {
        let admission = self.admission();
        let Holder { party, key } = self.0.holder();
        let place = replica.and_then(|number| usize::try_from(number.checked_sub(1)?).ok());
        let shares = place.and_then(|place| admission.replicas.get(place)).unwrap_or(&admission.connections);
        let share = shares.take(party, key, deadline).await;
        share.map_err(|refusal| match refusal {
            // Then no caller is at fault.
            _ if admission.pulse.is_silent() => Problem::unavailable(
                "the database does not respond",
                "no response to any statement".to_owned(),
            )
            .with_reason(Reason::PoolWait),
            NoShare::KeyLimit(limit) => too_many_at_once(
                Reason::KeyConnections,
                limit,
                "this API key has reached its maximum number of concurrent database requests",
                "KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY",
            ),
            NoShare::PartyLimit(limit) => too_many_at_once(
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

    /// Leave to have a file on its way.
    pub(crate) async fn file(&self) -> Result<FilePermit<'_>, Problem> {
        let (own, all) = (&self.0.credential.files, &self.admission().files);
        let deadline = Instant::now() + self.admission().patience;
        let Ok(Ok(own)) = tokio::time::timeout_at(deadline, own.acquire()).await else {
            return Err(too_many_at_once(
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
            return Err(too_many_at_once(
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

    /// Keeps the capacity until the request is answered.
    pub(crate) fn keep(&self, reserved: Reserved) {
        let _ = self.0.body.set(reserved);
    }
}

/// A file on its way.
pub(crate) struct FilePermit<'a> {
    _own: SemaphorePermit<'a>,
    _all: SemaphorePermit<'a>,
}
