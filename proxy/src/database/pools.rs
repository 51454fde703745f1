//! The pools of connections to one database, of which none keeps a connection that is not used again.

use std::sync::{Arc, Mutex, PoisonError};

use deadpool_postgres::{Client, Object, Pool};

use super::pool;
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
        let pool = pool::open(settings, connector, size, self.trust.clone())?;
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(pool.clone());
        Ok(pool)
    }

    /// Gives a connection back to its pool, which keeps it if it may be used again.
    pub(super) fn give_back(&self, client: Client) {
        let opened = Object::metrics(&client).created;
        drop(client);
        // Only now: until it is back, a renewal at the same time does not find it in the pool.
        if !self.trust.holds(opened) {
            self.close_idle();
        }
    }

    /// Closes the idle connections that are not used again. A pool itself looks at one only when it takes it, which may be
    /// never.
    pub(super) fn close_idle(&self) {
        for pool in self.all.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            pool.retain(|_, metrics| self.trust.holds(metrics.created));
        }
    }
}
