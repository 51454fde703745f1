//! The prepared statements of this folder.

use crate::postgres::parameter::Parameter;
use crate::postgres::spi::{Connection, Plan, Rows, Snapshot};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

thread_local! {
    /// The session's prepared statements by text.
    static PLANS: RefCell<HashMap<String, Rc<Plan>>> = RefCell::default();
}

/// Runs a statement, which is prepared at its first use.
pub(super) fn run<'c>(spi: &'c Connection, sql: &str, arguments: &[Parameter]) -> Rows<'c> {
    let plan = PLANS.with_borrow(|plans| plans.get(sql).cloned()).unwrap_or_else(|| {
        let plan = Rc::new(spi.prepare(sql, arguments));
        PLANS.with_borrow_mut(|plans| plans.insert(sql.to_owned(), Rc::clone(&plan)));
        plan
    });
    spi.run(&plan, Snapshot::Latest, arguments)
}
