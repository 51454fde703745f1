//! The shards of the service: complete databases, each with the projects and keys of its own range of ids.
//!
//! Each shard has its own [`App`]: pools, gate, limits, readiness, waiting callers. So a shard that is down or slow takes nothing
//! from requests of another. A request goes to one shard, which its address, its project or its key names, and is served by the
//! routes of a single database. Only requests about all projects are sent to all shards.

/// What the head of a request names.
mod address;
/// The shard of a request.
mod choice;
/// Which shard has what.
mod directory;
/// API keys for projects of several shards.
mod keys;
/// Reads the directory.
mod listings;
/// Responses of several shards as one.
mod merge;
/// The routes.
mod routes;
/// The shards and their databases.
mod set;
/// Requests to several shards.
mod spread;

use std::sync::Arc;

use axum::Router;
use futures_util::future::join_all;
use keyed_embedding_worker::embedder::Embedder;
use keyed_service::shutdown::Shutdown;
pub use set::Shards;

use crate::metrics::Metrics;
use crate::readiness::VERSION;
use crate::router::router;
use crate::settings::Settings;
use crate::state::App;

/// The service: one database, or several shards.
pub enum Service {
    /// One database.
    Single(Arc<App>),
    /// Shards.
    Sharded(Arc<Shards>),
}

impl Service {
    /// Opens no connection yet. `metrics` are those of the process.
    pub fn new(settings: &Settings, metrics: Metrics) -> anyhow::Result<Service> {
        let databases = settings.databases().map_err(anyhow::Error::msg)?;
        Ok(match databases.iter().any(|database| database.shard.is_some()) {
            false => Service::Single(Arc::new(App::new(settings, metrics)?)),
            true => Service::Sharded(Arc::new(Shards::new(settings, databases, metrics)?)),
        })
    }

    /// The databases.
    pub fn apps(&self) -> Vec<Arc<App>> {
        match self {
            Service::Single(app) => vec![Arc::clone(app)],
            Service::Sharded(shards) => shards.nodes.iter().map(|node| Arc::clone(&node.app)).collect(),
        }
    }

    /// The metrics of the process.
    pub fn metrics(&self) -> &Arc<Metrics> {
        match self {
            Service::Single(app) => &app.metrics,
            Service::Sharded(shards) => &shards.metrics,
        }
    }

    /// The embedding provider, which the databases share.
    pub fn embedder(&self) -> Option<&Arc<Embedder>> {
        self.any().embedder.as_ref()
    }

    /// The steps of shutdown, which the databases share.
    pub fn shutdown(&self) -> &Shutdown {
        &self.any().shutdown
    }

    /// All that is served.
    pub fn router(&self) -> Router {
        match self {
            Service::Single(app) => router(Arc::clone(app)),
            Service::Sharded(shards) => routes::router(shards),
        }
    }

    /// Starts what runs beside requests: checks of the databases, and reading which shard has which project.
    pub fn watch(&self) {
        for app in self.apps() {
            let database = Arc::clone(&app.database);
            tokio::spawn(async move { app.readiness.watch().await });
            tokio::spawn(async move {
                if let Some(replicas) = database.replicas() {
                    replicas.watch(VERSION).await;
                }
            });
        }
        let Service::Sharded(shards) = self else { return };
        for node in &shards.nodes {
            tokio::spawn(Arc::clone(&shards.listings).watch(node.shard));
        }
    }

    /// Waits until each database has responded, or has not for a second.
    pub async fn probe(&self) {
        let apps = self.apps();
        join_all(apps.iter().map(|app| app.readiness.extension_version())).await;
        if let Service::Sharded(shards) = self {
            shards.listings.refresh().await;
        }
    }

    fn any(&self) -> &App {
        match self {
            Service::Single(app) => app,
            Service::Sharded(shards) => &shards.nodes[0].app,
        }
    }
}
