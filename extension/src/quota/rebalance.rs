//! Distributes a quota among its slots, under an exclusive lock.

use super::slots::{EXTRA, Quota, SLOTS, TODAY, USED, own_slot, require_written};
use super::{Name, Reached};
use crate::postgres::advisory_lock::Mode;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::snapshot;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};

/// Redistributes a quota after its maximum has changed. Holds the exclusive lock until the transaction ends.
pub(super) fn all_slots(project: i32, name: Name) {
    let quota = Quota::new(project, name);
    quota.lock(Mode::Exclusive);
    connected(|spi| {
        if let Some(account) = quota.account(spi) {
            quota.rebalance(spi, account.maximum - account.used, 0);
        }
    });
}

/// The committed usage of a quota.
pub(super) fn used(project: i32, name: Name) -> i64 {
    let quota = Quota::new(project, name);
    as_owner(|| connected(|spi| quota.account(spi).map_or(0, |account| account.used)))
}

/// The totals of a quota, read under the exclusive lock.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Account {
    maximum: i64,
    used: i64,
    allowed: i64,
    /// The number of extra slots.
    extra: i64,
}

impl Quota {
    /// Takes from the remaining amount, which is exact under the exclusive lock, and redistributes it if needed.
    pub(super) fn take_exactly(&self, spi: &Connection, count: i64) -> Result<(), Reached> {
        // The quota was removed in the meantime.
        let Some(account) = self.account(spi) else { return Ok(()) };
        let Account { maximum, used, allowed, extra } = account;
        let left = maximum - used - count;
        if left < 0 {
            return Err(Reached { name: self.name, maximum, used: Some(used), requested: count });
        }
        // Statements of a transaction with an old snapshot would skip slots that were created or changed since.
        if snapshot::is_fixed() && self.visible_account(spi) != Some(account) {
            require_written(0);
        }
        let rebalances = left >= i64::from(SLOTS) || extra > i64::from(SLOTS) || maximum - allowed < count;
        let written = if !rebalances {
            let sql = format!(
                "with d as materialized (select {TODAY} as today) update keyed_state.quota_slot s \
                 set used = {USED} + $5, allowed = s.allowed + $5, day = greatest(s.day, d.today) \
                 from d where s.project_id = $1 and s.name = $2 and s.slot = $4"
            );
            self.run(spi, &sql, &params![own_slot(), count])
        } else {
            self.rebalance(spi, left, count)
        };
        require_written(written);
        Ok(())
    }

    /// Committed values, regardless of the transaction's snapshot.
    fn account(&self, spi: &Connection) -> Option<Account> {
        self.account_by(|sql, arguments| spi.run_newest(sql, arguments))
    }

    fn visible_account(&self, spi: &Connection) -> Option<Account> {
        self.account_by(|sql, arguments| spi.run_once(sql, Snapshot::Latest, arguments))
    }

    fn account_by<'c>(&self, run: impl FnOnce(&str, &[Parameter]) -> Rows<'c>) -> Option<Account> {
        let sql = format!(
            "with d as materialized (select {TODAY} as today) \
             select q.maximum, (select coalesce(sum({USED}), 0)::bigint from keyed_state.quota_slot s, d \
               where s.project_id = $1 and s.name = $2), (select coalesce(sum(s.allowed), 0)::bigint \
               from keyed_state.quota_slot s where s.project_id = $1 and s.name = $2), \
               (select count(*) from keyed_state.quota_slot s where s.project_id = $1 and s.name = $2 \
               and s.slot >= {EXTRA}) from keyed_state.quota q where q.project_id = $1 and q.name = $2"
        );
        let (maximum, used, allowed, extra) = run(&sql, &self.names()).first()?;
        Some(Account { maximum, used, allowed, extra })
    }

    /// Gives every slot an equal share of the remaining amount, after this session has taken what it needs; the remainder
    /// of the division is not distributed. If usage exceeds the maximum, nothing is left, and freed amounts become
    /// available only with the next rebalancing, because the other slots have too much. Removes extra slots.
    fn rebalance(&self, spi: &Connection, left: i64, count: i64) -> usize {
        let sql = format!(
            "with d as materialized (select {TODAY} as today), \
             gone as (delete from keyed_state.quota_slot s using d \
               where s.project_id = $1 and s.name = $2 and s.slot >= {EXTRA} returning {USED} as used), \
             more as (select coalesce(sum(g.used), 0)::bigint + $5 as used from gone g) \
             update keyed_state.quota_slot s set used = n.used, allowed = n.used + greatest($6, 0) / {SLOTS}, \
               is_over = $6 < 0, day = greatest(s.day, n.today) \
             from (select s.slot, d.today, {USED} + case when s.slot = $4 then m.used else 0 end as used \
               from keyed_state.quota_slot s, d, more m where s.project_id = $1 and s.name = $2) n \
             where s.project_id = $1 and s.name = $2 and s.slot = n.slot and s.slot < {EXTRA}"
        );
        self.run(spi, &sql, &params![own_slot(), count, left])
    }
}
