//! Counts quotas without making writers wait for each other.
//!
//! A quota is divided into slots, rows with an amount `used` and an amount `allowed`; the sum of `allowed` is at most
//! the maximum. A writer adds its usage to a slot that no other transaction has locked, and holds it until the
//! transaction ends: a rollback returns the amount, and while an unlocked slot has headroom, no writer waits for
//! another. Each session starts with its own slot.
//!
//! Only if the unlocked slots have too little headroom must the usage of the others be known: then a writer waits for
//! all of them and distributes the rest again. Writers hold a shared advisory lock, which rebalancing takes
//! exclusively; so they queue and cannot deadlock. Returning an amount waits for nothing.

use super::{Name, Reached, session_state};
use crate::error::{Code, Error};
use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Plan, Rows, Snapshot, connected};
use crate::postgres::{process_id, snapshot};
use crate::template::catalog;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The number of slots of a quota: usual machines run fewer sessions at once.
pub(super) const SLOTS: i32 = 64;

/// Slots from this number on are extra slots, created to return an amount when no other slot was unlocked.
pub(super) const EXTRA: i32 = 1000;

/// The headroom beyond the requested amount, in the session's own slot or in all slots, that makes it likely that no
/// wait is needed.
const AMPLE: [i64; 2] = [4, 32];

/// A remembered headroom this much above the requested amount needs no further check.
const PLENTY: i64 = 256;

/// The day of a slot and the present day, in SQL over `s` and the parameter $3, a time zone.
pub(super) const TODAY: &str = "(clock_timestamp() at time zone $3)::date";

/// What a slot has used today.
pub(super) const USED: &str = "case when s.day >= d.today then s.used else 0 end";

/// The headroom of a slot. If usage exceeds the maximum, it is 0 until the next rebalancing.
pub(super) const HEADROOM: &str =
    "case when s.is_over then 0 else s.allowed - case when s.day >= d.today then s.used else 0 end end";

/// Adds to the usage of a quota; a negative count returns an amount.
pub(super) fn add(project: i32, name: Name, count: i64) -> Result<(), Reached> {
    let quota = Quota::new(project, name);
    as_owner(|| {
        connected(|spi| {
            if count < 0 {
                quota.give_back(spi, count);
                return Ok(());
            }
            quota.take(spi, count)?;
            session_state::record_taken(quota.number(), count);
            Ok(())
        })
    })
}

/// Whether taking this amount may have to wait, as far as can be seen without waiting.
pub(super) fn is_scarce(project: i32, name: Name, count: i64) -> bool {
    let quota = Quota::new(project, name);
    if session_state::had_headroom(quota.number(), count + PLENTY) {
        return false;
    }
    let sql = format!(
        "with d as materialized (select {TODAY} as today) \
         select 1 from d where case when coalesce((select {HEADROOM} from keyed_state.quota_slot s \
           where s.ctid = $7::tid and s.project_id = $1 and s.name = $2 and s.slot = $4), \
           (select {HEADROOM} from keyed_state.quota_slot s \
           where s.project_id = $1 and s.name = $2 and s.slot = $4)) >= $5 then false \
         else (select sum(greatest({HEADROOM}, 0)) from keyed_state.quota_slot s \
           where s.project_id = $1 and s.name = $2) < $6 end"
    );
    let [own, all] = AMPLE.map(|ample| count + ample);
    let place = session_state::place(quota.number());
    as_owner(|| connected(|spi| quota.run(spi, &sql, &params![own_slot(), own, all, place]) > 0))
}

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

    fn unlock(&self, mode: Mode) {
        advisory_lock::unlock(LockKind::Quota, self.number(), mode);
    }

    pub(super) fn number(&self) -> u64 {
        (self.project as u64) << 8 | self.name as u64
    }

    /// The arguments that every statement here begins with.
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

    fn take(&self, spi: &Connection, count: i64) -> Result<(), Reached> {
        self.lock(Mode::Shared);
        if self.take_from_own(spi, count) {
            return Ok(());
        }
        // Nothing was taken. A writer that waits must not block others.
        self.unlock(Mode::Shared);
        if self.transfer_from_others(count) {
            return Ok(());
        }
        self.lock(Mode::Exclusive);
        self.take_exactly(spi, count)
    }

    /// The way of nearly all: the session's own slot is free and has room.
    fn take_from_own(&self, spi: &Connection, count: i64) -> bool {
        if self.change_at_place(spi, count) {
            return true;
        }
        let sql = format!(
            "with d as materialized (select {TODAY} as today) \
             update keyed_state.quota_slot s set used = {USED} + $5, day = greatest(s.day, d.today) from d \
             where s.project_id = $1 and s.name = $2 and s.slot = (select f.slot from keyed_state.quota_slot f \
               where f.project_id = $1 and f.name = $2 and f.slot = $4 and {} >= $5 \
               for update skip locked) and {HEADROOM} >= $5 returning {HEADROOM}, s.ctid::text",
            // Without room its row is not even locked.
            HEADROOM.replace("s.", "f.").replace("d.today", TODAY)
        );
        self.remember(&self.rows(spi, &sql, &params![own_slot(), count]))
    }

    /// Whether something was changed in the session's own slot; then what is left there, and where it is now.
    pub(super) fn remember(&self, rows: &Rows) -> bool {
        let (left, place) = rows.first::<(i64, String)>().unzip();
        session_state::remember(self.number(), left.unwrap_or_default(), place);
        left.is_some()
    }

    /// Takes from the session's own slot, or returns to it, at its remembered ctid. While an old snapshot is open,
    /// row versions are not removed, and an index lookup walks through all of them.
    fn change_at_place(&self, spi: &Connection, count: i64) -> bool {
        let Some(place) = session_state::place(self.number()) else { return false };
        let sql = format!(
            "with d as materialized (select {TODAY} as today) \
             update keyed_state.quota_slot s set used = {USED} + $5, day = greatest(s.day, d.today), \
               allowed = s.allowed + case when s.is_over and $5 < 0 then $5 else 0 end from d \
             where s.ctid = (select f.ctid from keyed_state.quota_slot f where f.ctid = $6::tid \
               and f.project_id = $1 and f.name = $2 and f.slot = $4 and ($5 < 0 or {} >= $5) for update skip locked) \
             and s.project_id = $1 and s.name = $2 and s.slot = $4 and ($5 < 0 or {HEADROOM} >= $5) \
             returning {HEADROOM}, s.ctid::text",
            HEADROOM.replace("s.", "f.").replace("d.today", TODAY)
        );
        let rows = self.rows(spi, &sql, &params![own_slot(), count, place]);
        !rows.is_empty() && self.remember(&rows)
    }

    /// Returns an amount to the session's own slot or to another unlocked one; to an extra slot while the quota is
    /// locked exclusively; to a new extra slot if none is unlocked. A concurrent rebalancing that does not see it yet
    /// counts the amount as used.
    fn give_back(&self, spi: &Connection, count: i64) {
        let update = |which: &str| {
            format!(
                "with d as materialized (select {TODAY} as today) \
                 update keyed_state.quota_slot s set used = {USED} + $5, day = greatest(s.day, d.today), \
                   allowed = s.allowed + case when s.is_over then $5 else 0 end from d \
                 where s.project_id = $1 and s.name = $2 and s.slot = (select f.slot from keyed_state.quota_slot f \
                   where f.project_id = $1 and f.name = $2 and {which} limit 1 for update skip locked)"
            )
        };
        let arguments = params![own_slot(), count];
        let ways: &[&str] = if advisory_lock::try_lock(LockKind::Quota, self.number(), Mode::Shared) {
            if self.change_at_place(spi, count) {
                return;
            }
            &["f.slot = $4", "f.slot <> $4"]
        } else {
            &[&format!("f.slot >= {EXTRA} and $4 is not null")]
        };
        if ways.iter().any(|which| self.run(spi, &update(which), &arguments) > 0) {
            return;
        }
        let sql = format!(
            "insert into keyed_state.quota_slot as s (project_id, name, slot, used, allowed, is_over, day) \
             select o.project_id, o.name, {EXTRA} + pg_current_xact_id()::text::bigint % {}, $4, \
               case when o.is_over then $4 else 0 end, o.is_over, o.day \
             from keyed_state.quota_slot o join keyed_state.quota q using (project_id, name) \
             where o.project_id = $1 and o.name = $2 and o.slot = 0 for key share of q \
             on conflict (project_id, name, slot) do update set used = s.used + excluded.used, \
               allowed = s.allowed + case when s.is_over then excluded.used else 0 end",
            i32::MAX - EXTRA
        );
        // Without a row the quota was removed, unless this transaction cannot see it.
        if self.run(spi, &sql, &params![count]) == 0 && snapshot::is_fixed() {
            require_written(0);
        }
    }
}

/// A transaction whose snapshot is older than the quota knows of it, but cannot count in it.
pub(super) fn require_written(rows: usize) {
    if rows == 0 {
        Error::new(
            Code::SerializationFailure,
            "the quota was set, or used by others, after this transaction began",
        )
        .hint("Run the transaction again.")
        .raise();
    }
}

/// The slot in which this session looks first.
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
