//! The API key of the embedding worker, which may be replaced while it works.

use std::sync::{Arc, PoisonError, RwLock};

use crate::caller::Caller;

/// The API key of keyed with which records are embedded. A clone is the same key, also after it was replaced.
#[derive(Clone)]
pub(crate) struct WorkerKey(Arc<RwLock<Arc<Caller>>>);

impl WorkerKey {
    pub(crate) fn new(api_key: &str) -> WorkerKey {
        WorkerKey(Arc::new(RwLock::new(Arc::new(Caller::with_key(api_key.as_bytes())))))
    }

    /// Works with another key from now on: whether it is another.
    pub(crate) fn replace(&self, api_key: &str) -> bool {
        let caller = Caller::with_key(api_key.as_bytes());
        let is_other = caller.token_digest != self.caller().token_digest;
        if is_other {
            *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(caller);
        }
        is_other
    }

    pub(super) fn caller(&self) -> Arc<Caller> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}
