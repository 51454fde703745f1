//! The records of a page, by the access path that costs least.
//!
//! # Access paths
//!
//! | path | reads | in |
//! |---|---|---|
//! | ordered scan | records in the order of the sort index, until the page is full | `paths.rs`, `find.rs` |
//! | lookup | all records that the index of a condition finds, and sorts them | the same |
//! | substring, ordered | the same two without a statement; after the trigram index, only the index of the sort order is read | `substring_rows.rs` |
//! | substring, sorted | the candidates of the trigram index or the whole table, without a statement | `sorted_substrings.rs` |
//! | ranked | matches of full-text terms from the best rank down | `ranked.rs` |
//! | planned | what PostgreSQL plans | `search.rs` |
//!
//! Ordered scan and lookup are for a page without full-text terms over one template, of live records, with at most twenty
//! conditions, in an order that an index has. If no index has the order, only an equality condition with few index entries
//! is looked up. The substring paths are for a page whose only condition is a substring, for a caller who may see all
//! records. PostgreSQL plans everything else, and pages without an index on a selective condition.
//!
//! # Cost model
//!
//! The unit is one record of an ordered scan by id, in which adjacent records are on the same page. Of `n` records a share
//! `d` matches, an index finds a share `f ≥ d`, and the page has `p` records.
//!
//! | path | cost |
//! |---|---|
//! | ordered scan | `p / d` |
//! | lookup | `200 + 3.5 f n`; `200 + 1.5 f n` if the ordered scan would use another index, where each record costs more |
//! | lookup without a statement | the TIDs of the index, `3 f n` entries; then the smaller of all candidates and those up to the end of the page. 30 entries of an index cost one record |
//! | all records | `0.25 n` in place of an ordered scan that no lookup can replace; `0.1 n` without a statement |
//!
//! PostgreSQL estimates `d` from its statistics, which for substrings and lists is often wrong by a factor of a hundred;
//! the wrong path may read every record. So a sample of the first `keyed.sample_size` records (200) of the ordered scan
//! measures `d` and `f`: it fills the page, or chooses the path. Three rules bound the cost of an error:
//!
//! - A sample with fewer than eight matches is repeated four times as large, while it costs less than a quarter of the lookup.
//! - An ordered scan stops after twice the expected number of records, and the paths are compared again with what it found.
//! - A lookup does not run if its index finds more than 0.4 of the records.
//!
//! The entries of an equality condition are counted in its index, up to 1800, which is exact and needs no sample.
//! [`access_path`] has the formulas as pure functions; [`find`] takes the samples and runs the path. The decision "A
//! probe of 200 records selects the access path of a page" has the measurements.

/// The cost model.
pub mod access_path;
/// Takes samples, chooses the access path and runs it.
pub mod find;
/// The statements of access paths.
pub mod paths;
/// Pages in the order of ranks.
pub mod ranked;
/// The records of a page as JSON.
pub mod records;
/// A search while it runs.
pub mod search;
/// The records that full-text terms select.
pub mod selection;
/// Records with a substring, in an order that no index has.
pub mod sorted_substrings;
/// Statements with their arguments.
pub mod statement;
/// Substring patterns, compared in memory.
pub mod substring_pattern;
/// Records with a substring, in an order that an index has.
pub mod substring_rows;
/// The first `n` of many items.
pub mod top_n;
