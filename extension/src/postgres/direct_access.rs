//! The switch for direct access: reading and writing rows without a statement.
//!
//! Starting and ending the executor costs more than reading or writing one row. These modules do without it:
//! [`super::index`] (lookups), [`super::key_order`] and [`super::ordered_index`] (ordered scans), [`super::table`] and
//! [`super::heap`] (sequential scans), [`super::heap_by_index`] and [`super::table_by_text`] (bitmap scans),
//! [`super::insert`], [`super::update`] and [`super::condition`] (a condition on one row). Each needs a table or index in
//! its expected form. Users can change that form. The access then returns [`Unsupported`], and its caller runs a
//! statement, which rarely happens otherwise. With `keyed.direct_access = off`, every direct access returns
//! [`Unsupported`], so tests can run both ways.
//!
//! Three kinds of access ignore the switch, because no statement can replace them:
//! - Policies call [`super::row::exists`], also in parallel workers and in SERIALIZABLE transactions. It must see the latest
//!   commits regardless of the snapshot, and leave no predicate lock.
//! - [`super::gin`] and [`super::text_search`] read no table.
//! - [`super::relation`], [`super::role`] and [`super::statistics`] read PostgreSQL's catalog caches.

use super::superuser_setting::Switch;
use pgrx::pg_sys;
use std::sync::atomic::{AtomicBool, Ordering};

/// The table or index does not have its expected form, or direct access is off. The caller runs a statement.
#[derive(Debug)]
pub struct Unsupported;

/// The setting `keyed.direct_access`.
static IS_ON: AtomicBool = AtomicBool::new(true);

/// Returns [`Unsupported`] if direct access is off.
pub fn require() -> Result<(), Unsupported> {
    if IS_ON.load(Ordering::Relaxed) { Ok(()) } else { Err(Unsupported) }
}

/// Registers the setting. SHOW ALL and `pg_settings` do not list it, because it is for tests.
pub(super) fn register() {
    let switch = Switch {
        name: c"keyed.direct_access",
        variable: &IS_ON,
        flags: pg_sys::GUC_NO_SHOW_ALL | pg_sys::GUC_NOT_IN_SAMPLE,
        summary: c"Lets keyed read and write rows without a statement.",
        details: c"For tests and diagnosis. Off makes keyed slower and changes no results.",
    };
    switch.define();
}
