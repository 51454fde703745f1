//! Metrics: the series behind a column that holds only the latest value.

use crate::access::{Caller, Right};
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, connected};
use crate::postgres::trigger::Firing;
use crate::record::changes::Changes;
use crate::record::shape::{write_double, write_value};
use crate::record::time;
use crate::record::value::{Change, Point};
use crate::template::definition::Kind;
use crate::template::{Template, column};
use pgrx::pg_sys::{self, Datum};
use std::fmt::Write as _;
use uuid::Uuid;

const DEFAULT_LIMIT: i32 = 1000;
const MOST_LIMIT: i32 = 10_000;

/// The aggregates of a bucket, and the SQL of each.
const AGGREGATES: [(&str, &str); 6] = [
    ("avg", "avg(m.value)"),
    ("min", "min(m.value)"),
    ("max", "max(m.value)"),
    ("sum", "sum(m.value)"),
    ("count", "count(*)::double precision"),
    ("last", "(array_agg(m.value order by m.at desc, m.id desc))[1]"),
];

/// The table of a template's series.
pub fn table_sql(template: i32) -> String {
    format!("keyed_state.metric_{template}")
}

/// Makes that table.
pub fn create_table(template: i32, full_name: &str) -> String {
    let table = table_sql(template);
    format!(
        "create table {table} ( \
           record_id uuid, attribute_id integer, at timestamptz, id bigint generated always as identity, \
           value double precision not null, primary key (record_id, attribute_id, at, id)); \
         comment on table {table} is {}; \
         comment on column {table}.record_id is 'The record.'; \
         comment on column {table}.attribute_id is 'The metric: its number in keyed_state.attribute.'; \
         comment on column {table}.at is 'When the value was measured.'; \
         comment on column {table}.id is 'Tells points of one time apart.'; \
         comment on column {table}.value is 'What was measured.'; \
         grant select on {table} to keyed_admin;",
        crate::quote::literal(&format!("Series of the metrics of {full_name}: every point ever appended."))
    )
}

/// Gives points without a time the time of this write.
pub fn stamp(changes: &mut Changes) {
    for (_, change) in changes {
        if let Change::Append(points) = change {
            for point in points {
                point.at.get_or_insert_with(now);
            }
        }
    }
}

/// Whether a write appends to a series.
pub fn has_points(changes: &Changes) -> bool {
    changes.iter().any(|(_, change)| matches!(change, Change::Append(_)))
}

/// Appends the points of a write that was just done to the record's series.
pub fn append(template: &Template, record: Uuid, changes: &Changes) {
    for (position, change) in changes {
        if let Change::Append(points) = change {
            append_points(template, record, template.attributes[*position].id, points);
        }
    }
}

/// A metric's column written by hand is a point measured now.
pub fn append_by_hand(template: &Template, firing: &Firing) {
    let Some(new) = &firing.new else { return };
    let Some(record) = new.get(column::ID).map(datum::read_uuid) else { return };
    for attribute in template.attributes.iter().filter(|attribute| attribute.kind == Kind::Metric) {
        let is_changed = firing.old.as_ref().is_none_or(|old| !new.same(old, attribute.column));
        if let (true, Some(value)) = (is_changed, new.get(attribute.column)) {
            let point = Point { value: datum::read_f64(value), at: Some(now()) };
            append_points(template, record, attribute.id, &[point]);
        }
    }
}

fn now() -> i64 {
    // SAFETY: reads the clock.
    unsafe { pg_sys::GetCurrentTimestamp() }
}

fn append_point(template: &Template, record: Uuid, attribute: i32, point: &Point) {
    let sql = format!(
        "insert into {} (record_id, attribute_id, at, value) values ($1, $2, $3, $4)",
        table_sql(template.id)
    );
    as_owner(|| {
        let plan = template
            .plan(&sql, || vec![pg_sys::UUIDOID, pg_sys::INT4OID, pg_sys::TIMESTAMPTZOID, pg_sys::FLOAT8OID]);
        connected(|spi| {
            let arguments = [
                datum::uuid(record),
                Some(Datum::from(attribute)),
                point.at.map(Datum::from),
                datum::double(point.value),
            ];
            spi.run(&plan, Access::Latest, &arguments);
        });
    });
}

fn append_points(template: &Template, record: Uuid, attribute: i32, points: &[Point]) {
    if let [point] = points {
        return append_point(template, record, attribute, point);
    }
    let times = points.iter().map(|point| point.at.map(Datum::from)).collect();
    let values = points.iter().map(|point| datum::double(point.value)).collect();
    let sql = format!(
        "insert into {} (record_id, attribute_id, at, value) select $1, $2, p.at, p.value \
         from unnest($3, $4) p (at, value)",
        table_sql(template.id)
    );
    as_owner(|| {
        let plan = template.plan(&sql, || {
            vec![pg_sys::UUIDOID, pg_sys::INT4OID, pg_sys::TIMESTAMPTZARRAYOID, pg_sys::FLOAT8ARRAYOID]
        });
        connected(|spi| {
            let arguments = [
                datum::uuid(record),
                Some(Datum::from(attribute)),
                datum::array_of(times, pg_sys::TIMESTAMPTZOID),
                datum::array_of(values, pg_sys::FLOAT8OID),
            ];
            spi.run(&plan, Access::Latest, &arguments);
        });
    });
}

/// What part of a series is wanted, and how.
#[derive(Debug, Default)]
pub struct Query {
    /// From this time on (RFC 3339).
    pub from: Option<String>,
    /// Before this time (RFC 3339).
    pub to: Option<String>,
    /// The width of a bucket: a number and s, m, h or d.
    pub bucket: Option<String>,
    /// What a bucket shows.
    pub aggregate: Option<String>,
    /// The most points of a page.
    pub limit: Option<i32>,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// The series of a record's metric: `{points:[{at,value}],next_cursor}`, oldest first.
pub fn series(caller: &Caller, record: Uuid, slug: &str, query: &Query) -> Result<String, Error> {
    let template = crate::record::read::template_of(caller, record, Right::Read)?;
    let attribute = template.position(slug).map(|position| &template.attributes[position]);
    let attribute = attribute.filter(|attribute| attribute.kind == Kind::Metric).ok_or_else(|| {
        let message = format!("{} has no metric {slug:?}", template.full_name());
        Error::at(Code::UnknownAttribute, "/slug", message)
    })?;
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MOST_LIMIT).contains(&limit) {
        return Err(Error::at(
            Code::InvalidValue,
            "/limit",
            format!("limit is a number from 1 to {MOST_LIMIT}"),
        ));
    }
    let bound = |text: &Option<String>, pointer: &str| match text {
        Some(text) => time::parse_datetime(text, pointer).map(Some),
        None => Ok(None),
    };
    let (from, to) = (bound(&query.from, "/from")?, bound(&query.to, "/to")?);
    let (after_at, after_id) = parse_cursor(query.cursor.as_deref())?;
    let table = table_sql(template.id);
    const WITHIN: &str = "m.record_id = $1 and m.attribute_id = $2 and ($3 is null or m.at >= $3) \
                          and ($4 is null or m.at < $4)";
    let sql = match (&query.bucket, query.aggregate.as_deref()) {
        (None, None) => format!(
            "select m.at, m.value, m.id from {table} m where {WITHIN} \
             and ($5 is null or (m.at, m.id) > ($5, $6)) order by m.at, m.id limit $7"
        ),
        (None, Some(_)) => {
            return Err(Error::at(Code::InvalidValue, "/aggregate", "an aggregate needs a bucket")
                .hint("add bucket, for example bucket=1h"));
        }
        (Some(bucket), aggregate) => format!(
            "select b.at, b.value, 0::bigint from (select date_bin('{} seconds'::interval, m.at, \
             '2000-01-01T00:00:00Z'::timestamptz) as at, {} as value from {table} m where {WITHIN} group by 1) b \
             where ($5 is null or b.at > $5) and $6::bigint is not distinct from $6 order by b.at limit $7",
            parse_bucket(bucket)?,
            parse_aggregate(aggregate)?
        ),
    };
    as_owner(|| {
        let plan = template.plan(&sql, || {
            use pg_sys::{INT4OID, INT8OID, TIMESTAMPTZOID, UUIDOID};
            vec![UUIDOID, INT4OID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID, INT8OID]
        });
        connected(|spi| {
            let arguments = [
                datum::uuid(record),
                Some(Datum::from(attribute.id)),
                from.map(Datum::from),
                to.map(Datum::from),
                after_at.map(Datum::from),
                after_id.map(Datum::from),
                Some(Datum::from(i64::from(limit) + 1)),
            ];
            let rows = spi.run(&plan, Access::Snapshot, &arguments);
            if rows.is_empty() && !exists(&template, record) {
                return Err(Error::not_found());
            }
            let shown = rows.len().min(limit as usize);
            let mut out = String::from("{\"points\":[");
            for row in 0..shown {
                out.push_str(if row > 0 { ",{\"at\":" } else { "{\"at\":" });
                write_value(&mut out, Kind::DateTime, rows.get(row, 0));
                out.push_str(",\"value\":");
                write_double(&mut out, rows.get(row, 1).map_or(0.0, datum::read_f64));
                out.push('}');
            }
            out.push_str("],\"next_cursor\":");
            if rows.len() > shown && shown > 0 {
                let at = rows.get(shown - 1, 0).map_or(0, datum::read_i64);
                let id = rows.get(shown - 1, 2).map_or(0, datum::read_i64);
                let _ = write!(out, "\"{at}.{id}\"");
            } else {
                out.push_str("null");
            }
            out.push('}');
            Ok(out)
        })
    })
}

/// Whether there is, or was until it was deleted, such a record.
fn exists(template: &Template, record: Uuid) -> bool {
    let sql = format!("select from {} t where t.id = $1", template.table_sql());
    let plan = template.plan(&sql, || vec![pg_sys::UUIDOID]);
    connected(|spi| !spi.run(&plan, Access::Snapshot, &[datum::uuid(record)]).is_empty())
}

fn parse_cursor(cursor: Option<&str>) -> Result<(Option<i64>, Option<i64>), Error> {
    let Some(cursor) = cursor else { return Ok((None, None)) };
    let parts = cursor.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
    parts.map(|(at, id)| (Some(at), Some(id))).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/cursor", "this is not a cursor of a series")
            .hint("send next_cursor of the page before, unchanged")
    })
}

/// The width of a bucket in seconds.
fn parse_bucket(text: &str) -> Result<i64, Error> {
    let unit = match text.as_bytes().last() {
        Some(b's') => 1,
        Some(b'm') => 60,
        Some(b'h') => 3600,
        Some(b'd') => 86_400,
        _ => 0,
    };
    let count: Option<i64> = text.get(..text.len().saturating_sub(1)).and_then(|digits| digits.parse().ok());
    count
        .and_then(|count| count.checked_mul(unit))
        .filter(|seconds| (1..=366 * 86_400).contains(seconds))
        .ok_or_else(|| {
            Error::at(Code::InvalidValue, "/bucket", format!("{text:?} is not a bucket"))
                .hint("write a number and s, m, h or d, up to 366d: 30s, 5m, 1h, 1d")
        })
}

fn parse_aggregate(name: Option<&str>) -> Result<&'static str, Error> {
    let name = name.unwrap_or("avg");
    AGGREGATES.into_iter().find(|row| row.0 == name).map(|row| row.1).ok_or_else(|| {
        let names: Vec<&str> = AGGREGATES.iter().map(|row| row.0).collect();
        Error::at(Code::InvalidValue, "/aggregate", format!("{name:?} is not an aggregate"))
            .hint(format!("the aggregates are {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_a_number_and_a_unit() {
        assert_eq!(parse_bucket("1h").ok(), Some(3600));
        assert_eq!(parse_bucket("366d").ok(), Some(366 * 86_400));
        for text in ["", "h", "0s", "-1h", "367d", "1w", "1 h", "1h'", "é"] {
            assert!(parse_bucket(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cursor_reads_back() {
        assert_eq!(parse_cursor(Some("-5.7")), Ok((Some(-5), Some(7))));
        assert!(parse_cursor(Some("5")).is_err() && parse_cursor(Some("a.b")).is_err());
    }
}
