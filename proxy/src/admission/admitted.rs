//! A request that was let in, and what it may take of what all callers share.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tokio::sync::SemaphorePermit;
use tokio_postgres::types::Type;

use super::bucket::Excess;
use super::budget::{self, Reserved};
use super::credential::{Answer, Credential};
use super::{Admission, CredentialKind, too_many_failures};
use crate::database::Database;
use crate::database::Effect::Lookup;
use crate::problem::Problem;
use crate::state::App;

/// A request that was let in. What it uses of the bounds is free again when the last copy is dropped.
#[derive(Clone)]
pub(crate) struct Admitted(Arc<Inner>);

struct Inner {
    app: Arc<App>,
    kind: CredentialKind,
    digest: [u8; 32],
    credential: Arc<Credential>,
    address: IpAddr,
    body: OnceLock<Reserved>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.credential.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.app.admission.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Admitted {
    pub(super) fn new(
        app: &Arc<App>,
        kind: CredentialKind,
        digest: [u8; 32],
        credential: Arc<Credential>,
        address: IpAddr,
    ) -> Result<Admitted, Problem> {
        let admission = &app.admission;
        let all = admission.requests.fetch_add(1, Ordering::Relaxed);
        let own = credential.in_flight.fetch_add(1, Ordering::Relaxed);
        // From here on dropping it takes both back.
        let admitted = Admitted(Arc::new(Inner {
            app: Arc::clone(app),
            kind,
            digest,
            credential,
            address,
            body: OnceLock::new(),
        }));
        if own >= admission.most_requests_of_a_key {
            return Err(too_many_at_once(
                admission.most_requests_of_a_key,
                "this API key has as many requests in flight as it may have",
                "KEYED_KEY_REQUESTS",
            ));
        }
        if all >= admission.most_requests {
            return Err(Problem::unavailable(
                "the service has as many requests in flight as it may have",
                "KEYED_REQUESTS is reached".to_owned(),
            ));
        }
        Ok(admitted)
    }

    fn admission(&self) -> &Admission {
        &self.0.app.admission
    }

    /// Asks the database whether the key is good. Whoever comes with it meanwhile waits for the same answer.
    pub(super) async fn authenticate(&self, is_unknown: bool, now: Instant) -> Result<(), Problem> {
        let Inner { app, kind, digest, credential, address, .. } = &*self.0;
        if is_unknown && let Err(excess) = self.admission().failures.may_guess(*address, now) {
            return Err(too_many_failures(excess));
        }
        let guess = is_unknown.then_some(*address);
        let look = credential.look(|| {
            let (app, kind, digest, credential) = (Arc::clone(app), *kind, *digest, Arc::clone(credential));
            tokio::spawn(async move { look_up(&app, kind, &digest, &credential, guess).await })
        });
        match look.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.admission().refuse(*kind, *address, now)),
            Err(problem) => Err(problem),
        }
    }

    /// Takes note of why a statement in the name of this key was refused. It may be the key: whether it still is good is
    /// asked before the next request, since a trigger of somebody else's may say the same for a reason of its own.
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
                self.admission().table(self.0.kind).parts().connections.unwrap_or_default(),
                "this API key has as many requests at the database as it may have at once",
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
                self.admission().table(self.0.kind).parts().files,
                "this API key has as many files on their way as it may have at once",
                "KEYED_KEY_FILES",
            ));
        };
        match tokio::time::timeout_at(deadline, all.acquire()).await {
            Ok(Ok(all)) => Ok(FilePermit { _own: own, _all: all }),
            _ => Err(Problem::unavailable(
                "as many files as may be are on their way at the moment",
                "no permit for an import or export".to_owned(),
            )),
        }
    }

    /// Room in memory for so many bytes of this request's body, beside what it has.
    pub(crate) async fn reserve(&self, reserved: &mut Option<Reserved>, bytes: usize) -> Result<(), Problem> {
        let deadline = tokio::time::Instant::now() + self.admission().patience;
        let own = Arc::clone(&self.0.credential.body_bytes);
        let Ok(own) = budget::take(own, bytes, deadline).await else {
            return Err(too_many_at_once(
                self.admission().table(self.0.kind).parts().body_bytes,
                "this API key has as many bytes of bodies on their way as it may have at once",
                "KEYED_BODY_BUDGET",
            ));
        };
        let Ok(all) = self.admission().bodies.take(bytes, deadline).await else {
            return Err(Problem::unavailable(
                "the service has no room for the body at the moment",
                "KEYED_BODY_BUDGET is used up".to_owned(),
            ));
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

impl Database {
    /// Whether a key or a token is one, by its digest.
    async fn knows(&self, kind: CredentialKind, digest: &[u8; 32]) -> Result<bool, Problem> {
        let statement = match kind {
            CredentialKind::ApiKey => "select keyed.authenticate($1::bytea)",
            CredentialKind::DeliveryToken => "select keyed_http.knows_delivery_token($1::bytea)",
        };
        let digest = digest.as_slice();
        match self.run(Lookup, statement, &[(&digest, Type::BYTEA)]).await {
            Ok(row) => row.try_get(0).map_err(|error| Problem::internal(format!("not a yes or no: {error}"))),
            Err(problem) if kind.is_refusal(&problem) => Ok(false),
            Err(problem) => Err(problem),
        }
    }
}

fn too_many_at_once(limit: usize, detail: &'static str, setting: &'static str) -> Problem {
    Problem::rate_limited(detail, setting, Excess::at_once(limit))
}

/// Asks the database for a key and takes note of its answer. `guess` is the address that a key comes from which was not
/// known to be good.
async fn look_up(
    app: &App,
    kind: CredentialKind,
    digest: &[u8; 32],
    credential: &Credential,
    guess: Option<IpAddr>,
) -> Answer {
    let admission = &app.admission;
    let answer = match tokio::time::timeout(admission.patience, admission.looks.acquire()).await {
        Ok(Ok(permit)) => {
            let answer = app.database.knows(kind, digest).await;
            drop(permit);
            answer
        }
        _ => Err(Problem::unavailable(
            "too many keys that are not known yet are presented at the moment",
            "no permit to look a key up".to_owned(),
        )),
    };
    let now = Instant::now();
    if let (Ok(false), Some(address)) = (&answer, guess) {
        // What was good once is no guess.
        admission.failures.guessed(address, now);
    }
    credential.seen(&answer, now, admission.table(kind).parts());
    answer
}
