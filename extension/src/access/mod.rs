//! Authentication and authorization.
//!
//! Functions run as the owner, to which policies do not apply. Policies apply to every other role except superusers:
//! no role of keyed has BYPASSRLS, and the owner cannot log in. A row of history, series or documents is visible if its
//! record is.

/// API keys: issuing, lookup by hash, last use, revocation.
pub mod api_key;
/// The role that an API key, a grant or an endpoint belongs to.
pub mod binding;
/// The caller of a function: a role, and the API key if there is one.
pub mod caller;
/// Stored hashes of API keys and tokens.
pub mod credential;
/// Locks around changes of definitions.
pub mod definition_lock;
/// The trait of objects that depend on a definition.
pub mod dependent;
/// Explains access to a record.
pub mod explain;
/// Looks up the template or project that a request names.
pub mod lookup;
/// The access overview of a caller (`keyed.me`).
pub mod overview;
/// The privileges of a role on the records of a template.
pub mod permissions;
/// Row-level security as SQL.
pub mod policy_sql;
/// The principal of a transaction, stored in a setting.
pub mod principal;
/// The privileges that can be granted, and the actions that need them.
pub mod privilege;
/// PostgreSQL's table privileges.
pub mod privileges;
/// The scope of a grant.
pub mod scope;
/// Updates scopes and policies when templates change.
pub mod scopes;
/// Stored grants.
pub mod stored_grant;
/// PostgreSQL's policies and privileges for grants.
pub mod table_policies;
/// The target of a grant.
pub mod target;
/// The templates that are visible to a caller.
pub mod template_list;
/// The records that a caller may read and write.
pub mod visibility;

pub use caller::Caller;
pub use privilege::Action;
