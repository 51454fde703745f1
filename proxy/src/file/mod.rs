//! A file on its way in: bytes → text → rows, piece by piece, so that its size does not matter.

/// Bytes → text.
pub(crate) mod decode;
/// Text → whole rows, in portions.
pub(crate) mod rows;
/// Which character stands between the cells.
pub(crate) mod sniff;
