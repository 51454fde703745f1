//! What a check is.

use serde::Serialize;

/// The severity, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// For information.
    Note,
    /// Something works badly, or will fail in the future.
    Warning,
    /// Something does not work, or a rule is violated.
    Error,
}

/// A check.
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// The message if nothing is found.
    pub sound: &'static str,
    /// Of its findings.
    pub severity: Severity,
    /// What must be there.
    pub needs: Needs,
    /// Each row is a finding: a message and a remedy.
    pub query: &'static str,
}

impl Check {
    /// Whether it finds nothing without the privileges of `pg_read_all_stats`: sessions of others and standbys hide what they do.
    pub fn reads_sessions(&self) -> bool {
        self.query.contains("pg_stat_activity") || self.query.contains("pg_stat_replication")
    }
}

/// The prerequisites of a check, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The extension.
    Extension,
    /// The tables of the state.
    State,
}
