//! A file on its way in, bytes → text → rows, or out: chunk by chunk, so that its size does not matter.

/// One row of CSV → its cells.
pub(crate) mod cells;
/// An answer in chunks.
pub(crate) mod chunks;
/// Bytes → text.
pub(crate) mod decode;
/// Rows that were refused, with the reasons.
pub(crate) mod refused_rows;
/// Text → whole rows, in portions.
pub(crate) mod rows;
/// Which character stands between the cells.
pub(crate) mod sniff;
