//! Dates and time zones, computed without PostgreSQL: days and microseconds since 1970.

use super::random::Random;

pub(crate) const HOUR: i64 = 3_600_000_000;
pub(crate) const DAY: i64 = 24 * HOUR;

/// A time zone in 2024: from which time it is how many minutes ahead of UTC.
pub(crate) struct Zone {
    pub(crate) name: &'static str,
    first: i64,
    then: &'static [(&'static str, i64, i64)],
}

/// Date and hour in UTC of the clock changes.
pub(crate) const ZONES: [Zone; 5] = [
    Zone { name: "UTC", first: 0, then: &[] },
    Zone { name: "Asia/Kathmandu", first: 345, then: &[] },
    Zone { name: "Europe/Zurich", first: 60, then: &[("2024-03-31", 1, 120), ("2024-10-27", 1, 60)] },
    Zone { name: "America/New_York", first: -300, then: &[("2024-03-10", 7, -240), ("2024-11-03", 6, -300)] },
    Zone { name: "Pacific/Auckland", first: 780, then: &[("2024-04-06", 14, 720), ("2024-09-28", 14, 780)] },
];

impl Zone {
    /// The local date in this zone at this time.
    pub(crate) fn date(&self, at: i64) -> i64 {
        let moved = |&&(date, hour, _): &&(&str, i64, i64)| at >= day(date) * DAY + hour * HOUR;
        let minutes = self.then.iter().rfind(moved).map_or(self.first, |&(_, _, minutes)| minutes);
        (at + minutes * 60_000_000).div_euclid(DAY)
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn months(year: i64) -> [i64; 12] {
    [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

/// The days from 1970 to a date `YYYY-MM-DD`.
pub(crate) fn day(date: &str) -> i64 {
    let parts: Vec<i64> = date.split('-').map(|part| part.parse().expect("a date")).collect();
    let years: i64 = (1970..parts[0]).map(|year| 365 + i64::from(is_leap(year))).sum();
    years + months(parts[0]).iter().take(parts[1] as usize - 1).sum::<i64>() + parts[2] - 1
}

/// A date in ISO 8601.
pub(crate) fn write_date(mut day: i64) -> String {
    let mut year = 1970;
    while day >= 365 + i64::from(is_leap(year)) {
        day -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in months(year) {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", day + 1)
}

/// A time in RFC 3339, with any offset.
pub(crate) fn write_time(at: i64, random: &mut Random) -> String {
    let minutes: i64 = *random.pick(&[0, 0, 0, 60, -300, 345, 780]);
    let local = at + minutes * 60_000_000;
    let rest = local.rem_euclid(DAY);
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = if fraction == 0 { String::new() } else { format!(".{fraction:06}") };
    let offset = match minutes {
        0 => "Z".to_owned(),
        _ => format!(
            "{}{:02}:{:02}",
            if minutes < 0 { '-' } else { '+' },
            minutes.abs() / 60,
            minutes.abs() % 60
        ),
    };
    format!("{}T{clock}{fraction}{offset}", write_date(local.div_euclid(DAY)))
}

/// A random date, often near a clock change.
pub(crate) fn random_day(random: &mut Random) -> i64 {
    let near =
        ["2024-03-10", "2024-03-31", "2024-04-06", "2024-09-28", "2024-10-27", "2024-11-03", "2024-02-29"];
    day(random.pick::<&str>(&near)) + random.below(3) as i64 - 1
}

/// A random time, often near midnight in one of the zones.
pub(crate) fn random_time(random: &mut Random) -> i64 {
    let hours = *random.pick(&[0, 0, 1, -1, -2, 4, 5, -12, -13, 6, 7, 14]);
    let more = *random.pick(&[0, 0, -1, 1, -345 * 60_000_000, 123_456]);
    random_day(random) * DAY + hours * HOUR + more
}
