//! Import: splits a file of any size into portions of complete rows; the database interprets them.
//!
//! ```text
//! body ──source (decode, rows)──▶ Portion ──target (a transaction each, or one for all)──▶ Tally ──▶ report
//!                                    ▲                                      │
//!                                    └─────────────────waiting────────────────┘
//! ```
//!
//! The proxy decodes, finds the ends of rows and rejects rows that break the rules of quotes (`file/rows/`). So memory
//! does not grow with the file, and a quote too many costs one line. The types in `attribute_type/` of the extension
//! interpret cells.

/// The format of the response.
pub(crate) mod answer;
/// What a mirror deletes.
pub(crate) mod deletion;
/// Why a file or a row cannot be read.
pub(crate) mod faults;
/// The format of a file.
pub(crate) mod format;
/// The size of portions.
pub(crate) mod portion_sizer;
/// What a dry run shows of a file.
pub mod preview;
/// The options of an import.
pub(crate) mod request;
/// Runs an import.
pub(crate) mod run;
/// Spreadsheet → portions.
pub(crate) mod sheet;
/// Body → portions.
pub(crate) mod source;
/// The format that a file may be in.
pub(crate) mod suggestion;
/// The report.
pub(crate) mod tally;
/// Writes portions.
pub(crate) mod target;
/// Rows that wait for the records that they reference.
pub(crate) mod waiting;
/// Effects that may be unintended.
pub(crate) mod warnings;
