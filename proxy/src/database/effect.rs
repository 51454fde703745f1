//! What a statement does, which decides whether it may be sent again.

use crate::admission::ResponseKind;
use crate::metrics::StatementKind;

/// Whether a statement may be sent again when its answer was lost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A read of one row by an index, short enough to be pipelined.
    Lookup,
    Read,
    Write,
    /// A write that the database recognises when it is repeated.
    WriteOnce,
}

impl From<Effect> for StatementKind {
    fn from(effect: Effect) -> StatementKind {
        match effect {
            Effect::Lookup => StatementKind::Lookup,
            Effect::Read => StatementKind::Read,
            Effect::Write | Effect::WriteOnce => StatementKind::Write,
        }
    }
}

impl From<Effect> for ResponseKind {
    fn from(effect: Effect) -> ResponseKind {
        match effect {
            Effect::Lookup => ResponseKind::Lookup,
            Effect::Read => ResponseKind::Read,
            Effect::Write | Effect::WriteOnce => ResponseKind::Write,
        }
    }
}
