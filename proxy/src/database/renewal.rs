//! Connections after the database URL, or what it names, has changed.

use super::Database;

impl Database {
    /// Uses no open connection for another request: those that are idle are closed now, the others when they are.
    pub(crate) fn renew(&self) {
        self.trust.withdraw_all();
        self.pool.retain(|_, metrics| self.trust.holds(metrics.created));
    }
}
