//! Records: read, written and shown.

/// Values as arguments of statements.
pub mod argument;
/// The checks of direct INSERT and UPDATE statements.
pub mod bare_write;
/// Buckets of a series.
pub mod buckets;
/// References by a text of their target.
pub mod by_text;
/// The attributes of a request → checked changes.
pub mod changes;
/// Compares a record with the values to write, without a statement.
pub mod comparison;
/// Corrects the series of a record's metric.
pub mod correction;
/// Deletes and restores records.
pub mod deletion;
/// Whether an UPDATE changes a value, apart from its representation.
pub mod difference;
/// Writes that a trigger drops.
pub mod dropped;
/// The vector of one record.
pub mod embedding;
/// The SQL functions.
pub mod functions;
/// Pages of a record's history.
pub mod history;
/// The HTTP functions.
pub mod http;
/// Values that a record may keep and that no record may get.
pub mod kept;
/// The external key in a request.
pub mod key;
/// The modes of an upsert.
pub mod mode;
/// Generates ids of records.
pub mod new_id;
/// Preconditions of a write, checked.
pub mod precondition;
/// Finds one record.
pub mod read;
/// Resolves references.
pub mod reference;
/// Errors that writes share.
pub mod refusal;
/// The key columns of live and deleted records.
pub mod released;
/// Pages of a series.
pub mod series;
/// Record → JSON.
pub mod shape;
/// A record as JSON, with its version.
pub mod shown;
/// The standard columns in an INSERT.
pub mod standard;
/// Statements on the records of a template: pure text.
pub mod statement;
/// Creates a record, or updates the one with the key.
pub mod upsert;
/// The additions of `verbose=true`.
pub mod verbose;
/// Versions of records, and conditions on them.
pub mod version;
/// Creates and changes records.
pub mod write;
/// The statements that write the record with a key.
mod write_by_key;
