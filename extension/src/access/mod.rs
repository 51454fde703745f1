//! Who is asking, and what they may do.

/// API keys: issued, found by their hash, revoked.
pub mod api_key;
/// The caller of a function: a role, and the key it came with.
pub mod caller;
/// What a key says about a transaction, carried in a setting.
pub mod principal;
/// A template as one caller sees it.
pub mod sight;

pub use caller::{Caller, Right};
