//! The slots of a quota: rows with an amount `used` and an amount `allowed`; the sum of `allowed` is at most the maximum.

use super::{Name, session_state};
use crate::error::{Code, Error};
use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::process_id;
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Plan, Rows, Snapshot};
use crate::template::catalog;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The number of slots of a quota: typical servers run fewer sessions concurrently.
pub(super) const SLOTS: i32 = 64;

/// Slots from this number on are extra slots, created to return an amount when no other slot was unlocked.
pub(super) const EXTRA: i32 = 1000;

/// The day of a slot and the present day, in SQL over `s` and the parameter $3, a time zone.
pub(super) const TODAY: &str = "(clock_timestamp() at time zone $3)::date";

/// The amount that a slot has used today.
pub(super) const USED: &str = "case when s.day >= d.today then s.used else 0 end";

/// The headroom of a slot. If usage exceeds the maximum, it is 0 until the next rebalancing.
pub(super) const HEADROOM: &str =
    "case when s.is_over then 0 else s.allowed - case when s.day >= d.today then s.used else 0 end end";

/// Locks a quota until the transaction ends, shared or exclusively.
pub(super) fn take(project: i32, name: Name, mode: Mode) {
    Quota::new(project, name).lock(mode);
}

/// The time zone of a project's days.
pub(super) fn zone(project: i32) -> String {
    catalog::project_by_id(project).and_then(|project| project.time_zone).unwrap_or_else(|| "UTC".to_owned())
}

/// A quota that is counted in slots.
pub(super) struct Quota {
    project: i32,
    pub(super) name: Name,
    zone: String,
}

impl Quota {
    pub(super) fn new(project: i32, name: Name) -> Quota {
        Quota { project, name, zone: zone(project) }
    }

    pub(super) fn lock(&self, mode: Mode) {
        advisory_lock::lock(LockKind::Quota, self.number(), mode);
    }

    /// Locks it in shared mode, unless a transaction holds it exclusively.
    pub(super) fn try_lock_shared(&self) -> bool {
        advisory_lock::try_lock(LockKind::Quota, self.number(), Mode::Shared)
    }

    pub(super) fn unlock(&self, mode: Mode) {
        advisory_lock::unlock(LockKind::Quota, self.number(), mode);
    }

    pub(super) fn number(&self) -> u64 {
        (self.project as u64) << 8 | self.name as u64
    }

    /// The arguments that begin the list of every statement here.
    pub(super) fn names(&self) -> [Parameter; 3] {
        params![self.project, self.name.text(), &self.zone]
    }

    pub(super) fn run(&self, spi: &Connection, sql: &str, more: &[Parameter]) -> usize {
        self.rows(spi, sql, more).len()
    }

    pub(super) fn rows<'c>(&self, spi: &'c Connection, sql: &str, more: &[Parameter]) -> Rows<'c> {
        let arguments = [&self.names(), more].concat();
        spi.run(&plan(spi, sql, &arguments), Snapshot::Latest, &arguments)
    }

    /// Whether the session's own slot was changed; then its headroom and its ctid are returned.
    pub(super) fn remember(&self, rows: &Rows) -> bool {
        let (left, place) = rows.first::<(i64, String)>().unzip();
        session_state::remember(self.number(), left.unwrap_or_default(), place);
        left.is_some()
    }
}

/// A transaction whose snapshot is older than the quota has read the quota, but cannot read its
/// slots.
pub(super) fn require_written(rows: usize) {
    if rows == 0 {
        Error::new(Code::SerializationFailure, "the quota was set or changed after this transaction began")
            .hint("Run the transaction again.")
            .raise();
    }
}

/// The slot that this session tries first.
pub(super) fn own_slot() -> i32 {
    session_state::slot().unwrap_or_else(|| process_id() % SLOTS)
}

thread_local! {
    /// The statements of this module, prepared once for each session.
    static PLANS: RefCell<HashMap<String, Rc<Plan>>> = RefCell::default();
}

fn plan(spi: &Connection, sql: &str, arguments: &[Parameter]) -> Rc<Plan> {
    if let Some(plan) = PLANS.with_borrow(|plans| plans.get(sql).cloned()) {
        return plan;
    }
    let plan = Rc::new(spi.prepare(sql, arguments));
    PLANS.with_borrow_mut(|plans| plans.insert(sql.to_owned(), Rc::clone(&plan)));
    plan
}
