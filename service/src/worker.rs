//! Shared by all workers of the service. A worker is an ordinary caller: it has an API key, and its statements run with
//! the privileges of the key's role.

use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};

use tokio_postgres::Row;

use crate::statement::{Argument, Statement, digest};

/// The API key of a worker, which can be replaced at run time. Clones share the key.
#[derive(Clone)]
pub struct WorkerKey(Arc<RwLock<[u8; 32]>>);

impl WorkerKey {
    /// Stores only the digest of the key.
    pub fn new(api_key: &str) -> WorkerKey {
        WorkerKey(Arc::new(RwLock::new(digest(api_key.as_bytes()))))
    }

    /// Replaces the key. Returns whether it differs.
    pub fn replace(&self, api_key: &str) -> bool {
        let digest = digest(api_key.as_bytes());
        let is_other = digest != self.digest();
        if is_other {
            *self.0.write().unwrap_or_else(PoisonError::into_inner) = digest;
        }
        is_other
    }

    /// The digest of the key.
    pub fn digest(&self) -> [u8; 32] {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs statements of workers.
pub trait WorkerDatabase: Send + Sync + 'static {
    /// Runs a statement that writes, in a transaction of its own, and returns its row.
    fn write(
        &self,
        key: &WorkerKey,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> impl Future<Output = Result<Row, StatementError>> + Send;
}

/// Why a statement of a worker failed.
#[derive(Debug)]
pub struct StatementError {
    /// For the log.
    pub cause: String,
    /// Whether the database rejected the arguments. Otherwise, it cannot be reached or rejects the key.
    pub is_rejection: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_key_share_its_replacement() {
        let key = WorkerKey::new("keyed_1_a");
        let clone = key.clone();
        assert!(!key.replace("keyed_1_a"));
        assert!(key.replace("keyed_1_b"));
        assert_eq!(clone.digest(), digest(b"keyed_1_b"));
    }
}
