//! File formats: bytes → text → rows on import, streaming on export, so that memory does not depend on the size of
//! the file.

/// The format of cells.
pub(crate) mod cell_format;
/// One row of CSV → its cells.
pub(crate) mod cells;
/// A streamed response.
pub(crate) mod chunks;
/// Bytes → text.
pub(crate) mod decode;
/// The format options of an export.
pub(crate) mod form;
/// The file formats.
pub mod format;
/// gzip → bytes.
pub mod gunzip;
/// Complete rows.
pub(crate) mod portion;
/// Rejected rows with their reasons.
pub mod refused_rows;
/// Text → complete rows, in portions.
pub(crate) mod rows;
/// Detects the delimiter.
pub(crate) mod sniff;
/// Spreadsheets.
pub(crate) mod xlsx;
