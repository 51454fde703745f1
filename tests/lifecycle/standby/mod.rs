//! A streaming standby: what it answers, and what becomes of the proxy when it is promoted.

/// The primary does not respond, and its standby is promoted.
mod promotion;
/// What only reads.
mod reads;
