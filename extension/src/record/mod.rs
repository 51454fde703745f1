//! Reads, writes and renders single records.

/// Values as parameters of statements.
pub mod argument;
/// Aggregates of a series in time buckets.
pub mod buckets;
/// Many records by their keys.
pub mod by_keys;
/// References by a text attribute of their target.
pub mod by_text;
/// The attributes of a request → checked changes.
pub mod changes;
/// Compares stored values with new ones.
pub mod comparison;
/// Corrects the series of a record's metric.
pub mod correction;
/// Deletes and restores records.
pub mod deletion;
/// Checks direct INSERT and UPDATE statements.
pub mod direct_dml;
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
/// Values that are valid only if the record already has them.
pub mod kept;
/// The external key in a request.
pub mod key;
/// The modes of an upsert.
pub mod mode;
/// Generates ids of records.
pub mod new_id;
/// Checks the preconditions of a write.
pub mod precondition;
/// Finds one record.
pub mod read;
/// Resolves references.
pub mod reference;
/// The key columns of live and deleted records.
pub mod released;
/// Pages of a series.
pub mod series;
/// Record → JSON.
pub mod shape;
/// The JSON and the entity tag of a record in a response.
pub mod shown;
/// The standard columns in an INSERT.
pub mod standard;
/// Statements on the records of a template. Pure.
pub mod statement;
/// Creates a record, or updates the one with the key.
pub mod upsert;
/// The member `attribute_values` of `verbose=true`.
pub mod verbose;
/// Versions of records, and preconditions on them.
pub mod version;
/// Creates and changes records.
pub mod write;
/// The statements that write the record with a key.
mod write_by_key;
/// Errors of several write operations.
pub mod write_error;
