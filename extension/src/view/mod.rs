//! Saved views: named search bodies, each also an SQL view.
//!
//! The SQL view is `template__slug`, in the schema of the template's table, with `security_invoker`: it shows what
//! the reader's policies allow, and roles that may select from the table may select from it. A view with
//! global_search has no SQL view, because only functions can read documents.

/// Stored views.
pub mod stored;
