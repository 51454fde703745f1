//! The standard columns, which every table of ours begins with: their numbers, and the index of keys.

/// `id uuid`.
pub const ID: i16 = 1;
/// `external_key text`.
pub const EXTERNAL_KEY: i16 = 2;
/// `created_at timestamptz`.
pub const CREATED_AT: i16 = 3;
/// `updated_at timestamptz`.
pub const UPDATED_AT: i16 = 4;
/// `deleted_at timestamptz`.
pub const DELETED_AT: i16 = 5;
/// The key that a deleted record had. It is ours, and no slug begins like this. Its number differs: tables that are
/// older than it have it behind their attributes.
pub const RELEASED_KEY: &str = "_released_key";

/// The predicate of the key index, as PostgreSQL writes it back. It is always true, and the planner drops it: the index
/// serves every query, and `ON CONFLICT (external_key)` finds it. Row locks are why it is there. A column of a unique
/// index without predicate counts as one that foreign keys may point to, and whoever changes it takes the lock that
/// excludes even those who write references to the record. A deletion would then wait for every open transaction that
/// refers to the record, and wait in a cycle with some. PostgreSQL drops the predicate anew for every statement that
/// writes, so it is one of the shortest.
pub const KEY_PREDICATE: &str = "(NOT false)";
