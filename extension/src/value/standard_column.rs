//! The standard columns of every table: their numbers, and the index of keys.

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

/// The predicate of the key index, as PostgreSQL writes it back. It is always true, and the planner removes it: the
/// index serves every query, and `ON CONFLICT (external_key)` uses it. It exists because of row locks: a column of a
/// unique index without a predicate counts as a possible target of foreign keys, so changing it takes a lock that
/// conflicts with writers of references to the record. A deletion would wait for every open transaction that refers
/// to the record, and could deadlock. The predicate is short because PostgreSQL simplifies it in every statement.
pub const KEY_PREDICATE: &str = "(NOT false)";
