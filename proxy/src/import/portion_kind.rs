//! What a portion is for.

/// What the database gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PortionKind {
    /// No rows: only the options are checked. Instead of waiting for another import, the database says who holds the template.
    Attempt,
    /// Rows, or none.
    Some,
    /// Rows after which no further ones come.
    Last,
}
