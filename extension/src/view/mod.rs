//! Saved views: search bodies under a name, each of them a view of PostgreSQL too.
//!
//! The view of PostgreSQL is named `template__slug`, stands beside the template's table, and asks with the rights of
//! its reader (`security_invoker`): it shows what the reader's policies let through, and whoever may select from the
//! table may select from it. A view that looks for words has none, since documents are read by functions alone.

/// What a view says, checked, and as a statement.
pub mod definition;
/// The SQL functions and the HTTP door.
pub mod functions;
/// A view's body once an attribute is renamed.
mod rename;
/// Views are saved, read and dropped.
pub mod stored;
/// What becomes of views when templates, grants and time zones change.
pub mod upkeep;
