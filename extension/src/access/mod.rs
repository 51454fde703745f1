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
/// Grants become policies and privileges of PostgreSQL.
pub mod enforcement;
/// Which condition shows or hides a record.
pub mod explain;
/// What was granted.
pub mod granted;
/// When each API key was last used.
pub mod last_use;
/// Which templates there are for a caller.
pub mod listed;
/// A template that a request names.
pub mod lookup;
/// What a caller may see and do.
pub mod overview;
/// Row-level security as SQL.
pub mod policy;
/// What a key says about a transaction, carried in a setting.
pub mod principal;
/// Privileges of PostgreSQL on tables.
pub mod privileges;
/// What a role may do with the records of a template.
pub mod rights;
/// The scope of a grant.
pub mod scope;
/// A template as one caller sees it.
pub mod sight;
/// What a grant is about.
pub mod target;

pub use caller::{Caller, Right};
