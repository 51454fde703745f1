//! The pools of connections to one database, of which none keeps a connection that is not used again.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool_postgres::{
    Connect, Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolConfig, QueueMode, RecyclingMethod,
    Runtime, Timeouts,
};
use tokio::task::JoinHandle;
use tokio_postgres::{Config, Error};

use super::trust::Trust;
use crate::settings::Settings;
use keyed_service::tls::database::Connector;

/// The pool of the requests and those beside it.
#[derive(Clone)]
pub(super) struct Pools {
    pub(super) trust: Trust,
    all: Arc<Mutex<Vec<Pool>>>,
}

impl Pools {
    pub(super) fn new(trust: Trust) -> Pools {
        Pools { trust, all: Arc::default() }
    }

    /// Adds a pool of this size.
    pub(super) fn open(
        &self,
        settings: &Settings,
        connector: Connector,
        size: usize,
    ) -> anyhow::Result<Pool> {
        let pool = open(settings, connector, size, self.trust.clone())?;
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(pool.clone());
        Ok(pool)
    }

    /// Gives a connection back to its pool, which keeps it if it may be used again.
    pub(super) fn give_back(&self, client: deadpool_postgres::Client) {
        let opened = Object::metrics(&client).created;
        drop(client);
        // Only now: until it is back, a renewal at the same time does not find it in the pool.
        if !self.trust.holds(opened) {
            self.close_idle();
        }
    }

    /// Closes the idle connections that are not used again. A pool itself checks one only when it takes it, which may be
    /// never.
    pub(super) fn close_idle(&self) {
        for pool in self.all.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            pool.retain(|_, metrics| self.trust.holds(metrics.created));
        }
    }
}

/// Opens the connections of a pool, with the settings of the connector.
struct PoolConnector(Connector);

impl Connect for PoolConnector {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(tokio_postgres::Client, JoinHandle<()>), Error>> + Send + '_>>
    {
        Box::pin(self.0.connect())
    }
}

/// Creates a pool of this size. It opens no connection yet, so the service starts without the database.
fn open(settings: &Settings, connector: Connector, size: usize, trust: Trust) -> anyhow::Result<Pool> {
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
