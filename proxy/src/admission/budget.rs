//! The shared resources.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Bytes in memory, for the bodies of all requests together.
pub(super) struct Budget(Arc<Semaphore>);

/// Nothing came free in time.
pub(super) struct UsedUp;

impl Budget {
    pub(super) fn new(bytes: usize) -> Budget {
        Budget(Arc::new(Semaphore::new(bytes)))
    }

    pub(super) async fn take(&self, bytes: usize, deadline: Instant) -> Result<OwnedSemaphorePermit, UsedUp> {
        take(Arc::clone(&self.0), bytes, deadline).await
    }
}

/// Permits of a semaphore, first come, first served, however many are requested.
pub(super) async fn take(
    semaphore: Arc<Semaphore>,
    number: usize,
    deadline: Instant,
) -> Result<OwnedSemaphorePermit, UsedUp> {
    let number = u32::try_from(number).map_err(|_| UsedUp)?;
    match timeout_at(deadline, semaphore.acquire_many_owned(number)).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(UsedUp),
    }
}

/// Bytes of a body, taken from the part of its key and from the whole.
pub(crate) struct Reserved {
    own: OwnedSemaphorePermit,
    all: OwnedSemaphorePermit,
}

impl Reserved {
    pub(super) fn new(own: OwnedSemaphorePermit, all: OwnedSemaphorePermit) -> Reserved {
        Reserved { own, all }
    }

    pub(super) fn add(&mut self, own: OwnedSemaphorePermit, all: OwnedSemaphorePermit) {
        self.own.merge(own);
        self.all.merge(all);
    }
}
