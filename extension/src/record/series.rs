//! Pages of a series: its points, or buckets of them.

use crate::access::{Action, Caller};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json_write::write_double;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Timestamp, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::record::read;
use crate::record::shape::write_value;
use crate::template::Template;
use crate::value::table_name::SideTable;
use crate::value::time;
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

/// `-infinity` and `infinity` as PostgreSQL counts times.
const BEFORE_ALL: i64 = i64::MIN;
const AFTER_ALL: i64 = i64::MAX;

/// What part of a series is wanted, and how.
#[derive(Debug, Default)]
pub struct SeriesQuery {
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
pub fn page(caller: &Caller, record: Uuid, slug: &str, query: &SeriesQuery) -> Result<String, Error> {
    let template = read::template_of(caller, record, Action::Read)?;
    read::require_seen(caller, &template, record)?;
    let attribute = template.position(slug).map(|position| &template.attributes[position]);
    let attribute =
        attribute.filter(|attribute| attribute.kind == AttributeType::Metric).ok_or_else(|| {
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
    let table = SideTable::Series.sql(template.id);
    // Every bound is a value, so that one plan finds the beginning of any page by the index.
    const WITHIN: &str = "m.record_id = $1 and m.attribute_id = $2 and m.at >= $3 and m.at < $4";
    let sql = match (&query.bucket, query.aggregate.as_deref()) {
        (None, None) => format!(
            "select m.at, m.value, m.id from {table} m where {WITHIN} \
             and (m.at, m.id) > ($5, $6) order by m.at, m.id limit $7"
        ),
        (None, Some(_)) => {
            return Err(Error::at(Code::InvalidValue, "/aggregate", "an aggregate needs a bucket")
                .hint("add bucket, for example bucket=1h"));
        }
        (Some(bucket), aggregate) => format!(
            "select b.at, b.value, 0::bigint from (select date_bin('{} seconds'::interval, m.at, \
             '2000-01-01T00:00:00Z'::timestamptz) as at, {} as value from {table} m where {WITHIN} group by 1) b \
             where b.at > $5 and $6::bigint is not distinct from $6 order by b.at limit $7",
            parse_bucket(bucket)?,
            parse_aggregate(aggregate)?
        ),
    };
    as_owner(|| {
        connected(|spi| {
            let arguments = params![
                record,
                attribute.id,
                Timestamp(from.unwrap_or(BEFORE_ALL)),
                Timestamp(to.unwrap_or(AFTER_ALL)),
                Timestamp(after_at.unwrap_or(BEFORE_ALL)),
                after_id.unwrap_or(i64::MIN),
                i64::from(limit) + 1
            ];
            let rows = template.run(spi, &sql, Snapshot::Active, &arguments);
            if rows.is_empty() && !exists(&template, record) {
                return Err(Error::not_found());
            }
            let shown = rows.len().min(limit as usize);
            let mut out = String::from("{\"points\":[");
            for row in 0..shown {
                out.push_str(if row > 0 { ",{\"at\":" } else { "{\"at\":" });
                write_value(&mut out, AttributeType::DateTime, rows.datum(row, 0));
                out.push_str(",\"value\":");
                write_double(&mut out, rows.get::<Option<f64>>(row, 1).unwrap_or_default());
                out.push('}');
            }
            out.push_str("],\"next_cursor\":");
            if rows.len() > shown && shown > 0 {
                let at = rows.get::<Option<i64>>(shown - 1, 0).unwrap_or_default();
                let id = rows.get::<Option<i64>>(shown - 1, 2).unwrap_or_default();
                let _ = write!(out, "\"{at}.{id}\"");
            } else {
                out.push_str("null");
            }
            out.push('}');
            Ok(out)
        })
    })
}

/// Whether the record exists, live or deleted.
fn exists(template: &Template, record: Uuid) -> bool {
    let sql = format!("select from {} t where t.id = $1", template.table_sql());
    connected(|spi| !template.run(spi, &sql, Snapshot::Active, &params![record]).is_empty())
}

fn parse_cursor(cursor: Option<&str>) -> Result<(Option<i64>, Option<i64>), Error> {
    let Some(cursor) = cursor else { return Ok((None, None)) };
    let parts = cursor.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
    parts.map(|(at, id)| (Some(at), Some(id))).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/cursor", "the cursor is not one of a series")
            .hint("send the next_cursor of the previous page, unchanged")
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
