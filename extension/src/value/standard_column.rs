//! The standard columns of record tables: their numbers, and the index of external keys.

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
/// The former external key of a deleted record. No slug begins with an underscore. The column's number varies, because older
/// tables have it after their attributes.
pub const RELEASED_KEY: &str = "_released_key";

/// The predicate of the key index, as PostgreSQL deparses it. It is always true, so the index supports all queries and
/// `ON CONFLICT (external_key)`.
///
/// It weakens row locks. PostgreSQL treats a column of a unique index without a predicate as a possible foreign key target, so
/// an update of the column would take a lock that conflicts with writers of references to the record. A deletion would wait
/// for all open transactions that refer to the record, and could deadlock. The predicate is short because PostgreSQL
/// simplifies it in every statement.
pub const KEY_PREDICATE: &str = "(NOT false)";

/// The condition on rows of a history after which their record no longer has its key, as PostgreSQL deparses it. An index
/// with this condition has no entry for other rows.
pub const ENDS_KEY: &str =
    "((operation = ANY (ARRAY['delete'::text, 'purge'::text])) OR (changes ? 'external_key'::text))";
