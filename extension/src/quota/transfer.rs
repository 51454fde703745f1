//! Transfers headroom from unlocked slots to the session's own.
//!
//! A transaction of many small statements transfers repeatedly, and all versions of the rows that it changes remain
//! until it ends, which slows index lookups. So it transfers as much again as it has used so far. Each slot keeps
//! half of what it could give beyond the requested amount.

use super::session_state;
use super::slots::{EXTRA, HEADROOM, Quota, TODAY, USED, own_slot};
use crate::postgres::advisory_lock::Mode;
use crate::postgres::guard::attempt;
use crate::postgres::parameter::{array, params};
use crate::postgres::spi::{Connection, connected};

/// The initial and the increased number of slots that are searched, so that a large statement
/// leaves headroom for other sessions.
const SEARCH_STEPS: [i64; 6] = [1, 8, 16, 32, 64, i64::MAX];

/// A transaction that has taken this much searches this many slots at a time.
const MANY: i64 = 64;
const LARGE_SEARCH: i64 = 32;

/// The change of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Transfer {
    slot: i32,
    /// The new `allowed`.
    allowed: i64,
    /// The new `used`.
    used: i64,
}

impl Quota {
    /// Searches unlocked slots for headroom. If there is not enough, unlocks them again.
    pub(super) fn transfer_from_others(&self, count: i64) -> bool {
        let taken = attempt(|| {
            self.lock(Mode::Shared);
            // A large transaction will transfer again soon.
            let min_width = if session_state::taken(self.number()) < MANY { 1 } else { LARGE_SEARCH };
            let mut widths = SEARCH_STEPS.into_iter().filter(|width| *width >= min_width);
            let taken = connected(|spi| widths.any(|width| self.transfer(spi, count, width)));
            if taken { Ok(()) } else { Err(()) }
        });
        taken.or_rethrow().is_ok()
    }

    /// Transfers headroom from the unlocked slots with the most headroom, at most this many.
    fn transfer(&self, spi: &Connection, count: i64, width: i64) -> bool {
        let free = self.free(spi, width);
        if free.iter().map(|(_, headroom)| headroom).sum::<i64>() < count {
            return false;
        }
        // Another session has locked this slot. The unlocked slot with the most headroom becomes the
        // session's own.
        if !free.iter().any(|(slot, _)| *slot == own_slot()) && !self.lock_own_slot(spi) {
            let Some((slot, _)) = free.iter().find(|(slot, _)| *slot < EXTRA) else { return false };
            session_state::set_slot(*slot);
        }
        let moves = moves(&free, own_slot(), count, session_state::taken(self.number()));
        let sql = format!(
            "with d as materialized (select {TODAY} as today) \
             update keyed_state.quota_slot s set allowed = s.allowed + u.allowed, used = {USED} + u.used, \
               day = greatest(s.day, d.today) \
             from d, unnest($5::integer[], $6::bigint[], $7::bigint[]) u (slot, allowed, used) \
             where s.project_id = $1 and s.name = $2 and s.slot = u.slot and s.slot <> $4"
        );
        let arguments = params![
            own_slot(),
            array(moves.iter().map(|it| it.slot)),
            array(moves.iter().map(|it| it.allowed)),
            array(moves.iter().map(|it| it.used))
        ];
        self.run(spi, &sql, &arguments);
        let Some(into_own) = moves.iter().find(|it| it.slot == own_slot()) else { return false };
        let sql = format!(
            "with d as materialized (select {TODAY} as today) \
             update keyed_state.quota_slot s set allowed = s.allowed + $5, used = {USED} + $6, \
               day = greatest(s.day, d.today) from d \
             where s.project_id = $1 and s.name = $2 and s.slot = $4 returning {HEADROOM}, s.ctid::text"
        );
        self.remember(&self.rows(spi, &sql, &params![own_slot(), into_own.allowed, into_own.used]))
    }

    /// Locks the unlocked slots with the most headroom, and returns their headroom.
    fn free(&self, spi: &Connection, width: i64) -> Vec<(i32, i64)> {
        let sql = format!(
            "with d as materialized (select {TODAY} as today) \
             select s.slot, {HEADROOM} from keyed_state.quota_slot s, d \
             where s.project_id = $1 and s.name = $2 and {HEADROOM} > 0 and (s.slot < {EXTRA} or not exists \
               (select from keyed_state.quota_slot o \
                where o.project_id = $1 and o.name = $2 and o.slot = 0 and o.is_over)) \
             order by {HEADROOM} desc limit $4 for update of s skip locked"
        );
        self.rows(spi, &sql, &params![width]).iter().collect()
    }

    /// Locks the session's own slot, unless another session has it.
    fn lock_own_slot(&self, spi: &Connection) -> bool {
        let sql = "select from keyed_state.quota_slot s where $3::text is not null and s.project_id = $1 and s.name = $2 \
                   and s.slot = $4 and not s.is_over for update skip locked";
        self.run(spi, sql, &params![own_slot()]) > 0
    }
}

/// Collects `count` in the slot `own` from slots with this much headroom each. If possible, collects as much as the
/// transaction has already taken.
fn moves(free: &[(i32, i64)], own: i32, count: i64, taken: i64) -> Vec<Transfer> {
    let others = || free.iter().filter(|(slot, _)| *slot != own);
    let in_own: i64 = free.iter().filter(|(slot, _)| *slot == own).map(|(_, headroom)| *headroom).sum();
    let mut missing = (count - in_own).max(0);
    let mut rest = Vec::with_capacity(free.len());
    for (slot, headroom) in others() {
        let part = missing.min(*headroom);
        missing -= part;
        rest.push((*slot, part, *headroom - part));
    }
    let mut more = taken.max(0);
    let mut moves = Vec::with_capacity(rest.len() + 1);
    for (slot, part, left) in rest {
        let part_of_more = more.min((left + 1) / 2);
        more -= part_of_more;
        if part + part_of_more > 0 {
            moves.push(Transfer { slot, allowed: -(part + part_of_more), used: 0 });
        }
    }
    let gathered = -moves.iter().map(|it| it.allowed).sum::<i64>();
    moves.push(Transfer { slot: own, allowed: gathered, used: count });
    moves
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn first_statement_reserves_its_amount_and_later_ones_double() {
        let take = |slot, allowed| Transfer { slot, allowed, used: 0 };
        let into = |allowed, used| Transfer { slot: 1, allowed, used };
        assert_eq!(moves(&[(2, 50)], 1, 3, 0), [take(2, -3), into(3, 3)]);
        assert_eq!(moves(&[(2, 50)], 1, 3, 10), [take(2, -13), into(13, 3)]);
        assert_eq!(moves(&[(2, 50), (1, 2)], 1, 3, 0), [take(2, -1), into(1, 3)]);
        assert_eq!(moves(&[(2, 50), (3, 9)], 1, 3, 1000), [take(2, -27), take(3, -5), into(32, 3)]);
    }

    proptest! {
        #[test]
        fn transfer_keeps_the_total_and_the_limit_of_each_slot(
            headrooms in prop::collection::vec(1_i64..100, 1..20), count in 1_i64..500, taken in 0_i64..5000,
        ) {
            let free: Vec<(i32, i64)> = headrooms.iter().enumerate().map(|(slot, headroom)| (slot as i32, *headroom)).collect();
            prop_assume!(headrooms.iter().sum::<i64>() >= count);
            for own in [0, 99] {
                let moves = moves(&free, own, count, taken);
                prop_assert_eq!(moves.iter().map(|it| it.allowed).sum::<i64>(), 0);
                prop_assert_eq!(moves.iter().map(|it| it.used).sum::<i64>(), count);
                for it in moves {
                    let headroom = free.iter().find(|(slot, _)| *slot == it.slot).map_or(0, |(_, headroom)| *headroom);
                    prop_assert!(headroom + it.allowed - it.used >= 0);
                }
            }
        }
    }
}
