//! What a statement does, which decides whether it may be sent again.

use crate::admission::ResponseKind;
use crate::metrics::StatementKind;

/// Whether a statement may be sent again when its answer was lost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A read of one row by an index, short enough to be pipelined.
    Lookup,
    Read,
    /// A read that only the primary answers: it needs the latest state, or what a replica does not have.
    PrimaryRead,
    Write,
    /// A write that the database recognises when it is repeated.
    WriteOnce,
}

impl Effect {
    /// Whether a replica may answer.
    pub(super) fn is_for_replicas(self) -> bool {
        matches!(self, Effect::Lookup | Effect::Read)
    }
}

impl From<Effect> for StatementKind {
    fn from(effect: Effect) -> StatementKind {
        match effect {
            Effect::Lookup => StatementKind::Lookup,
            Effect::Read | Effect::PrimaryRead => StatementKind::Read,
            Effect::Write | Effect::WriteOnce => StatementKind::Write,
        }
    }
}

impl From<Effect> for ResponseKind {
    fn from(effect: Effect) -> ResponseKind {
        match effect {
            Effect::Lookup => ResponseKind::Lookup,
            Effect::Read | Effect::PrimaryRead => ResponseKind::Read,
            Effect::Write | Effect::WriteOnce => ResponseKind::Write,
        }
    }
}
