//! Saved views: search bodies under a name, each of them a view of PostgreSQL too.
//!
//! The view of PostgreSQL is named `template__slug`, stands beside the template's table, and asks with the rights of
//! its reader (`security_invoker`): it shows what the reader's policies let through, and whoever may select from the
//! table may select from it. A view that looks for words has none, since documents are read by functions alone.

/// Views as they are stored.
pub mod stored;
