//! Verifies keys with the database.
//!
//! Keys that have not been verified before have separate limits: the concurrent lookups of an address are limited, they
//! do not count as requests in flight, and they do not delay lookups of keys that were valid.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant as StdInstant;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::credential::{Credential, CredentialState, LookupResult};
use super::failures::Charge;
use super::limits::Admission;
use super::rejection::{too_many_failures, too_many_lookups};
use super::token::CredentialKind;
use crate::problem::Problem;

/// A key to verify, and the address that sent it.
pub(super) struct Lookup<'a> {
    pub(super) admission: &'a Arc<Admission>,
    pub(super) kind: CredentialKind,
    pub(super) credential: &'a Arc<Credential>,
    pub(super) address: IpAddr,
}

/// A charged lookup of an unknown key, and its permit.
struct Unknown {
    charge: Charge,
    _permit: OwnedSemaphorePermit,
}

impl Lookup<'_> {
    /// Verifies the key, or rejects the request.
    pub(super) async fn verify<A>(&self, is_unknown: bool, ask: impl FnOnce() -> A) -> Result<(), Problem>
    where
        A: Future<Output = LookupResult> + Send + 'static,
    {
        match self.is_valid(is_unknown, ask).await? {
            true => Ok(()),
            false => Err(self.reject()),
        }
    }

    /// Whether the key is valid. Concurrent requests with the same key share one lookup.
    pub(super) async fn is_valid<A>(&self, is_unknown: bool, ask: impl FnOnce() -> A) -> Result<bool, Problem>
    where
        A: Future<Output = LookupResult> + Send + 'static,
    {
        let Lookup { admission, credential, address, .. } = self;
        let deadline = Instant::now() + admission.patience;
        let result = match credential.pending() {
            Some(lookup) => lookup.await,
            None if is_unknown => {
                let permit = self.permit(deadline).await?;
                // Another request may have verified the key in the meantime.
                match credential.state(StdInstant::now()) {
                    CredentialState::Good { .. } => return Ok(true),
                    CredentialState::Wrong => return Ok(false),
                    CredentialState::Unknown | CredentialState::Suspect => {}
                }
                let lookup = credential.lookup(|| {
                    let charge = admission.failures.charge(*address, StdInstant::now());
                    let charge = charge.map_err(too_many_failures)?;
                    Ok(self.begin(Some(Unknown { charge, _permit: permit }), deadline, ask()))
                });
                lookup?.await
            }
            None => credential.lookup(|| Ok(self.begin(None, deadline, ask())))?.await,
        };
        result.map(|identity| identity.is_some())
    }

    fn reject(&self) -> Problem {
        self.admission.reject(self.kind, self.address, StdInstant::now())
    }

    /// Acquires a permit for a lookup, after earlier lookups from the same address.
    async fn permit(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, Problem> {
        let permits = self.admission.failures.lookups(self.address, StdInstant::now());
        match timeout_at(deadline, permits.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(too_many_lookups()),
        }
    }

    /// Starts the lookup in its own task, because a waiting request may be dropped, and the permits would not be released.
    fn begin(
        &self,
        unknown: Option<Unknown>,
        deadline: Instant,
        ask: impl Future<Output = LookupResult> + Send + 'static,
    ) -> tokio::task::JoinHandle<LookupResult> {
        let (admission, credential) = (Arc::clone(self.admission), Arc::clone(self.credential));
        tokio::spawn(look_up(admission, self.kind, credential, unknown, deadline, ask))
    }
}

/// Looks the key up and stores the result.
async fn look_up(
    admission: Arc<Admission>,
    kind: CredentialKind,
    credential: Arc<Credential>,
    unknown: Option<Unknown>,
    deadline: Instant,
    ask: impl Future<Output = LookupResult>,
) -> LookupResult {
    let permits = if unknown.is_some() { &admission.lookups } else { &admission.renewals };
    let result = match timeout_at(deadline, permits.acquire()).await {
        Ok(Ok(permit)) => {
            let result = ask.await;
            drop(permit);
            result
        }
        _ => Err(too_many_lookups()),
    };
    credential.store_result(&result, StdInstant::now(), admission.table(kind).parts());
    if let Some(Unknown { charge, .. }) = unknown
        && !matches!(result, Ok(None))
    {
        admission.failures.refund(charge);
    }
    result
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::http::Request;
    use axum::http::request::Parts;
    use clap::Parser;
    use tokio::sync::Semaphore;
    use tokio::task::JoinSet;

    use super::super::address::Peer;
    use super::super::{Admitted, admit};
    use super::*;
    use crate::observation::Identity;
    use crate::settings::bounds::Bounds;

    #[derive(Parser)]
    struct Settings {
        #[command(flatten)]
        bounds: Bounds,
    }

    fn admission(settings: &[&str]) -> Arc<Admission> {
        let Settings { bounds } = Settings::parse_from([&["keyed-proxy"], settings].concat());
        let pulse = Arc::new(super::super::pulse::Pulse::new());
        Arc::new(Admission::new(&bounds, 8, 0, 1 << 20, std::time::Duration::from_secs(60), pulse))
    }

    /// A request from 192.0.2.1.
    fn request() -> Parts {
        let request = Request::builder().extension(Peer(IpAddr::from([192, 0, 2, 1])));
        request.body(()).expect("a request").into_parts().0
    }

    /// A well-formed key, and its digest.
    fn key(number: u8) -> (String, [u8; 32]) {
        let secret = [number; 32];
        let bytes = [&secret[..], &crc32fast::hash(&secret).to_be_bytes()].concat();
        (format!("keyed_1_{}", bs58::encode(bytes).into_string()), secret)
    }

    async fn sent(
        admission: &Arc<Admission>,
        number: u8,
        ask: impl Future<Output = LookupResult> + Send + 'static,
    ) -> Result<Admitted, Problem> {
        let (key, digest) = key(number);
        admit(admission, &mut request(), CredentialKind::ApiKey, key.as_bytes(), digest, || ask).await
    }

    async fn is_valid() -> LookupResult {
        let (id, role, project) = ("1".to_owned(), None, None);
        Ok(Some(Arc::new(Identity::Key { id, role, project })))
    }

    async fn is_not_asked() -> LookupResult {
        panic!("the key is known")
    }

    #[tokio::test]
    async fn unknown_keys_leave_lookups_to_known_keys() {
        let admission = admission(&["--max-requests=1", "--auth-failures=3"]);
        sent(&admission, 0, is_valid()).await.expect("a valid key");
        sent(&admission, 1, is_valid()).await.expect("another");
        let (started, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let mut failed_lookups = JoinSet::new();
        for number in 100..200 {
            let (admission, started, gate) =
                (Arc::clone(&admission), Arc::clone(&started), Arc::clone(&gate));
            failed_lookups.spawn(async move {
                let ask = async move {
                    started.fetch_add(1, Ordering::Relaxed);
                    let _ = gate.acquire().await;
                    Ok(None)
                };
                sent(&admission, number, ask).await.map(drop)
            });
        }
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(started.load(Ordering::Relaxed), 2);
        sent(&admission, 0, is_not_asked()).await.expect("a key that is known to be valid");
        // A known key is verified again without waiting.
        admission.table(CredentialKind::ApiKey).find(&key(1).1).expect("it is known").mark_suspect();
        sent(&admission, 1, is_valid()).await.expect("a key that was valid before");
        gate.close();
        let mut rejected = [0, 0];
        while let Some(outcome) = failed_lookups.join_next().await {
            let problem = outcome.expect("no panic").expect_err("none is valid");
            rejected[usize::from(problem.status() == 429)] += 1;
        }
        assert_eq!((rejected, started.load(Ordering::Relaxed)), ([3, 97], 3));
    }

    #[tokio::test]
    async fn valid_keys_do_not_count_as_failures() {
        let admission = admission(&["--auth-failures=1"]);
        let mut requests = JoinSet::new();
        for number in 0..200 {
            let admission = Arc::clone(&admission);
            requests.spawn(async move { sent(&admission, number, is_valid()).await.map(drop) });
        }
        for outcome in requests.join_all().await {
            outcome.expect("it is valid");
        }
    }

    #[tokio::test]
    async fn failed_lookup_does_not_count_as_failure() {
        let admission = admission(&["--auth-failures=1"]);
        for _ in 0..10 {
            let ask = async { Err(Problem::unavailable("no database", String::new())) };
            let problem = sent(&admission, 0, ask).await.map(drop).expect_err("it is not known");
            assert_eq!(problem.status(), 503);
        }
        sent(&admission, 0, is_valid()).await.expect("a valid key");
    }
}
