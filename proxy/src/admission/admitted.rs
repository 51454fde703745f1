//! An admitted request, and the shared resources that it uses.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use tokio::sync::SemaphorePermit;

use super::budget::{self, Reserved};
use super::credential::Credential;
use super::kind::CredentialKind;
use super::limits::Admission;
use super::refusal::too_many_at_once;
use crate::observation::Observation;
use crate::problem::{Problem, Reason};

/// An admitted request. Its resources are released when the last copy is dropped.
#[derive(Clone)]
pub(crate) struct Admitted(Arc<Inner>);

struct Inner {
    admission: Arc<Admission>,
    kind: CredentialKind,
    credential: Arc<Credential>,
    body: OnceLock<Reserved>,
    /// None in unit tests.
    observation: Option<Observation>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.credential.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.admission.requests.fetch_sub(1, Ordering::Relaxed);
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
            body: OnceLock::new(),
            observation,
        }));
        if own >= admission.most_requests_of_a_key {
            return Err(too_many_at_once(
                Reason::KeyRequests,
                admission.most_requests_of_a_key,
                "this API key has reached its maximum number of requests in flight",
                "KEYED_KEY_REQUESTS",
            ));
        }
        if all >= admission.most_requests {
            return Err(Problem::unavailable(
                "the service has reached its maximum number of requests in flight",
                "KEYED_REQUESTS is reached".to_owned(),
            )
            .with_reason(Reason::Requests));
        }
        Ok(admitted)
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
    pub(crate) fn heed(&self, problem: &Problem) {
        let Inner { kind, credential, .. } = &*self.0;
        if kind.is_refusal(problem) {
            credential.doubt();
        }
    }

    /// A share of the connections to the database: one key cannot have all of them.
    pub(crate) async fn connection(&self) -> Result<Option<SemaphorePermit<'_>>, Problem> {
        let Some(connections) = &self.0.credential.connections else { return Ok(None) };
        match tokio::time::timeout(self.admission().patience, connections.acquire()).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => Err(too_many_at_once(
                Reason::KeyConnections,
                self.admission().table(self.0.kind).parts().connections.unwrap_or_default(),
                "this API key has reached its maximum number of concurrent database requests",
                "KEYED_KEY_CONNECTIONS",
            )),
        }
    }

    /// Leave to have a file on its way.
    pub(crate) async fn file(&self) -> Result<FilePermit<'_>, Problem> {
        let (own, all) = (&self.0.credential.files, &self.admission().files);
        let deadline = tokio::time::Instant::now() + self.admission().patience;
        let Ok(Ok(own)) = tokio::time::timeout_at(deadline, own.acquire()).await else {
            return Err(too_many_at_once(
                Reason::KeyFiles,
                self.admission().table(self.0.kind).parts().files,
                "this API key has reached its maximum number of concurrent imports and exports",
                "KEYED_KEY_FILES",
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
        let deadline = tokio::time::Instant::now() + self.admission().patience;
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

    /// Keeps the room until the request is answered.
    pub(crate) fn keep(&self, reserved: Reserved) {
        let _ = self.0.body.set(reserved);
    }
}

/// A file on its way.
pub(crate) struct FilePermit<'a> {
    _own: SemaphorePermit<'a>,
    _all: SemaphorePermit<'a>,
}
