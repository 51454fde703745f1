//! Buckets of a series. Pure.

use crate::error::{Code, Error};

/// Microseconds.
const SECOND: i64 = 1_000_000;

/// Buckets begin where one begins at 2000-01-01T00:00:00Z. Before the origin, `date_bin` was wrong in early releases of
/// PostgreSQL 15, so it gets an origin that no point is before: about so many seconds earlier.
const EARLIER: i64 = 211_000_000_000;

/// The aggregates of a bucket: the SQL of each, and what ends its query.
const AGGREGATES: [(&str, &str, &str); 6] = [
    ("avg", "avg(m.value)", ""),
    ("min", "min(m.value)", ""),
    ("max", "max(m.value)", ""),
    ("sum", "sum(m.value)", ""),
    ("count", "count(*)::double precision", ""),
    ("last", "m.value", " order by m.at desc, m.id desc limit 1"),
];

/// How a series is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buckets {
    seconds: i64,
    aggregate: (&'static str, &'static str, &'static str),
}

impl Buckets {
    /// Reads the width of a bucket, and what it shows.
    pub fn parse(bucket: &str, aggregate: Option<&str>) -> Result<Buckets, Error> {
        Ok(Buckets { seconds: parse_bucket(bucket)?, aggregate: parse_aggregate(aggregate)? })
    }

    /// When the bucket ends that begins at a time.
    pub fn end_of(&self, at: i64) -> i64 {
        at.saturating_add(self.seconds * SECOND)
    }

    /// The buckets that have points: $1 record, $2 metric, $3 from, $4 to, $5 at most so many, of which the last is without
    /// its value. Each is found by the first point after the one before, so that no other points are read.
    pub fn sql(&self, table: &str) -> String {
        let Buckets { seconds, aggregate: (_, value, end) } = self;
        let width = format!("interval '{seconds} seconds'");
        let earlier = EARLIER / seconds * seconds;
        let bucket = |at: &str| {
            format!(
                "date_bin({width}, {at}, timestamptz '2000-01-01T00:00:00Z' - interval '{earlier} seconds')"
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
            Error::at(Code::InvalidValue, "/bucket", format!("{text:?} is not a bucket"))
                .hint("Write a number and s, m, h or d, up to 366d: 30s, 5m, 1h, 1d.")
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
    fn a_bucket_is_a_number_and_a_unit() {
        assert_eq!(parse_bucket("1h").ok(), Some(3600));
        assert_eq!(parse_bucket("366d").ok(), Some(366 * 86_400));
        for text in ["", "h", "0s", "-1h", "367d", "1w", "1 h", "1h'", "é"] {
            assert!(parse_bucket(text).is_err(), "{text}");
        }
    }
}
