//! The shards of the service, each with what serves one database.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use keyed_embedding_worker::embedder::Embedder;
use keyed_service::shutdown::Shutdown;
use tower_http::cors::CorsLayer;

use super::listings::Listings;
use crate::cors;
use crate::metrics::Metrics;
use crate::router::router;
use crate::settings::Settings;
use crate::shard::Shard;
use crate::state::App;

/// The part of the request timeout within which a shard must respond to a request about all projects.
const PART_OF_TIMEOUT: u32 = 10;

/// The shards of the service, in the order of their numbers.
pub struct Shards {
    pub(super) nodes: Vec<Node>,
    pub(super) listings: Arc<Listings>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) cors: Option<CorsLayer>,
    pub(super) deadline: Duration,
}

/// One shard.
pub(super) struct Node {
    pub(super) shard: Shard,
    pub(super) app: Arc<App>,
    /// The routes of a single database.
    pub(super) router: Router,
}

impl Shards {
    /// Opens no connection yet.
    pub(super) fn new(
        settings: &Settings,
        databases: Vec<Settings>,
        metrics: Metrics,
    ) -> anyhow::Result<Shards> {
        let embedder = Embedder::new(&settings.embedding)?.map(Arc::new);
        let shutdown = Shutdown::default();
        let (mut nodes, mut listed) = (Vec::new(), Vec::new());
        for mut of_shard in databases {
            let Some(shard) = of_shard.shard else { continue };
            // Once for all shards, below.
            of_shard.cors_origins.clear();
            let app = App::with(&of_shard, Metrics::of_shard(shard), embedder.clone(), shutdown.clone())?;
            listed.push((shard, app.database.beside(&of_shard)?));
            let app = Arc::new(app);
            nodes.push(Node { shard, router: router(Arc::clone(&app)), app });
        }
        Ok(Shards {
            nodes,
            listings: Arc::new(Listings::new(listed)),
            metrics: Arc::new(metrics),
            cors: cors::layer(&cors::origins(&settings.cors_origins).map_err(anyhow::Error::msg)?),
            deadline: settings.request_timeout / PART_OF_TIMEOUT,
        })
    }

    /// The shard with this number.
    pub(super) fn node(&self, shard: Shard) -> Option<&Node> {
        self.nodes.iter().find(|node| node.shard == shard)
    }
}
