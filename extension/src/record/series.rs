//! Pages of a series: its points, or buckets of them.

use crate::access::{Action, Caller};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json_write::write_double;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Timestamp, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::record::buckets::Buckets;
use crate::record::read;
use crate::record::shape::write_value;
use crate::template::Template;
use crate::value::table_name::SideTable;
use crate::value::time;
use std::fmt::Write as _;
use uuid::Uuid;

const DEFAULT_LIMIT: i32 = 1000;
const MAX_LIMIT: i32 = 10_000;

/// `-infinity` and `infinity` as PostgreSQL's timestamps.
pub(super) const BEFORE_ALL: i64 = i64::MIN;
pub(super) const AFTER_ALL: i64 = i64::MAX;

/// The parameters of a page.
#[derive(Debug, Default)]
pub struct SeriesQuery {
    /// The start, inclusive (RFC 3339).
    pub from: Option<String>,
    /// The end, exclusive (RFC 3339).
    pub to: Option<String>,
    /// The width of a bucket: a number and s, m, h or d.
    pub bucket: Option<String>,
    /// The aggregate of a bucket.
    pub aggregate: Option<String>,
    /// The maximum number of points.
    pub limit: Option<i32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The series of a record's metric: `{points:[{at,value}],next_cursor}`, oldest first.
pub fn page(caller: &Caller, record: Uuid, slug: &str, query: &SeriesQuery) -> Result<String, Error> {
    let template = read::template_of(caller, record, Action::Read)?;
    read::require_visible(caller, &template, record)?;
    let attribute = &template.attributes[metric_at(&template, slug)?];
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Error::at(
            Code::InvalidValue,
            "/limit",
            format!("limit must be a number from 1 to {MAX_LIMIT}"),
        ));
    }
    let (from, to) = (bound(query.from.as_deref(), "/from")?, bound(query.to.as_deref(), "/to")?);
    let (after_at, after_id) = parse_cursor(query.cursor.as_deref())?;
    let table = SideTable::Series.sql(template.id);
    let buckets = match (&query.bucket, query.aggregate.as_deref()) {
        (Some(bucket), aggregate) => Some(Buckets::parse(bucket, aggregate)?),
        (None, None) => None,
        (None, Some(_)) => {
            return Err(Error::at(Code::InvalidValue, "/aggregate", "aggregate requires bucket")
                .hint("Add bucket, for example bucket=1h."));
        }
    };
    let (from, to) = (from.unwrap_or(BEFORE_ALL), Timestamp(to.unwrap_or(AFTER_ALL)));
    // One extra row shows whether there is another page.
    let row_limit = i64::from(limit) + 1;
    // Every bound is a parameter with a value, so that one plan with an index scan works for all pages.
    let (sql, arguments) = match buckets {
        None => {
            let sql = format!(
                "select m.at, m.value, m.id from {table} m where m.record_id = $1 and m.attribute_id = $2 \
                 and m.at >= $3 and m.at < $4 and (m.at, m.id) > ($5, $6) order by m.at, m.id limit $7"
            );
            let after = (Timestamp(after_at.unwrap_or(BEFORE_ALL)), after_id.unwrap_or(i64::MIN));
            let arguments =
                params![record, attribute.id, Timestamp(from), to, after.0, after.1, row_limit].to_vec();
            (sql, arguments)
        }
        Some(buckets) => {
            let from = after_at.map_or(from, |at| from.max(buckets.end_of(at)));
            (buckets.sql(&table), params![record, attribute.id, Timestamp(from), to, row_limit].to_vec())
        }
    };
    as_owner(|| {
        connected(|spi| {
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

/// The position of a metric among the attributes.
pub(super) fn metric_at(template: &Template, slug: &str) -> Result<usize, Error> {
    let position = template.position(slug);
    let is_metric = |position: &usize| template.attributes[*position].kind == AttributeType::Metric;
    position.filter(is_metric).ok_or_else(|| {
        let message = format!("{} has no metric {slug:?}", template.full_name());
        Error::at(Code::UnknownAttribute, "/slug", message)
    })
}

/// Parses an optional time.
pub(super) fn bound(text: Option<&str>, pointer: &str) -> Result<Option<i64>, Error> {
    text.map(|text| time::parse_datetime(text, pointer)).transpose()
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
        Error::at(Code::InvalidValue, "/cursor", "the cursor is not valid for a series")
            .hint("Send the next_cursor of the previous page, unchanged.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_has_time_and_id() {
        assert_eq!(parse_cursor(Some("-5.7")), Ok((Some(-5), Some(7))));
        assert!(parse_cursor(Some("5")).is_err() && parse_cursor(Some("a.b")).is_err());
    }
}
