//! The history rows that are visible to a caller with a scope.
//!
//! If a record is visible, live or deleted, all of its changes are. If it is not, only a change that may have made it
//! invisible is reported, with the id only. To decide this, the scope is evaluated on the record before and after the
//! change. These states are reconstructed from the current row by undoing later changes.
//!
//! A condition through a reference is evaluated on the current target. If the target has changed since, the condition counts
//! as possibly true and possibly false. So the feed may report the id of a record that was never visible to the caller, but
//! omits none that was. A page contains current records, and changes of two records can become visible in another order than
//! in the feed. So it is never certain which past states a caller has read.

use super::entry::Disclosure;
use super::followed::{Followed, Following};
use super::rows::Change;
use super::unsettled;
use crate::filter::possible::Certainty;
use crate::postgres::caught::Class;
use crate::postgres::guard::subtransaction;
use crate::postgres::parameter::{array, params};
use crate::postgres::spi::{Connection, Snapshot};
use crate::value::table_name::SideTable;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// What the caller receives for each of these changes of a template.
pub fn disclosed(
    spi: &Connection,
    following: &Following,
    followed: &Followed,
    changes: &[&Change],
) -> Vec<Disclosure> {
    let Some(scope) = &followed.scope else { return vec![Disclosure::Whole; changes.len()] };
    let ids = changes.iter().map(|change| change.record).collect();
    let seen = seen(spi, followed, scope, &ids, Snapshot::Active);
    let mut disclosed: Vec<Disclosure> = changes
        .iter()
        .map(|change| if seen.contains(&change.record) { Disclosure::Whole } else { Disclosure::Nothing })
        .collect();
    let in_question: Vec<usize> = (0..changes.len())
        .filter(|index| {
            disclosed[*index] == Disclosure::Nothing && may_have_been_visible(followed, changes[*index])
        })
        .collect();
    let evaluated: Vec<&Change> = in_question.iter().map(|index| changes[*index]).collect();
    for (index, before_and_after) in
        in_question.into_iter().zip(check_visibility(spi, following, followed, &evaluated))
    {
        let is_removal = matches!(changes[index].operation.as_str(), "delete" | "purge");
        disclosed[index] = match before_and_after {
            // Omits the key of a record that may never have been visible.
            (true, _) if is_removal && followed.behind.is_empty() => Disclosure::Whole,
            (true, false) => Disclosure::Gone,
            (true, true) if is_removal => Disclosure::Gone,
            _ => Disclosure::Nothing,
        };
    }
    disclosed
}

/// Those of these records, live or deleted, that are visible to the caller in the latest snapshot. All if the caller
/// has no scope.
pub fn visible_now(spi: &Connection, followed: &Followed, ids: HashSet<Uuid>) -> HashSet<Uuid> {
    match &followed.scope {
        Some(scope) => seen(spi, followed, scope, &ids, Snapshot::Latest),
        None => ids,
    }
}

fn seen(
    spi: &Connection,
    followed: &Followed,
    scope: &str,
    ids: &HashSet<Uuid>,
    snapshot: Snapshot,
) -> HashSet<Uuid> {
    let sql =
        format!("select t.id from {} t where t.id = any ($1) and {scope}", followed.template.table_sql());
    let ids = [array(ids.iter().copied())];
    followed.template.run(spi, &sql, snapshot, &ids).column().collect()
}

/// Whether a record that is invisible now may have been visible until this change.
fn may_have_been_visible(followed: &Followed, change: &Change) -> bool {
    match change.operation.as_str() {
        "delete" | "purge" => true,
        "update" => followed.uses.are_changed_by(change),
        _ => false,
    }
}

/// For each of these changes, whether the record was possibly in the scope before it, and certainly in the scope
/// after it.
fn check_visibility(
    spi: &Connection,
    following: &Following,
    followed: &Followed,
    changes: &[&Change],
) -> Vec<(bool, bool)> {
    if changes.is_empty() {
        return Vec::new();
    }
    let sql = statement(following, followed);
    let evaluate = |changes: &[&Change]| subtransaction(|| evaluate_changes(spi, &sql, followed, changes));
    // An attribute may have had another type at that time. Such a change is older than the scope, and older than any
    // cursor.
    let each = |change: &&Change| {
        let one = evaluate(&[*change]).catch(|caught| (caught.class() == Class::Data).then(Vec::new));
        one.unwrap_or_else(|none| none).first().copied().unwrap_or_default()
    };
    evaluate(changes)
        .catch(|caught| (caught.class() == Class::Data).then_some(()))
        .unwrap_or_else(|()| changes.iter().map(each).collect())
}

fn evaluate_changes(
    spi: &Connection,
    sql: &str,
    followed: &Followed,
    changes: &[&Change],
) -> Vec<(bool, bool)> {
    let arguments = params![
        array(changes.iter().map(|change| change.record)),
        array(changes.iter().map(|change| change.feed_position.version)),
        array(followed.uses.attributes.iter().map(|slug| Some(slug.as_str()))),
        array(followed.behind.iter().map(|behind| Some(behind.reference())))
    ];
    let rows = spi.run_once(sql, Snapshot::Active, &arguments);
    let evaluated: HashMap<(Uuid, i32), (bool, bool)> = rows
        .iter::<(Uuid, i32, bool, bool)>()
        .map(|(record, version, before, after)| ((record, version), (before, after)))
        .collect();
    let of = |change: &&Change| evaluated.get(&(change.record, change.feed_position.version)).copied();
    changes.iter().map(|change| of(change).unwrap_or_default()).collect()
}

/// Whether the records `$1` were in the scope before (`b`) and after (`a`) their versions `$2`. The scope uses the
/// attributes `$3` and the references `$4`. For a value that later changes (`l`) have replaced, the old value of the first
/// of them is used. If a reference changed, the state of the former target is uncertain.
fn statement(following: &Following, followed: &Followed) -> String {
    let template = &followed.template;
    let (table, history) = (template.table_sql(), SideTable::History.sql(template.id));
    let unsettled = |of: i32, alias: &str| {
        (of != template.id || alias != "a" && alias != "b")
            .then(|| unsettled::condition(following, of, alias, "s.since"))
    };
    let condition = |alias, sense| followed.with_certainty(sense, alias, &unsettled);
    let (before, after) = (condition("b", Certainty::Possible), condition("a", Certainty::Certain));
    format!(
        "select h.record_id, h.version, {before}, {after} \
         from unnest($1, $2) u (record_id, version) \
         join {history} h on h.record_id = u.record_id and h.version = u.version \
         cross join lateral (select case when h.changes ?| $4 then 0 else h.position end as since) s \
         left join {table} t on t.id = h.record_id \
         cross join lateral (select coalesce(jsonb_object_agg(e.key, e.value -> 'old' order by l.version desc), '{{}}') as old \
           from {history} l cross join jsonb_each(l.changes) e where l.record_id = h.record_id and l.version > h.version \
           and not h.changes ?& $3 and l.changes ?| $3 and e.key = any ($3)) l \
         cross join lateral (select coalesce(jsonb_object_agg(e.key, e.value -> 'old'), '{{}}') as old, \
             coalesce(jsonb_object_agg(e.key, e.value -> 'new'), '{{}}') as new \
           from jsonb_each(h.changes) e where e.key = any ($3)) o \
         left join lateral (select p.at from {history} p where p.record_id = h.record_id and p.version < h.version \
           order by p.version desc limit 1) p on true \
         cross join lateral jsonb_populate_record(t, l.old || o.new || jsonb_build_object('id', h.record_id, \
           'external_key', h.external_key, 'updated_at', h.at, 'deleted_at', null)) a \
         cross join lateral jsonb_populate_record(t, l.old || o.old || jsonb_build_object('id', h.record_id, \
           'external_key', case when h.changes ? 'external_key' then h.changes -> 'external_key' ->> 'old' else h.external_key end, \
           'updated_at', p.at, 'deleted_at', null)) b"
    )
}
