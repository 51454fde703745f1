//! Verifies keys with the database.
//!
//! A key that was not valid before is a guess until the database knows it. Few guesses of an address are looked up at
//! once, and they neither count among the requests in flight nor stand before keys that were valid.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant as StdInstant;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::credential::{Answer, Credential, CredentialState};
use super::failures::Guess;
use super::limits::Admission;
use super::refusal::{too_many_failures, too_many_lookups};
use super::token::CredentialKind;
use crate::problem::Problem;

/// A key to verify, and the address that sent it.
pub(super) struct Lookup<'a> {
    pub(super) admission: &'a Arc<Admission>,
    pub(super) kind: CredentialKind,
    pub(super) credential: &'a Arc<Credential>,
    pub(super) address: IpAddr,
}

/// A guess, and its place among those of its address.
struct Unknown {
    guess: Guess,
    _place: OwnedSemaphorePermit,
}

impl Lookup<'_> {
    /// Verifies the key, or rejects the request.
    pub(super) async fn verify<A>(&self, is_unknown: bool, ask: impl FnOnce() -> A) -> Result<(), Problem>
    where
        A: Future<Output = Answer> + Send + 'static,
    {
        match self.is_valid(is_unknown, ask).await? {
            true => Ok(()),
            false => Err(self.refuse()),
        }
    }

    /// Whether the key is valid. Concurrent requests with the same key wait for the same answer.
    pub(super) async fn is_valid<A>(&self, is_unknown: bool, ask: impl FnOnce() -> A) -> Result<bool, Problem>
    where
        A: Future<Output = Answer> + Send + 'static,
    {
        let Lookup { admission, credential, address, .. } = self;
        let deadline = Instant::now() + admission.patience;
        let answer = match credential.pending() {
            Some(look) => look.await,
            None if is_unknown => {
                let place = self.place(deadline).await?;
                // Another request with this key may have been answered meanwhile.
                match credential.state(StdInstant::now()) {
                    CredentialState::Good { .. } => return Ok(true),
                    CredentialState::Wrong => return Ok(false),
                    CredentialState::Unknown | CredentialState::Doubtful => {}
                }
                let look = credential.look(|| {
                    let guess = admission.failures.guess(*address, StdInstant::now());
                    let guess = guess.map_err(too_many_failures)?;
                    Ok(self.begin(Some(Unknown { guess, _place: place }), deadline, ask()))
                });
                look?.await
            }
            None => credential.look(|| Ok(self.begin(None, deadline, ask())))?.await,
        };
        answer.map(|identity| identity.is_some())
    }

    fn refuse(&self) -> Problem {
        self.admission.refuse(self.kind, self.address, StdInstant::now())
    }

    /// A place for a guess, after those of the same address that came before.
    async fn place(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, Problem> {
        let places = self.admission.failures.lookups(self.address, StdInstant::now());
        match timeout_at(deadline, places.acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(too_many_lookups()),
        }
    }

    /// Asks in a task of its own: a waiting request may be dropped, and the places would stay taken.
    fn begin(
        &self,
        unknown: Option<Unknown>,
        deadline: Instant,
        ask: impl Future<Output = Answer> + Send + 'static,
    ) -> tokio::task::JoinHandle<Answer> {
        let (admission, credential) = (Arc::clone(self.admission), Arc::clone(self.credential));
        tokio::spawn(look_up(admission, self.kind, credential, unknown, deadline, ask))
    }
}

/// Asks the database and stores the answer.
async fn look_up(
    admission: Arc<Admission>,
    kind: CredentialKind,
    credential: Arc<Credential>,
    unknown: Option<Unknown>,
    deadline: Instant,
    ask: impl Future<Output = Answer>,
) -> Answer {
    let places = if unknown.is_some() { &admission.lookups } else { &admission.renewals };
    let answer = match timeout_at(deadline, places.acquire()).await {
        Ok(Ok(permit)) => {
            let answer = ask.await;
            drop(permit);
            answer
        }
        _ => Err(too_many_lookups()),
    };
    credential.seen(&answer, StdInstant::now(), admission.table(kind).parts());
    if let Some(Unknown { guess, .. }) = unknown
        && !matches!(answer, Ok(None))
    {
        admission.failures.take_back(guess);
    }
    answer
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
        Arc::new(Admission::new(&bounds, 8, 1 << 20, std::time::Duration::from_secs(60), pulse))
    }

    /// A request of 192.0.2.1.
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
        ask: impl Future<Output = Answer> + Send + 'static,
    ) -> Result<Admitted, Problem> {
        let (key, digest) = key(number);
        admit(admission, &mut request(), CredentialKind::ApiKey, key.as_bytes(), digest, || ask).await
    }

    async fn is_valid() -> Answer {
        let (id, role, project) = ("1".to_owned(), None, None);
        Ok(Some(Arc::new(Identity::Key { id, role, project })))
    }

    async fn is_not_asked() -> Answer {
        panic!("the key is known")
    }

    #[tokio::test]
    async fn unknown_keys_leave_lookups_to_known_keys() {
        let admission = admission(&["--max-requests=1", "--auth-failures=3"]);
        sent(&admission, 0, is_valid()).await.expect("a valid key");
        sent(&admission, 1, is_valid()).await.expect("another");
        let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let mut guesses = JoinSet::new();
        for number in 100..200 {
            let (admission, begun, gate) = (Arc::clone(&admission), Arc::clone(&begun), Arc::clone(&gate));
            guesses.spawn(async move {
                let ask = async move {
                    begun.fetch_add(1, Ordering::Relaxed);
                    let _ = gate.acquire().await;
                    Ok(None)
                };
                sent(&admission, number, ask).await.map(drop)
            });
        }
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(begun.load(Ordering::Relaxed), 2);
        sent(&admission, 0, is_not_asked()).await.expect("a key that is known to be valid");
        // Whether it still is, the database is asked at once.
        admission.table(CredentialKind::ApiKey).find(&key(1).1).expect("it is known").doubt();
        sent(&admission, 1, is_valid()).await.expect("a key that was valid before");
        gate.close();
        let mut refused = [0, 0];
        while let Some(outcome) = guesses.join_next().await {
            let problem = outcome.expect("no panic").expect_err("none is valid");
            refused[usize::from(problem.status() == 429)] += 1;
        }
        assert_eq!((refused, begun.load(Ordering::Relaxed)), ([3, 97], 3));
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
