//! Changes of definitions: templates, attributes, views, grants, and the set-up of a database.

/// The SQL functions of keys, grants and callers.
pub mod access_functions;
/// Changes a template during concurrent writes.
pub mod alter;
/// Adds or changes an attribute of an existing template.
pub mod attribute;
/// The collation of strings.
pub mod collation;
/// Changes the collation of an attribute's index, policies and views.
pub mod collation_change;
/// Creates a template.
pub mod creation;
/// Statements that create and change tables.
pub mod ddl;
/// The dependents of a definition, in order.
pub mod dependents;
/// Dry runs of template changes.
pub mod dry_run;
/// The embedded attributes of a template.
pub mod embed;
/// The SQL functions of templates and attributes, for SQL and HTTP.
pub mod functions;
/// Grants privileges.
pub mod grant;
/// Positions in the histories of earlier versions.
pub mod positions;
/// Creates projects, and sets their time zone.
pub mod project;
/// Updates pending policies.
pub mod reconcile;
/// Converts tables of older versions, without a column for released keys.
pub mod released;
/// Drops templates and projects.
pub mod removal;
/// Revokes privileges.
pub mod revocation;
/// The rows that describe templates and attributes.
pub mod rows;
/// Sets up a database and migrates its state.
pub mod setup;
/// The shard of a database.
pub mod shard;
/// The synonyms of a template.
pub mod synonyms;
/// Saved views.
pub mod view;
