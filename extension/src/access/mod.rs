//! Who is asking, and what they may do.

/// API keys: issued, found by their hash, revoked.
pub mod api_key;
/// To which role something belongs.
pub mod binding;
/// The caller of a function: a role, and the key it came with.
pub mod caller;
/// What is stored of API keys and tokens.
pub mod credential;
/// The frame of a change of definitions.
pub mod definition_lock;
/// Which condition shows or hides a record.
pub mod explain;
/// When each API key was last used.
pub mod last_use;
/// A template that a request names.
pub mod lookup;
/// What a caller may see and do.
pub mod overview;
/// Row-level security as SQL.
pub mod policy_sql;
/// What a key says about a transaction, carried in a setting.
pub mod principal;
/// Privileges of PostgreSQL on tables.
pub mod privileges;
/// What a role may do with the records of a template.
pub mod rights;
/// The scope of a grant.
pub mod scope;
/// What was granted.
pub mod stored_grant;
/// Grants become policies and privileges of PostgreSQL.
pub mod table_policies;
/// What a grant is about.
pub mod target;
/// Which templates there are for a caller.
pub mod template_list;
/// The records that a caller sees and may write.
pub mod visibility;

pub use caller::{Caller, Right};
