//! A streaming standby: its reads, and the proxy during its promotion.

/// The primary does not respond, and its standby is promoted.
mod promotion;
/// Reads on a standby.
mod reads;
