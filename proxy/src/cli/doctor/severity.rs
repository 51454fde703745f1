//! How bad a finding is.

use clap::ValueEnum;
use serde::Serialize;

/// How bad it is, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// Worth knowing.
    Note,
    /// Something does not work as it should, or will not one day.
    Warning,
    /// Something does not work, or rules do not hold.
    Error,
}
