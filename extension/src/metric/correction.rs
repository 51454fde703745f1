//! Deletion of points, and the latest remaining point.

use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Timestamp, array, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::template::Template;
use crate::value::change::Point;
use crate::value::table_name::SideTable;
use uuid::Uuid;

/// A selection of points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Times {
    /// Points at exactly these times.
    At(Vec<i64>),
    /// Points from the first time (inclusive) to the second (exclusive).
    Range(i64, i64),
}

impl Times {
    /// Whether the selection contains a time.
    pub fn contain(&self, at: i64) -> bool {
        match self {
            Times::At(times) => times.contains(&at),
            Times::Range(from, to) => (*from..*to).contains(&at),
        }
    }
}

/// Deletes points of a locked record's series, and returns their number.
pub fn delete(template: &Template, record: Uuid, attribute: i32, times: &Times) -> i64 {
    let table = SideTable::Series.sql(template.id);
    let (condition, arguments) = match times {
        Times::At(times) => {
            let times = array(times.iter().map(|at| Some(Timestamp(*at))));
            ("m.at = any ($3)", params![record, attribute, times].to_vec())
        }
        Times::Range(from, to) => {
            let arguments = params![record, attribute, Timestamp(*from), Timestamp(*to)].to_vec();
            ("m.at >= $3 and m.at < $4", arguments)
        }
    };
    let sql = format!(
        "with gone as (delete from {table} m where m.record_id = $1 and m.attribute_id = $2 and {condition} \
         returning 1) select count(*) from gone"
    );
    as_owner(|| {
        connected(|spi| {
            template.run(spi, &sql, Snapshot::Latest, &arguments).value::<i64>().unwrap_or_default()
        })
    })
}

/// The latest point of a series; for equal times, the one that was added last.
pub fn latest(template: &Template, record: Uuid, attribute: i32) -> Option<Point> {
    let sql = format!(
        "select m.at, m.value from {} m where m.record_id = $1 and m.attribute_id = $2 \
         order by m.at desc, m.id desc limit 1",
        SideTable::Series.sql(template.id)
    );
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &params![record, attribute]);
            if rows.is_empty() {
                return None;
            }
            Some(Point { value: rows.get(0, 1), at: Some(rows.get(0, 0)) })
        })
    })
}
