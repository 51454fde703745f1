//! File formats: bytes → text → rows on import, streaming on export, so that memory does not depend on the size of
//! the file.

/// The format of cells.
pub(crate) mod cell_format;
/// One row of CSV → its cells.
pub(crate) mod cells;
/// Complete rows.
pub(crate) mod chunk;
/// Bytes → text.
pub(crate) mod decode;
/// The format options of an export.
pub(crate) mod form;
/// The file formats.
pub mod format;
/// gzip → bytes.
pub mod gunzip;
/// Rejected rows with their reasons.
pub mod rejected_rows;
/// Text → complete rows, in chunks.
pub(crate) mod rows;
/// Detects the delimiter.
pub(crate) mod sniff;
/// A streamed response.
pub(crate) mod stream;
/// Spreadsheets.
pub(crate) mod xlsx;
