//! Options of rendering a filter.

/// Which records a condition is about, on which it depends where their keys are: a deleted record has released its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lives {
    /// Live ones.
    #[default]
    Live,
    /// Deleted ones.
    Deleted,
    /// Both: no index finds them by their keys.
    Any,
}

/// Options of rendering a filter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Which records of the filtered table are looked at. Behind references it is always live ones.
    pub lives: Lives,
    /// The present, in microseconds since 2000-01-01T00:00:00Z; `None` for the time of the transaction.
    pub now: Option<i64>,
    /// Whether records are tested one by one, so that no index has to understand the condition.
    pub one_by_one: bool,
    /// Whether conditions behind references are sets of ids, as in the views of earlier versions.
    pub as_sets: bool,
}
