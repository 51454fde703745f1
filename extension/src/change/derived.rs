//! Records that become visible or invisible because another record changes: their scope has a condition on a record that
//! they reference.

use super::followed::{Followed, Following};
use super::position::Derived;
use super::rows::Change;
use super::unsettled;
use crate::filter::possible::Certainty;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::record::released;
use uuid::Uuid;

/// A record that may have become visible or invisible.
pub struct Affected {
    /// Its position among the records that the change affects.
    pub feed_position: Derived,
    /// Its template, as an index into the followed templates.
    pub index: usize,
    /// Its key if it is visible to the caller; `None` if it is gone.
    pub seen: Option<Option<String>>,
}

/// Finds the records after a position that a change may have made visible or invisible, ordered by template and id. Reads
/// at most `limit` rows, and returns the number of rows read.
pub fn affected(
    spi: &Connection,
    following: &Following,
    change: &Change,
    behind: Option<Derived>,
    limit: usize,
) -> (Vec<Affected>, Option<Derived>) {
    let mut affected = Vec::new();
    let mut left = limit;
    for (index, followed) in following.templates.iter().enumerate() {
        let id = followed.template.id;
        let Some(paths) = paths(followed, change) else { continue };
        let from = match behind {
            Some(feed_position) if id < feed_position.template => continue,
            Some(feed_position) if id == feed_position.template => feed_position.record,
            _ => Uuid::nil(),
        };
        let statement = statement(following, followed, &paths);
        let arguments = params![change.record, from, change.feed_position.position, left as i64];
        let rows = spi.run_once(&statement, Snapshot::Active, &arguments);
        let mut last = None;
        for (record, key, is_seen, is_possible) in rows.iter::<(Uuid, Option<String>, bool, bool)>() {
            let feed_position = Derived { template: id, record };
            last = Some(feed_position);
            if is_seen || is_possible {
                affected.push(Affected { feed_position, index, seen: is_seen.then_some(key) });
            }
        }
        left -= rows.len();
        if left == 0 {
            return (affected, last);
        }
    }
    (affected, None)
}

/// Whether a change may affect the visibility of other records.
pub fn may_affect(following: &Following, change: &Change) -> bool {
    following.templates.iter().any(|followed| paths(followed, change).is_some())
}

/// A condition on a record `t` of the template: its visibility depends on the changed fields of the record `$1`. `None` if
/// no record depends on them.
fn paths(followed: &Followed, change: &Change) -> Option<String> {
    let is_touched = |field: &str| match change.operation.as_str() {
        "create" => false,
        "update" => field == "updated_at" || change.changed.iter().any(|name| name == field),
        _ => true,
    };
    let behind = followed.behind.iter();
    let behind = behind.filter(|it| it.template() == change.feed_position.template && is_touched(&it.field));
    let mut paths: Vec<String> = behind.map(|it| it.leads_to("t", "$1")).collect();
    paths.sort();
    paths.dedup();
    (!paths.is_empty()).then(|| format!("({})", paths.join(" or ")))
}

/// Selects at most `$4` records after the id `$2` that depend on the record `$1`, each with whether it is visible to the
/// caller now. Invisible ones are included if they may have been visible before the position `$3`.
fn statement(following: &Following, followed: &Followed, paths: &str) -> String {
    let template = &followed.template;
    let unsettled = |of: i32, alias: &str| Some(unsettled::condition(following, of, alias, "$3"));
    let possible = followed.with_certainty(Certainty::Possible, "t", &unsettled);
    let scope = followed.condition("t");
    format!(
        "select t.id, {}, t.deleted_at is null and {scope} is true, {possible} from {} t \
         where {paths} and t.id > $2 order by t.id limit $4",
        released::shown_sql(template),
        template.table_sql()
    )
}
