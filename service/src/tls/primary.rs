//! The primary of several hosts.
//!
//! After a failover, a server that was suspended or isolated may still accept writes, or not respond at all. Every
//! promotion starts a new timeline, so of two servers that accept writes, the one with the higher timeline is the
//! primary. Connections to the other are closed, even if they wait for a response.

use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;
use tokio_postgres::SimpleQueryMessage;

/// Returns the timeline of a primary, in the first eight digits, and its system identifier.
pub(super) const ASK: &str = "select pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), \
                              (select system_identifier from pg_catalog.pg_control_system())";

/// A server that accepts writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Its position in the URL.
    pub(super) host: usize,
    timeline: u32,
    system: String,
}

impl Candidate {
    /// Reads the result of the query; `None` if it is not PostgreSQL's.
    pub(super) fn read(host: usize, result: &[SimpleQueryMessage]) -> Option<Candidate> {
        let row = result.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        })?;
        let timeline = u32::from_str_radix(row.get(0)?.get(..8)?, 16).ok()?;
        Some(Candidate { host, timeline, system: row.get(1)?.to_owned() })
    }

    /// Whether `known` is the newer primary. Timelines of different systems cannot be compared.
    fn is_superseded_by(&self, known: &Candidate) -> bool {
        self.system != known.system || self.timeline < known.timeline
    }
}

/// The latest primary, which all connections with one URL share.
#[derive(Default)]
pub(super) struct Primary {
    latest: watch::Sender<Option<Candidate>>,
    /// The last server that was not accepted, which is logged once.
    rejected: Mutex<Option<Candidate>>,
}

impl Primary {
    /// Its position in the URL.
    pub(super) fn host(&self) -> Option<usize> {
        self.latest.borrow().as_ref().map(|found| found.host)
    }

    /// Whether this server is the primary, that is, its timeline is the highest so far.
    pub(super) fn admits(&self, found: &Candidate) -> bool {
        let (mut is_admitted, mut before) = (true, None);
        self.latest.send_if_modified(|known| {
            let is_older =
                known.as_ref().is_some_and(|it| it.system == found.system && found.is_superseded_by(it));
            is_admitted = !is_older;
            let is_news = is_admitted && known.as_ref() != Some(found);
            if is_news {
                before = known.replace(found.clone());
            }
            is_news
        });
        let (host, timeline) = (found.host + 1, found.timeline);
        let is_logged = || {
            let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
            rejected.replace(found.clone()).is_some_and(|last| last == *found)
        };
        if !is_admitted && !is_logged() {
            tracing::warn!(
                host,
                timeline,
                "host {host} of the database URL accepts writes on a timeline older than that of another primary: it is not \
                 used. If you recovered the database to a point in time, restart keyed-proxy"
            );
        } else if before.is_some_and(|before| before.is_superseded_by(found)) {
            tracing::warn!(host, timeline, "host {host} of the database URL is the new primary");
        }
        is_admitted
    }

    /// Completes when another server becomes the primary.
    pub(super) fn end_of(&self, found: Candidate) -> impl Future<Output = ()> + Send + use<> {
        let mut known = self.latest.subscribe();
        async move {
            let is_over =
                |known: &Option<Candidate>| known.as_ref().is_some_and(|it| found.is_superseded_by(it));
            // The URL was replaced; connections with the old one are closed elsewhere.
            if known.wait_for(is_over).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(host: usize, timeline: u32) -> Candidate {
        Candidate { host, timeline, system: "7".to_owned() }
    }

    #[tokio::test]
    async fn higher_timeline_ends_connections_to_the_lower() {
        let primary = Primary::default();
        assert!(primary.admits(&found(0, 4)));
        let (old, new) = (primary.end_of(found(0, 4)), primary.end_of(found(1, 5)));
        assert!(primary.admits(&found(1, 5)));
        assert_eq!(primary.host(), Some(1));
        old.await;
        let is_over = tokio::select! { biased; () = new => true, () = tokio::task::yield_now() => false };
        assert!(!is_over);
    }

    #[test]
    fn lower_timeline_is_not_the_primary() {
        let primary = Primary::default();
        assert!(primary.admits(&found(1, 5)));
        assert!(!primary.admits(&found(0, 4)));
        assert_eq!(primary.host(), Some(1));
        // Two host names of one server.
        assert!(primary.admits(&found(2, 5)));
    }

    #[tokio::test]
    async fn timelines_of_another_system_are_not_compared() {
        let primary = Primary::default();
        assert!(primary.admits(&found(1, 5)));
        let old = primary.end_of(found(1, 5));
        assert!(primary.admits(&Candidate { host: 0, timeline: 1, system: "8".to_owned() }));
        old.await;
    }
}
