//! Requests that are run once, however often they are sent: the answer is kept by the transaction that had the effect.
//!
//! Only what was committed is kept. A refusal had no effect, so the same request sent again is judged anew.

/// How much the answers of an API key may take.
pub mod capacity;
/// The SQL functions.
pub mod functions;
/// What a repeated answer may show.
pub mod replay;
/// Answers, kept and found.
pub mod store;
