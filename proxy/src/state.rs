//! Shared state of the routes.

use std::sync::Arc;
use std::time::Duration;

use tower_http::cors::CorsLayer;

use crate::admission::Admission;
use crate::admission::min_rate::MinRate;
use crate::changes::Changes;
use crate::cors;
use crate::database::Database;
use crate::database::replica::Replicas;
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::settings::Settings;
use crate::shard::Shard;
use keyed_embedding_worker::embedder::Embedder;
use keyed_service::shutdown::Shutdown;
use keyed_service::tls::database::Connector;

/// Shared state of the routes.
pub struct App {
    /// The shard of the database; none if the service has one database.
    pub shard: Option<Shard>,
    /// Opens the connections to the database.
    pub connector: Connector,
    /// The database connections for requests.
    pub database: Arc<Database>,
    /// The metrics of the process.
    pub metrics: Arc<Metrics>,
    /// The readiness of the database.
    pub readiness: Readiness,
    /// The embedding provider.
    pub embedder: Option<Arc<Embedder>>,
    pub(crate) body_limit: usize,
    pub(crate) body_timeout: Duration,
    /// Admission: authentication and limits.
    pub(crate) admission: Arc<Admission>,
    /// Callers that wait for changes.
    pub(crate) changes: Arc<Changes>,
    /// The minimum rate of request bodies and responses.
    pub(crate) minimum_rate: MinRate,
    /// The maximum time of an export, or of an import in one transaction.
    pub(crate) file_timeout: Duration,
    /// The step of shutdown.
    pub shutdown: Shutdown,
    /// The configured CORS origins.
    pub(crate) cors: Option<CorsLayer>,
    /// The hint on the sign-in page; empty for none.
    #[cfg(feature = "ui")]
    pub(crate) sign_in_hint: String,
}

impl App {
    /// Creates the state. Opens no connection yet.
    pub fn new(settings: &Settings, metrics: Metrics) -> anyhow::Result<App> {
        let embedder = Embedder::new(&settings.embedding)?.map(Arc::new);
        App::with(settings, metrics, embedder, Shutdown::default())
    }

    /// The same with what several databases of a service share.
    pub(crate) fn with(
        settings: &Settings,
        metrics: Metrics,
        embedder: Option<Arc<Embedder>>,
        shutdown: Shutdown,
    ) -> anyhow::Result<App> {
        let metrics = Arc::new(metrics);
        let url = settings.database().map_err(anyhow::Error::msg)?;
        let connector = Connector::new(url).map_err(anyhow::Error::msg)?;
        let database = Arc::new(Database::new(settings, &connector, settings.pool_size, &metrics)?);
        let bounds = &settings.bounds;
        Ok(App {
            shard: settings.shard,
            admission: Arc::new(Admission::new(
                bounds,
                database.connections(),
                database.replicas().map_or(0, Replicas::count),
                settings.body_limit,
                settings.pool_wait,
                Arc::clone(database.pulse()),
            )),
            changes: Arc::new(Changes::new(&database)),
            shutdown,
            readiness: Readiness::new(settings, database.clone())?,
            connector,
            database,
            metrics,
            embedder,
            body_limit: settings.body_limit,
            body_timeout: settings.request_timeout,
            minimum_rate: MinRate::of(bounds),
            file_timeout: bounds.transfer_timeout,
            cors: cors::layer(&cors::origins(&settings.cors_origins).map_err(anyhow::Error::msg)?),
            #[cfg(feature = "ui")]
            sign_in_hint: settings.application.sign_in_hint.clone(),
        })
    }
}
