//! Changes of definitions: templates, attributes, views, grants, and the set-up of a database.

/// The SQL functions of keys, grants and callers.
pub mod access_functions;
/// Changes a template during concurrent writes.
pub mod alter;
/// Adds or changes an attribute of an existing template.
pub mod attribute;
/// The order of texts.
pub mod collation;
/// Gives the column of a text another collation.
pub mod collation_change;
/// Creates a template.
pub mod creation;
/// Statements that create and change tables.
pub mod ddl;
/// The dependents of a definition, in order.
pub mod dependents;
/// What a change of a template would do.
pub mod dry_run;
/// Which texts are embedded.
pub mod embed;
/// Updates pending policies.
pub mod enforce_grants;
/// Objects of others in keyed's schemas.
pub mod foreign;
/// The SQL functions of templates and attributes, for SQL and HTTP.
pub mod functions;
/// Grants privileges.
pub mod grant;
/// Positions in the histories of earlier versions.
pub mod positions;
/// Creates projects.
pub mod project;
/// Drops a project.
pub mod project_removal;
/// Updates policies that could not be updated at once.
pub mod reconcile;
/// Converts tables of older versions, without a column for released keys.
pub mod released;
/// Drops a template.
pub mod removal;
/// Revokes privileges.
pub mod revocation;
/// The rows that describe templates and attributes.
pub mod rows;
/// Runs a script that changes the tables of the state.
pub mod script;
/// Sets up a database and migrates its state.
pub mod setup;
/// Which words stand for others in searches.
pub mod synonyms;
/// Saved views.
pub mod view;
