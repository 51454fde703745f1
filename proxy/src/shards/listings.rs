//! Reads what the shards say of themselves: every few seconds, and when a project is not known.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::future::join_all;
use keyed_service::statement::text;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::directory::{Directory, Listing};
use crate::database::Database;
use crate::database::Effect::Read;
use crate::problem::{Problem, listed};
use crate::shard::Shard;

/// The pause between two readings of a shard.
const PAUSE: Duration = Duration::from_secs(5);

/// The pause between two readings because of unknown projects.
const SOON: Duration = Duration::from_secs(1);

/// The time that a request with an unknown project waits for a shard.
const PATIENCE: Duration = Duration::from_secs(1);

const LISTING: &str = "select keyed_http.shard($1::text)";

/// The directory, and the connections to read it with, which do not wait for those of requests.
pub(super) struct Listings {
    databases: Vec<(Shard, Database)>,
    directory: RwLock<Arc<Directory>>,
    /// Held while a directory is built, so that requests read the previous one.
    building: std::sync::Mutex<()>,
    /// The conflicts that the log names.
    reported: Mutex<Vec<(String, Vec<Shard>)>>,
    refreshed: Mutex<Option<Instant>>,
}

impl Listings {
    pub(super) fn new(databases: Vec<(Shard, Database)>) -> Listings {
        let directory = Directory::new(databases.iter().map(|(shard, _)| *shard));
        Listings {
            databases,
            directory: RwLock::new(Arc::new(directory)),
            building: std::sync::Mutex::default(),
            reported: Mutex::default(),
            refreshed: Mutex::default(),
        }
    }

    /// What is known.
    pub(super) fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads one shard at intervals, as long as the service runs. A shard that does not respond holds up no other.
    pub(super) async fn watch(self: Arc<Listings>, shard: Shard) {
        loop {
            if let Err(problem) = self.read(shard).await {
                tracing::debug!(shard = %shard, cause = problem.cause(), "cannot read the projects of a shard");
            }
            sleep(PAUSE).await;
        }
    }

    /// Reads all shards because a project is not known. Requests that wait share a reading, which begins at most once a second.
    pub(super) async fn refresh(&self) {
        let asked = Instant::now();
        let mut refreshed = self.refreshed.lock().await;
        if let Some(at) = *refreshed {
            if at > asked {
                return;
            }
            sleep_until(at + SOON).await;
        }
        let began = Instant::now();
        let readings = self.databases.iter().map(|(shard, _)| timeout(PATIENCE, self.read(*shard)));
        join_all(readings).await;
        *refreshed = Some(began);
    }

    /// Reads one shard.
    pub(super) async fn read(&self, shard: Shard) -> Result<(), Problem> {
        let Some((_, database)) = self.databases.iter().find(|(known, _)| *known == shard) else {
            return Ok(());
        };
        let known = self.directory().version(shard).map(str::to_owned);
        let row = database.run(Read, LISTING, &[text(&known)]).await?;
        let unexpected = |what: String| Problem::internal(format!("not the listing of a shard: {what}"));
        let columns: Vec<Option<String>> = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
        let [number, Some(version), Some(projects), Some(moved)] = columns.as_slice() else {
            // It has not changed.
            return Ok(());
        };
        // Readiness reports another number, and rejects requests.
        if number.as_deref() != Some(shard.to_string().as_str()) {
            return Ok(());
        }
        let listing = Listing::parse(version.clone(), projects, moved)
            .map_err(|error| unexpected(error.to_string()))?;
        self.store(shard, listing);
        self.report().await;
        Ok(())
    }

    fn store(&self, shard: Shard, listing: Listing) {
        let _building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = Arc::new(self.directory().with(shard, listing));
        *self.directory.write().unwrap_or_else(PoisonError::into_inner) = directory;
    }

    /// Logs conflicts when they change.
    async fn report(&self) {
        let mut reported = self.reported.lock().await;
        let conflicts = self.directory().conflicts();
        if *reported != conflicts {
            for (name, shards) in &conflicts {
                tracing::warn!("{}", conflict(name, shards));
            }
            *reported = conflicts;
        }
    }
}

/// A sentence about what several shards claim.
pub(super) fn conflict(name: &str, shards: &[Shard]) -> String {
    format!("{name} is on shards {}", listed(shards))
}
