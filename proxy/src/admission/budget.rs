//! Shared memory budgets and permits.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The memory for the bodies of all requests.
pub(super) struct Budget(Arc<Semaphore>);

/// No capacity became available in time.
pub(super) struct Exhausted;

impl Budget {
    pub(super) fn new(bytes: usize) -> Budget {
        Budget(Arc::new(Semaphore::new(bytes)))
    }

    pub(super) async fn take(
        &self,
        bytes: usize,
        deadline: Instant,
    ) -> Result<OwnedSemaphorePermit, Exhausted> {
        take(Arc::clone(&self.0), bytes, deadline).await
    }
}

/// Acquires permits of a semaphore in FIFO order, even large numbers.
pub(super) async fn take(
    semaphore: Arc<Semaphore>,
    number: usize,
    deadline: Instant,
) -> Result<OwnedSemaphorePermit, Exhausted> {
    let number = u32::try_from(number).map_err(|_| Exhausted)?;
    match timeout_at(deadline, semaphore.acquire_many_owned(number)).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(Exhausted),
    }
}

/// Reserved bytes of a body, which count towards the limit of the key and the limit of the process.
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
