//! The observation of one request.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::MatchedPath;
use axum::http::{Extensions, Method, Request};
use tokio_postgres::types::PgLsn;
use uuid::Uuid;

use super::facts::{Facts, Identity, SqlState, Step};
use super::request_id::RequestId;
use crate::problem::Reason;
use crate::traces::{Parent, Traces};

/// The resources of a request until its response ends. They are released when the last clone is dropped.
pub(crate) trait Resources: Send + Sync {
    /// Counts the bytes of the response, which stay in memory. Called at most once.
    fn hold(&self, bytes: usize);
}

/// The observation of one request. Clones share it.
#[derive(Clone)]
pub(crate) struct Observation(Arc<Inner>);

struct Inner {
    began: Instant,
    id: RequestId,
    method: &'static str,
    /// The client address. `None` in unit tests.
    address: Option<IpAddr>,
    /// The received bytes of the body.
    received: AtomicU64,
    facts: Mutex<Facts>,
    /// The resources of the request, until the size of its response is known.
    resources: Mutex<Option<Arc<dyn Resources>>>,
    /// The trace of the caller.
    parent: Option<Parent>,
    /// The exporter of spans, if enabled.
    traces: Option<Arc<Traces>>,
}

impl Observation {
    pub(super) fn begin<B>(
        request: &Request<B>,
        address: Option<IpAddr>,
        traces: Option<Arc<Traces>>,
    ) -> Observation {
        Observation(Arc::new(Inner {
            began: Instant::now(),
            id: RequestId::of(request.headers()),
            method: name_of(request.method()),
            address,
            received: AtomicU64::new(0),
            facts: Mutex::default(),
            resources: Mutex::default(),
            parent: Parent::of(request.headers()),
            traces,
        }))
    }

    /// The observation of a request, or a new one in unit tests.
    pub(crate) fn of<B>(request: &mut Request<B>) -> Observation {
        match request.extensions().get::<Observation>() {
            Some(observation) => observation.clone(),
            None => {
                let observation = Observation::begin(request, None, None);
                request.extensions_mut().insert(observation.clone());
                observation
            }
        }
    }

    /// Another one for a part of this request, with its id. What it learns is not in the access log.
    pub(crate) fn aside(&self) -> Observation {
        Observation(Arc::new(Inner {
            began: Instant::now(),
            id: self.0.id.clone(),
            method: self.0.method,
            address: self.0.address,
            received: AtomicU64::new(0),
            facts: Mutex::default(),
            resources: Mutex::default(),
            parent: None,
            traces: None,
        }))
    }

    pub(crate) fn find(extensions: &Extensions) -> Option<Observation> {
        extensions.get().cloned()
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.0.id
    }

    /// The `instance` of a problem in its response.
    pub(crate) fn instance(&self) -> Uuid {
        self.0.id.instance
    }

    /// The method, or `other`.
    pub(crate) fn method(&self) -> &'static str {
        self.0.method
    }

    /// Whether it arrived on a socket, and not from a unit test.
    pub(crate) fn came_by_socket(&self) -> bool {
        self.0.address.is_some()
    }

    /// The address of the client.
    pub(super) fn address(&self) -> Option<IpAddr> {
        self.0.address
    }

    pub(super) fn facts(&self) -> MutexGuard<'_, Facts> {
        // Nothing that can panic half-way runs under the lock.
        self.0.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn routed(&self, route: Option<MatchedPath>) {
        self.facts().route = route;
    }

    pub(crate) fn identified(&self, identity: Option<Arc<Identity>>) {
        self.facts().identity = identity;
    }

    /// The key or the endpoint of the request, if known.
    pub(crate) fn caller(&self) -> Option<String> {
        Some(match self.facts().identity.as_deref()? {
            Identity::Key { id, .. } => format!("key {id}"),
            Identity::Endpoint { slug, project } => {
                format!("endpoint {slug} {}", project.as_deref().unwrap_or_default())
            }
        })
    }

    /// Records the project in the request header. Text that cannot be a slug or id is ignored.
    pub(crate) fn names_project(&self, project: &str) {
        let is_slug = project.len() <= 63
            && project.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_');
        if is_slug {
            self.facts().project = Some(project.to_owned());
        }
    }

    pub(crate) fn rejected(&self, reason: Option<Reason>) {
        if let Some(reason) = reason {
            self.facts().rejection = Some(reason);
        }
    }

    /// Records a phase from `began` until now.
    pub(super) fn phase(&self, step: Step, began: Instant) -> Duration {
        self.facts().add(step, began)
    }

    /// Holds the resources of the request until its response ends.
    pub(crate) fn occupy(&self, resources: Arc<dyn Resources>) {
        *self.resources() = Some(resources);
    }

    pub(super) fn take_resources(&self) -> Option<Arc<dyn Resources>> {
        self.resources().take()
    }

    fn resources(&self) -> MutexGuard<'_, Option<Arc<dyn Resources>>> {
        self.0.resources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn authenticated(&self, began: Instant) {
        self.phase(Step::Authenticate, began);
    }

    pub(crate) fn waited(&self, began: Instant) -> Duration {
        self.phase(Step::Wait, began)
    }

    pub(crate) fn asked(
        &self,
        function: &'static str,
        attempt: u64,
        began: Instant,
        sqlstate: Option<SqlState>,
        replica: Option<u64>,
    ) -> Duration {
        self.phase(Step::Statement { function, attempt, sqlstate, replica }, began)
    }

    /// A write has ended, and the log reached this position.
    pub(crate) fn wrote(&self, position: PgLsn) {
        let mut facts = self.facts();
        facts.position = facts.position.max(Some(position));
    }

    /// The position after the last write, for the caller.
    pub(crate) fn position(&self) -> Option<PgLsn> {
        self.facts().position
    }

    pub(super) fn began(&self) -> Instant {
        self.0.began
    }

    pub(super) fn parent(&self) -> Option<&Parent> {
        self.0.parent.as_ref()
    }

    pub(super) fn traces(&self) -> Option<&Traces> {
        self.0.traces.as_deref()
    }

    /// The time since the request began.
    pub(super) fn age(&self) -> Duration {
        self.0.began.elapsed()
    }

    /// The received bytes of the body.
    pub(super) fn bytes_received(&self) -> u64 {
        self.0.received.load(Ordering::Relaxed)
    }

    pub(super) fn receive(&self, bytes: usize) {
        self.0.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// The name of a method in logs and metrics. Other methods are text from the caller, and are not logged.
fn name_of(method: &Method) -> &'static str {
    let names = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    names.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}
