//! The prepared statements of this folder.

use crate::postgres::spi::{Plan, connected};
use pgrx::pg_sys::Oid;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

thread_local! {
    /// Prepared once for each session.
    static PLANS: RefCell<HashMap<String, Rc<Plan>>> = RefCell::default();
}

/// The kept statement of this text, prepared at its first use.
pub(super) fn plan(sql: &str, types: &[Oid]) -> Rc<Plan> {
    if let Some(plan) = PLANS.with_borrow(|plans| plans.get(sql).cloned()) {
        return plan;
    }
    let plan = Rc::new(connected(|spi| spi.prepare(sql, types)));
    PLANS.with_borrow_mut(|plans| plans.insert(sql.to_owned(), Rc::clone(&plan)));
    plan
}
