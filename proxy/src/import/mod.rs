//! Import: a file of any size, cut into portions of whole rows; what they mean, the database decides.
//!
//! ```text
//! body ──source (decode, rows)──▶ Portion ──target (a transaction each, or one for all)──▶ Tally ──▶ report
//!                                    ▲                                      │
//!                                    └──────────────waiting, order───────────┘
//! ```

/// How the answer looks.
pub(crate) mod answer;
/// The form of a file.
pub(crate) mod format;
/// What stands for records of which a row waits.
pub(crate) mod held;
/// What comes after what.
pub(crate) mod order;
/// How many rows go together.
pub(crate) mod portion_sizer;
/// What the caller says of a file.
pub(crate) mod request;
/// The whole way of a file.
pub(crate) mod run;
/// Body → portions.
pub(crate) mod source;
/// What became of the rows.
pub(crate) mod tally;
/// Where portions are written.
pub(crate) mod target;
/// Rows that wait for others.
pub(crate) mod waiting;
