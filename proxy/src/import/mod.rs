//! Import: splits a file of any size into chunks of complete rows, which the database parses.
//!
//! ```text
//! body ──source (decode, rows)──▶ Chunk ──target (a transaction each, or one for all)──▶ Tally ──▶ report
//!                                    ▲                                      │
//!                                    └─────────────────waiting────────────────┘
//! ```
//!
//! The proxy decodes the file, finds the ends of rows and rejects rows with invalid quotes (`file/rows/`). Memory does
//! not grow with the file, and a superfluous quote affects only one line. The attribute types of the extension
//! (`attribute_type/`) parse the cells.

/// The size of chunks.
pub(crate) mod chunk_sizer;
/// Deferred rows, which wait for the records that they reference.
pub(crate) mod deferred;
/// The deletion of mode=mirror.
pub(crate) mod deletion;
/// Errors for files and rows that cannot be read.
pub(crate) mod errors;
/// The format of a file.
pub(crate) mod format;
/// The preview of a file in a dry run.
pub mod preview;
/// The options of an import.
pub(crate) mod request;
/// The format of the response.
pub(crate) mod response_format;
/// Runs an import.
pub(crate) mod run;
/// Spreadsheet → chunks.
pub(crate) mod sheet;
/// Body → chunks.
pub(crate) mod source;
/// The suggested format of a file.
pub(crate) mod suggestion;
/// The report.
pub(crate) mod tally;
/// Writes chunks.
pub(crate) mod target;
/// Warnings about possibly unintended effects.
pub(crate) mod warnings;
