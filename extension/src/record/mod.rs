//! Records: read, written and shown.

/// Values as arguments of statements.
pub mod argument;
/// The checks of direct INSERT and UPDATE statements.
pub mod bare_write;
/// The attributes of a request → checked changes.
pub mod changes;
/// What the record that holds a key has already of what is to be written.
pub mod comparison;
/// Delete and restore.
pub mod deletion;
/// What an UPDATE changes: values, not how they are stored.
pub mod difference;
/// The vector of one record.
pub mod embedding;
/// The SQL functions.
pub mod functions;
/// Pages of a record's history.
pub mod history;
/// The HTTP functions.
pub mod http;
/// Which branches an upsert may take.
pub mod mode;
/// What a write demands of the state that it meets, looked at.
pub mod precondition;
/// One record, found.
pub mod read;
/// References: which record is meant.
pub mod reference;
/// Where a record's key is, live or deleted.
pub mod released;
/// A series, page by page.
pub mod series;
/// Record → JSON.
pub mod shape;
/// A record as JSON, with its version.
pub mod shown;
/// The columns that every table begins with, in an INSERT.
pub mod standard;
/// Statements on the records of a template: pure text.
pub mod statement;
/// Create a record, or update the one that holds the key.
pub mod upsert;
/// What `verbose=true` adds.
pub mod verbose;
/// Versions of records, and conditions on them.
pub mod version;
/// Create and change.
pub mod write;
