//! Saved views: named search bodies, each also an SQL view.
//!
//! The SQL view is `template__slug` in the schema of the template's table. It has `security_invoker`, so the policies of
//! the reader apply. Roles with SELECT on the table have SELECT on the view. A view with global_search has no SQL view,
//! because only functions can read documents.

/// Stored views.
pub mod stored;
