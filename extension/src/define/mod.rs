//! Changes of definitions: templates, attributes, views, grants, and the set-up of a database.

/// The SQL functions of keys, grants and callers.
pub mod access_functions;
/// Changing a template while others write.
pub mod alter;
/// One attribute of a template that exists.
pub mod attribute;
/// A new template.
pub mod creation;
/// Statements that make and change tables.
pub mod ddl;
/// Which texts are embedded.
pub mod embed;
/// What is done at once of the policies that wait.
pub mod enforce_grants;
/// Objects that others made where only ours belong.
pub mod foreign;
/// The SQL functions of templates and attributes, for SQL and HTTP.
pub mod functions;
/// Privileges are given.
pub mod grant;
/// The end of a project.
pub mod project_removal;
/// Policies follow grants that could not be enforced at once.
pub mod reconcile;
/// Tables of before keys were released.
pub mod released;
/// The end of a template.
pub mod removal;
/// Privileges are taken back.
pub mod revocation;
/// The rows that describe templates and attributes.
pub mod rows;
/// Setting a database up, and moving its state forward.
pub mod setup;
/// Saved views.
pub mod view;
