//! The connections that are not shared.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::{
    Connect, Hook, HookError, Manager, ManagerConfig, Pool, PoolConfig, QueueMode, RecyclingMethod, Runtime,
    Timeouts,
};

use super::trust::Trust;
use crate::settings::Settings;
use keyed_service::tls::database::Connector;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Error};

/// Opens the connections of a pool, with the settings of the connector.
struct PoolConnector(Connector);

impl Connect for PoolConnector {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(self.0.connect())
    }
}

/// Creates a pool of this size. It opens no connection yet, so the service starts without the database.
pub(super) fn open(
    settings: &Settings,
    connector: Connector,
    size: usize,
    trust: Trust,
) -> anyhow::Result<Pool> {
    // No statement runs when a connection is taken from the pool: that would be a second round trip for each request. None
    // is needed, since a `Lease` gives no connection back on which anything is going on, and no statement of ours opens a
    // transaction or sets anything that outlives it.
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_connect(connector.config(), PoolConnector(connector), recycling);
    let pool = Pool::builder(manager)
        .pre_recycle(Hook::sync_fn(move |_, metrics| match trust.holds(metrics.created) {
            true => Ok(()),
            false => Err(HookError::message("the connection is too old")),
        }))
        .config(PoolConfig {
            max_size: size,
            timeouts: Timeouts {
                wait: Some(settings.pool_wait),
                create: Some(Duration::from_secs(5)),
                recycle: None,
            },
            // The connection used last has its caches warm, in the server as in the processor.
            queue_mode: QueueMode::Lifo,
        })
        .runtime(Runtime::Tokio1)
        .build()?;
    Ok(pool)
}
