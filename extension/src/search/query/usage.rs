//! Counts the attributes that searches filter and sort by, to suggest missing indexes.
//!
//! A session counts in memory and adds its counts to the table from time to time. If the row is locked, it tries
//! again later: statistics never delay a search.

use super::plan::Plan;
use crate::filter::operator::{Comparison, Operator};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{array, params};
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::transaction;
use std::cell::RefCell;
use std::collections::HashMap;

/// The time between two writes of a session: microseconds.
const INTERVAL: i64 = 10_000_000;

/// The maximum number of attributes that a session counts.
const MAX_COUNTED: usize = 10_000;

#[derive(Default)]
struct Count {
    filters: i64,
    sorts: i64,
}

#[derive(Default)]
struct Counts {
    by_attribute: HashMap<i32, Count>,
    written_at: i64,
}

thread_local! {
    static COUNTS: RefCell<Counts> = RefCell::new(Counts::default());
}

/// Counts the attributes of a search.
pub fn note(plan: &Plan) {
    let is_due = COUNTS.with_borrow_mut(|counts| {
        for used in plan.filter.uses() {
            if let (Some(attribute), true) = (used.attribute, used.is_decisive && is_indexable(used.operator))
            {
                counts.by_attribute.entry(attribute).or_default().filters += 1;
            }
        }
        // An index is useful for the first sort field only, and only if it belongs to the template
        // itself.
        if let Some(attribute) =
            plan.keys.first().filter(|key| key.path.is_empty()).and_then(|key| key.column.attribute())
        {
            counts.by_attribute.entry(attribute).or_default().sorts += 1;
        }
        if counts.by_attribute.len() > MAX_COUNTED {
            counts.by_attribute.clear();
        }
        !counts.by_attribute.is_empty() && transaction::began_at() - counts.written_at > INTERVAL
    });
    if is_due && transaction::may_write() {
        write();
    }
}

/// Whether an index can evaluate an operator. A reference that is followed has its own index.
fn is_indexable(operator: Option<Operator>) -> bool {
    operator.is_some_and(|operator| {
        let has_no_value = matches!(operator.comparison(), Comparison::Empty | Comparison::NotEmpty);
        !operator.is_negative() && !has_no_value
    })
}

fn write() {
    let counts = COUNTS.with_borrow_mut(|counts| {
        counts.written_at = transaction::began_at();
        std::mem::take(&mut counts.by_attribute)
    });
    let arguments = params![
        array(counts.keys()),
        array(counts.values().map(|count| count.filters)),
        array(counts.values().map(|count| count.sorts))
    ];
    let sql = "with free as materialized (select u.attribute_id from keyed_state.attribute_use u \
                 where u.attribute_id = any ($1) for no key update skip locked) \
               update keyed_state.attribute_use u set filters = u.filters + n.filters, sorts = u.sorts + n.sorts, \
                 last_at = now() from free, unnest($1, $2, $3) n (attribute_id, filters, sorts) \
               where u.attribute_id = free.attribute_id and n.attribute_id = free.attribute_id";
    as_owner(|| {
        connected(|spi| {
            without_waiting(|| spi.run_once(sql, Snapshot::Latest, &arguments).len());
        });
    });
}
