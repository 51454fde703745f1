//! The numbers of the standard columns, which every table of ours begins with.

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
