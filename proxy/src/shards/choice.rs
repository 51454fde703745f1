//! The shard of a request: that of the id in its address, else of its project, else of its API key.
//!
//! A key is valid on the shards of its projects. A request that leads to another shard is sent to the shard that issued the key,
//! which answers as a single database does about a project that a key may not see.

use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use keyed_errors::Code;
use keyed_service::statement::digest;
use tokio::time::timeout;

use super::address::{Named, home_of_key, named};
use super::directory::{Object, Place};
use super::listings::conflict;
use super::set::{Node, Shards};
use crate::authentication::{has_valid_key, knows_key};
use crate::caller::{Ambiguous, credentials};
use crate::problem::{Problem, listed};
use crate::shard::Shard;

/// The time to find out whether a shard knows a key. After that, the request itself finds out.
const PATIENCE: Duration = Duration::from_secs(1);

/// The longest slug.
const MAX_SLUG: usize = 63;

/// Where a part of a request leads.
pub(super) enum Lead<'a> {
    Nowhere,
    To(&'a Node),
    /// The shard is not clear.
    Stop(Problem),
}

impl Shards {
    /// The shard that serves a request.
    pub(super) async fn choose(&self, parts: &mut Parts) -> &Node {
        let home = self.home(&parts.headers);
        let Some((token, project)) = credentials(&parts.headers) else {
            // A delivery, or a request that is rejected or needs no key.
            return match named(&parts.uri) {
                Named::Object(object) => self.lead_of(object).node().unwrap_or(home),
                Named::Project(_) | Named::Nothing => home,
            };
        };
        let lead = match named(&parts.uri) {
            Named::Object(object) => self.lead_of(object),
            Named::Project(project) => self.lead_of_project(&project).await,
            Named::Nothing => Lead::Nowhere,
        };
        let lead = match (lead, project) {
            (Lead::Nowhere, Some(project)) => self.lead_of_project(project).await,
            (lead, _) => lead,
        };
        match lead {
            Lead::Nowhere => home,
            Lead::To(node) if self.accepts(node, home, parts, token).await => node,
            Lead::To(_) => home,
            Lead::Stop(problem) => {
                parts.extensions.insert(Ambiguous(problem));
                home
            }
        }
    }

    /// The shard that issued the key of a request; the first without a key.
    pub(super) fn home(&self, headers: &HeaderMap) -> &Node {
        let issued = credentials(headers).and_then(|(token, _)| home_of_key(token));
        issued.and_then(|shard| self.node(shard)).unwrap_or(&self.nodes[0])
    }

    /// The shard of an object.
    fn lead_of(&self, object: Object) -> Lead<'_> {
        self.lead(self.listings.directory().of(object), || "this id".to_owned())
    }

    /// The shard of a project, by slug or id. Unless it is known, the shards are asked.
    pub(super) async fn lead_of_project(&self, name: &str) -> Lead<'_> {
        let known = self.listings.directory().of_project(name);
        let place = match known {
            Place::Unknown if is_slug(name) => {
                self.listings.refresh().await;
                self.listings.directory().of_project(name)
            }
            place => place,
        };
        let unread = self.listings.directory().unread();
        if place == Place::Unknown && is_slug(name) && !unread.is_empty() {
            let cause = format!("the project {name} may be on shards without a response since the start");
            return Lead::Stop(Problem::unavailable_shards(unread, cause));
        }
        self.lead(place, || format!("the project {name}"))
    }

    fn lead(&self, place: Place, name: impl FnOnce() -> String) -> Lead<'_> {
        match place {
            Place::Unknown => Lead::Nowhere,
            Place::One(shard) => self.node(shard).map_or(Lead::Nowhere, Lead::To),
            Place::Several(shards) => Lead::Stop(ambiguous(&name(), &shards)),
        }
    }

    /// Whether a request with this key is sent to a shard, rather than to the one that issued the key. Unless that one knows the
    /// key as valid, the shard decides.
    pub(super) async fn accepts(&self, node: &Node, home: &Node, parts: &Parts, token: &[u8]) -> bool {
        let digest = digest(token);
        if node.shard == home.shard || has_valid_key(&node.app, &digest) {
            return true;
        }
        let is_valid = timeout(PATIENCE, knows_key(&home.app, parts, token, digest, false)).await;
        if !matches!(is_valid, Ok(Ok(true))) {
            return true;
        }
        let is_known = timeout(PATIENCE, knows_key(&node.app, parts, token, digest, true)).await;
        !matches!(is_known, Ok(Ok(false)))
    }
}

impl<'a> Lead<'a> {
    fn node(self) -> Option<&'a Node> {
        match self {
            Lead::To(node) => Some(node),
            Lead::Nowhere | Lead::Stop(_) => None,
        }
    }
}

/// The response to a request for what several shards claim.
fn ambiguous(name: &str, shards: &[Shard]) -> Problem {
    Problem::new(Code::Conflict, conflict(name, shards)).with_hint(&format!(
        "Send the id of the project in X-Service-Project-Id. An administrator renames the project on one of the shards {}.",
        listed(shards)
    ))
}

/// Whether a project can have this slug.
pub(super) fn is_slug(name: &str) -> bool {
    name.len() <= MAX_SLUG
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
