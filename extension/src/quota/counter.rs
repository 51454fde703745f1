//! Counts quotas without making writers wait for each other.
//!
//! A quota is divided into [slots](super::slots). A writer adds its usage to a slot that no other transaction has locked, and
//! holds it until the transaction ends: a rollback returns the amount, and while an unlocked slot has headroom, no writer waits
//! for another. Each session starts with its own slot.
//!
//! Only if the unlocked slots have too little headroom, a writer waits for all slots and redistributes the remaining amount.
//! Writers hold a shared advisory lock, which rebalancing takes exclusively; so they queue and cannot deadlock. Returning an
//! amount waits for nothing.

use super::slots::{EXTRA, HEADROOM, Quota, TODAY, USED, own_slot, require_written};
use super::{Name, Reached, session_state};
use crate::postgres::advisory_lock::Mode;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::snapshot;
use crate::postgres::spi::{Connection, connected};

/// The headroom beyond the requested amount, in the session's own slot or in all slots, that makes it likely that no
/// wait is needed.
const HEADROOM_MARGINS: [i64; 2] = [4, 32];

/// A remembered headroom this much above the requested amount needs no further check.
const AMPLE_HEADROOM: i64 = 256;

/// The headroom of a slot as the subquery that locks the row reads it, under the name `f`.
fn headroom_in_subquery() -> String {
    HEADROOM.replace("s.", "f.").replace("d.today", TODAY)
}

/// Adds to the usage of a quota; a negative count returns an amount.
pub(super) fn add(project: i32, name: Name, count: i64) -> Result<(), Reached> {
    let quota = Quota::new(project, name);
    as_owner(|| {
        connected(|spi| {
            if count < 0 {
                quota.release(spi, count);
                return Ok(());
            }
            quota.take(spi, count)?;
            session_state::record_taken(quota.number(), count);
            Ok(())
        })
    })
}

/// Whether taking this amount may have to wait, as far as is known without waiting.
pub(super) fn is_scarce(project: i32, name: Name, count: i64) -> bool {
    let quota = Quota::new(project, name);
    if session_state::had_headroom(quota.number(), count + AMPLE_HEADROOM) {
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
    let [own, all] = HEADROOM_MARGINS.map(|ample| count + ample);
    let place = session_state::place(quota.number());
    as_owner(|| connected(|spi| quota.run(spi, &sql, &params![own_slot(), own, all, place]) > 0))
}

impl Quota {
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

    /// The common path: the session's own slot is unlocked and has enough headroom.
    fn take_from_own(&self, spi: &Connection, count: i64) -> bool {
        if self.change_by_ctid(spi, count) {
            return true;
        }
        let sql = format!(
            "with d as materialized (select {TODAY} as today) \
             update keyed_state.quota_slot s set used = {USED} + $5, day = greatest(s.day, d.today) from d \
             where s.project_id = $1 and s.name = $2 and s.slot = (select f.slot from keyed_state.quota_slot f \
               where f.project_id = $1 and f.name = $2 and f.slot = $4 and {} >= $5 \
               for update skip locked) and {HEADROOM} >= $5 returning {HEADROOM}, s.ctid::text",
            // Without enough headroom, its row is not locked.
            headroom_in_subquery()
        );
        self.remember(&self.rows(spi, &sql, &params![own_slot(), count]))
    }

    /// Takes from the session's own slot, or returns to it, by its cached ctid. While an old snapshot is open, row
    /// versions are not removed, and an index scan reads all of them.
    fn change_by_ctid(&self, spi: &Connection, count: i64) -> bool {
        let Some(place) = session_state::place(self.number()) else { return false };
        let sql = format!(
            "with d as materialized (select {TODAY} as today) \
             update keyed_state.quota_slot s set used = {USED} + $5, day = greatest(s.day, d.today), \
               allowed = s.allowed + case when s.is_over and $5 < 0 then $5 else 0 end from d \
             where s.ctid = (select f.ctid from keyed_state.quota_slot f where f.ctid = $6::tid \
               and f.project_id = $1 and f.name = $2 and f.slot = $4 and ($5 < 0 or {} >= $5) for update skip locked) \
             and s.project_id = $1 and s.name = $2 and s.slot = $4 and ($5 < 0 or {HEADROOM} >= $5) \
             returning {HEADROOM}, s.ctid::text",
            headroom_in_subquery()
        );
        let rows = self.rows(spi, &sql, &params![own_slot(), count, place]);
        !rows.is_empty() && self.remember(&rows)
    }

    /// Returns an amount to the session's own slot or to another unlocked one; to an extra slot while the quota is
    /// locked exclusively; to a new extra slot if none is unlocked. A concurrent rebalancing that does not yet
    /// include the extra slot counts the amount as used.
    fn release(&self, spi: &Connection, count: i64) {
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
        let ways: &[&str] = if self.try_lock_shared() {
            if self.change_by_ctid(spi, count) {
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
        // Without a row, the quota was removed, unless it is not visible to this transaction.
        if self.run(spi, &sql, &params![count]) == 0 && snapshot::is_fixed() {
            require_written(0);
        }
    }
}
