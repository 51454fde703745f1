//! A file on its way in, bytes → text → rows, or out: piece by piece, so that its size does not matter.

/// Bytes → text.
pub(crate) mod decode;
/// An answer in pieces.
pub(crate) mod pieces;
/// Text → whole rows, in portions.
pub(crate) mod rows;
/// Which character stands between the cells.
pub(crate) mod sniff;
