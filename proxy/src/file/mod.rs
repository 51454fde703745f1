//! A file on its way in, bytes → text → rows, or out: chunk by chunk, so that its size does not matter.

/// An answer in chunks.
pub(crate) mod chunks;
/// Bytes → text.
pub(crate) mod decode;
/// Text → whole rows, in portions.
pub(crate) mod rows;
/// Which character stands between the cells.
pub(crate) mod sniff;
