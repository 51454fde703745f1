//! The severity of a finding.

use clap::ValueEnum;
use serde::Serialize;

/// The severity, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// For information.
    Note,
    /// Something works badly, or will fail in the future.
    Warning,
    /// Something does not work, or a rule is violated.
    Error,
}
