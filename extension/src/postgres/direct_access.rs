//! Whether rows are found and inserted without a statement: a switch for tests and diagnosis.
//!
//! These modules do the executor's work themselves, because starting and ending it costs more than the work:
//! [`super::index`] (rows by an index), [`super::table`] and [`super::heap`] (rows page by page), [`super::insert`]
//! (rows into a table), [`super::identity`] (their numbers), [`super::index_entries`] (how many entries an index has),
//! [`super::update`] (one row in place of another) and [`super::condition`] (a condition on one row). Each depends on
//! a shape of the table or index that users can change, and then returns [`Unfit`]; its caller runs a statement
//! instead. That statement rarely runs otherwise. With `keyed.direct_access = off`, every direct access returns
//! [`Unfit`], and the tests run both ways.
//!
//! Three accesses ignore the switch, because no statement does the same:
//! - [`super::row::exists`] is called by policies, also in parallel workers and in SERIALIZABLE transactions. It must
//!   see what is committed now, whatever the snapshot, and leave no predicate lock.
//! - [`super::gin`] and [`super::text_search`] read no table: the index and the parser call or are called with one value.
//! - [`super::relation`], [`super::role`] and [`super::statistics`] read PostgreSQL's own caches of its catalog.

use super::superuser_setting::Switch;
use pgrx::pg_sys;
use std::sync::atomic::{AtomicBool, Ordering};

/// The table or index is not as expected, or direct access is switched off: run a statement.
#[derive(Debug)]
pub struct Unfit;

/// `keyed.direct_access`, written by PostgreSQL.
static IS_ON: AtomicBool = AtomicBool::new(true);

/// Refuses direct access while it is switched off.
pub fn require() -> Result<(), Unfit> {
    if IS_ON.load(Ordering::Relaxed) { Ok(()) } else { Err(Unfit) }
}

/// Registers the setting. SHOW ALL and `pg_settings` do not list it, because it is for tests only.
pub(super) fn register() {
    let switch = Switch {
        name: c"keyed.direct_access",
        variable: &IS_ON,
        flags: pg_sys::GUC_NO_SHOW_ALL | pg_sys::GUC_NOT_IN_SAMPLE,
        says: c"Whether single rows are found and inserted without a statement.",
        more: c"For tests and diagnosis: off makes keyed slower and changes no result.",
    };
    switch.define();
}
