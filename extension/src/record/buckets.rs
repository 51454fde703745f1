//! Aggregates of a series in time buckets. Pure.

use crate::error::{Code, Error};

/// Microseconds.
const SECOND: i64 = 1_000_000;

/// The offset of the origin of `date_bin` before 2000-01-01T00:00:00Z, in seconds, rounded to a multiple of the width.
/// Early releases of PostgreSQL 15 return wrong buckets for times before the origin, and no point is before this one.
const ORIGIN_OFFSET: i64 = 211_000_000_000;

/// The aggregates: name, expression, and the end of the query.
const AGGREGATES: [(&str, &str, &str); 6] = [
    ("avg", "avg(m.value)", ""),
    ("min", "min(m.value)", ""),
    ("max", "max(m.value)", ""),
    ("sum", "sum(m.value)", ""),
    ("count", "count(*)::double precision", ""),
    ("last", "m.value", " order by m.at desc, m.id desc limit 1"),
];

/// The width and the aggregate of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buckets {
    seconds: i64,
    aggregate: (&'static str, &'static str, &'static str),
}

impl Buckets {
    /// Parses the width of a bucket and the aggregate.
    pub fn parse(bucket: &str, aggregate: Option<&str>) -> Result<Buckets, Error> {
        Ok(Buckets { seconds: parse_bucket(bucket)?, aggregate: parse_aggregate(aggregate)? })
    }

    /// The end of the bucket that begins at a time.
    pub fn end_of(&self, at: i64) -> i64 {
        at.saturating_add(self.seconds * SECOND)
    }

    /// The query for buckets with points: $1 record, $2 metric, $3 from, $4 to, $5 limit; the last bucket has no value.
    /// The first point after a bucket determines the next bucket, so that empty ranges are skipped.
    pub fn sql(&self, table: &str) -> String {
        let Buckets { seconds, aggregate: (_, value, end) } = self;
        let width = format!("interval '{seconds} seconds'");
        let offset = ORIGIN_OFFSET / seconds * seconds;
        let bucket = |at: &str| {
            format!(
                "date_bin({width}, {at}, timestamptz '2000-01-01T00:00:00Z' - interval '{offset} seconds')"
            )
        };
        let points = format!(
            "from {table} m where m.record_id = $1 and m.attribute_id = $2 and m.at > '-infinity' and m.at < $4"
        );
        let (first, next) = (bucket("first.at"), bucket("next.at"));
        format!(
            "with recursive b (at, number) as ( \
               select {first}, 1::bigint from (select m.at {points} and m.at >= $3 order by m.at limit 1) first \
               union all \
               select {next}, b.number + 1 from b cross join lateral \
                 (select m.at {points} and m.at >= b.at + {width} order by m.at limit 1) next \
               where b.number < $5) \
             select b.at, v.value, 0::bigint from b left join lateral \
               (select {value} as value {points} and m.at >= greatest(b.at, $3) and m.at < b.at + {width} \
                and b.number < $5{end}) v on true order by b.number"
        )
    }
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
            Error::at(Code::InvalidValue, "/bucket", format!("{text:?} is not a valid bucket"))
                .hint("Use a number followed by s, m, h or d, such as 30s, 5m, 1h or 1d, up to 366d.")
        })
}

fn parse_aggregate(name: Option<&str>) -> Result<(&'static str, &'static str, &'static str), Error> {
    let name = name.unwrap_or("avg");
    AGGREGATES.into_iter().find(|row| row.0 == name).ok_or_else(|| {
        let names: Vec<&str> = AGGREGATES.iter().map(|row| row.0).collect();
        Error::at(Code::InvalidValue, "/aggregate", format!("{name:?} is not an aggregate"))
            .hint(format!("Use one of the aggregates {}.", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_is_a_number_with_a_unit() {
        assert_eq!(parse_bucket("1h").ok(), Some(3600));
        assert_eq!(parse_bucket("366d").ok(), Some(366 * 86_400));
        for text in ["", "h", "0s", "-1h", "367d", "1w", "1 h", "1h'", "é"] {
            assert!(parse_bucket(text).is_err(), "{text}");
        }
    }
}
