//! Records that a change of another record has brought into sight or taken out of it: those that refer to it, and whose scope
//! has a condition on it.

use super::followed::{Followed, Following};
use super::position::Derived;
use super::rows::Change;
use super::unsettled;
use crate::filter::possible::Sense;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::record::released;
use uuid::Uuid;

/// A record that may have come into sight or gone out of it.
pub struct Affected {
    /// How far this is.
    pub place: Derived,
    /// The template among those that are followed.
    pub index: usize,
    /// Its key, where the caller sees it; `None` where it is gone.
    pub seen: Option<Option<String>>,
}

/// The records after a place that a change may have brought into sight or taken out of it, by template and id; and how many
/// rows were looked at. At most `limit` rows are.
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
            Some(place) if id < place.template => continue,
            Some(place) if id == place.template => place.record,
            _ => Uuid::nil(),
        };
        let statement = statement(following, followed, &paths);
        let arguments = params![change.record, from, change.place.position, left as i64];
        let rows = spi.run_once(&statement, Snapshot::Active, &arguments);
        let mut last = None;
        for (record, key, is_seen, is_possible) in rows.iter::<(Uuid, Option<String>, bool, bool)>() {
            let place = Derived { template: id, record };
            last = Some(place);
            if is_seen || is_possible {
                affected.push(Affected { place, index, seen: is_seen.then_some(key) });
            }
        }
        left -= rows.len();
        if left == 0 {
            return (affected, last);
        }
    }
    (affected, None)
}

/// Whether a change may have affected records of others.
pub fn may_affect(following: &Following, change: &Change) -> bool {
    following.templates.iter().any(|followed| paths(followed, change).is_some())
}

/// The condition that a record of the template, `t`, depends on what was changed of the record `$1`; `None` where none does.
fn paths(followed: &Followed, change: &Change) -> Option<String> {
    let is_touched = |field: &str| match change.operation.as_str() {
        "create" => false,
        "update" => field == "updated_at" || change.changed.iter().any(|name| name == field),
        _ => true,
    };
    let behind = followed.behind.iter();
    let behind = behind.filter(|it| it.template() == change.place.template && is_touched(&it.field));
    let mut paths: Vec<String> = behind.map(|it| it.leads_to("t", "$1")).collect();
    paths.sort();
    paths.dedup();
    (!paths.is_empty()).then(|| format!("({})", paths.join(" or ")))
}

/// The records that depend on the record `$1`, after the id `$2`: whether the caller sees each now, or else may have seen it
/// before the position `$3`. At most `$4`.
fn statement(following: &Following, followed: &Followed, paths: &str) -> String {
    let template = &followed.template;
    let unsettled = |of: i32, alias: &str| Some(unsettled::condition(following, of, alias, "$3"));
    let possible = followed.in_sense(Sense::Possible, "t", &unsettled);
    let scope = followed.condition("t");
    format!(
        "select t.id, {}, t.deleted_at is null and {scope} is true, {possible} from {} t \
         where {paths} and t.id > $2 order by t.id limit $4",
        released::shown_sql(template),
        template.table_sql()
    )
}
