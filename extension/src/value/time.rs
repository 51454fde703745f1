//! Dates and times: strict ISO 8601 and RFC 3339 strings, and PostgreSQL's day and microsecond numbers. Pure.

use super::time_error;
use crate::error::{Code, Error};
use jiff::civil::{Date, DateTime};
use std::fmt::Write as _;

/// Days from the Unix epoch, 1970-01-01, to the PostgreSQL epoch, 2000-01-01.
const EPOCH_DAYS: i64 = 10_957;
const DAY_MICROSECONDS: i64 = 86_400_000_000;

/// The finite range of PostgreSQL's types, from 4714-11-24 BC.
const POSTGRES_DATES: std::ops::Range<i32> = -2_451_545..2_145_031_949;
const POSTGRES_TIMES: std::ops::Range<i64> = -211_813_488_000_000_000..9_223_371_331_200_000_000;

/// The range of dates in keyed: 0001-01-01 to 9999-12-31, as days since 2000-01-01.
pub const DATE_RANGE: std::ops::RangeInclusive<i32> = -730_119..=2_921_939;

/// The same range for times, as microseconds since 2000-01-01T00:00:00Z.
pub const DATETIME_RANGE: std::ops::RangeInclusive<i64> =
    -730_119 * DAY_MICROSECONDS..=2_921_940 * DAY_MICROSECONDS - 1;

/// Parses `YYYY-MM-DD` to days since 2000-01-01.
pub fn parse_date(text: &str, pointer: &str) -> Result<i32, Error> {
    let refuse = || time_error::of_date(text, pointer);
    // The parser also accepts 20240229, and ignores a time of day.
    if text.len() != 10 {
        return Err(refuse());
    }
    let date: Date = text.parse().map_err(|_| refuse())?;
    let days = date.duration_since(Date::constant(2000, 1, 1)).as_hours() / 24;
    i32::try_from(days).ok().filter(|days| DATE_RANGE.contains(days)).ok_or_else(refuse)
}

/// Parses an RFC 3339 time with an offset to microseconds since 2000-01-01T00:00:00Z, rounded.
pub fn parse_datetime(text: &str, pointer: &str) -> Result<i64, Error> {
    let at = civil_and_offset(text).and_then(|(local, offset)| {
        let nanoseconds = local.duration_since(DateTime::constant(2000, 1, 1, 0, 0, 0, 0)).as_nanos();
        let nanoseconds = nanoseconds - i128::from(offset) * 60_000_000_000;
        i64::try_from((nanoseconds + 500).div_euclid(1000)).ok().filter(|at| DATETIME_RANGE.contains(at))
    });
    at.ok_or_else(|| time_error::of_datetime(text, pointer))
}

/// Rejects a time outside [`DATETIME_RANGE`], including `infinity`. `name` is an argument or a column.
pub fn check_range(name: &str, at: i64) -> Result<(), Error> {
    if DATETIME_RANGE.contains(&at) {
        return Ok(());
    }
    let message = format!("{name} must be a time of the years 0001 to 9999");
    Err(Error::at(Code::InvalidValue, format!("/{name}"), message))
}

/// The local time and its offset from UTC in minutes. jiff's timestamp parser accepts more forms than RFC 3339, and does not
/// support the last day of the year 9999.
fn civil_and_offset(text: &str) -> Option<(DateTime, i32)> {
    if !text.is_ascii() || text.len() < 20 || !matches!(text.as_bytes()[10], b'T' | b't' | b' ') {
        return None;
    }
    let (date, rest) = (&text[..10], &text[11..]);
    let (time, offset) = match rest.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0),
        None => {
            let (time, offset) = rest.split_at_checked(rest.len() - 6)?;
            (time, parse_offset(offset)?)
        }
    };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let shaped = clock.len() == 8 && clock.split(':').count() == 3 && clock.split(':').all(digits);
    if !shaped || !digits(fraction) || fraction.len() > 9 || !digits(&date[..4]) {
        return None;
    }
    Some((date.parse::<Date>().ok()?.to_datetime(time.parse().ok()?), offset))
}

/// Parses `+hh:mm` or `-hh:mm` to minutes.
fn parse_offset(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    let sign = match bytes[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let shaped = bytes[3] == b':' && [1, 2, 4, 5].iter().all(|&position| bytes[position].is_ascii_digit());
    let (hours, minutes): (i32, i32) = (text.get(1..3)?.parse().ok()?, text.get(4..6)?.parse().ok()?);
    (shaped && hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Writes days since 2000-01-01 as `YYYY-MM-DD`. A date out of range, which can only be stored with triggers disabled, is
/// clamped.
pub fn write_date(out: &mut String, days: i32) {
    let days = days.clamp(*DATE_RANGE.start(), *DATE_RANGE.end());
    let (year, month, day) = civil_from_days(i64::from(days) + EPOCH_DAYS);
    write_civil(out, year, month, day);
}

fn write_civil(out: &mut String, year: i64, month: i64, day: i64) {
    write_padded(out, year, 4);
    out.push('-');
    write_padded(out, month, 2);
    out.push('-');
    write_padded(out, day, 2);
}

/// Writes a number with leading zeros. Every record has several times, and the standard library's formatter is slow.
fn write_padded(out: &mut String, number: i64, width: usize) {
    let mut rest = number;
    let mut digits = [b'0'; 6];
    for digit in digits[..width].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend(digits[..width].iter().map(|&digit| char::from(digit)));
}

/// Formats microseconds since 2000-01-01T00:00:00Z like [`write_datetime`].
pub fn datetime(at: i64) -> String {
    let mut out = String::new();
    write_datetime(&mut out, at);
    out
}

/// Writes microseconds since 2000-01-01T00:00:00Z as RFC 3339 in UTC, without trailing zeros in the fraction. A time out of
/// range is clamped.
pub fn write_datetime(out: &mut String, at: i64) {
    let at = at.clamp(*DATETIME_RANGE.start(), *DATETIME_RANGE.end());
    let (days, rest) = (at.div_euclid(DAY_MICROSECONDS), at.rem_euclid(DAY_MICROSECONDS));
    let (year, month, day) = civil_from_days(days + EPOCH_DAYS);
    write_civil(out, year, month, day);
    out.push('T');
    let fraction = write_clock(out, rest);
    if fraction > 0 {
        out.push('.');
        write_padded(out, fraction, 6);
        out.truncate(out.trim_end_matches('0').len());
    }
    out.push('Z');
}

/// Writes a time of day as `hh:mm:ss`, and returns the remaining microseconds.
fn write_clock(out: &mut String, microseconds: i64) -> i64 {
    let seconds = microseconds / 1_000_000;
    write_padded(out, seconds / 3600, 2);
    out.push(':');
    write_padded(out, seconds / 60 % 60, 2);
    out.push(':');
    write_padded(out, seconds % 60, 2);
    microseconds % 1_000_000
}

/// An SQL expression for any `date` of PostgreSQL, including those out of range.
pub fn date_sql(days: i32) -> Option<String> {
    let text = match days {
        i32::MAX => "infinity".to_owned(),
        i32::MIN => "-infinity".to_owned(),
        days if !POSTGRES_DATES.contains(&days) => return None,
        days => any_civil(days.into(), ""),
    };
    Some(format!("'{text}'::date"))
}

/// An SQL expression for any `timestamptz` of PostgreSQL, including those out of range.
pub fn datetime_sql(at: i64) -> Option<String> {
    let text = match at {
        i64::MAX => "infinity".to_owned(),
        i64::MIN => "-infinity".to_owned(),
        at if !POSTGRES_TIMES.contains(&at) => return None,
        at => {
            let mut clock = String::from(" ");
            let fraction = write_clock(&mut clock, at.rem_euclid(DAY_MICROSECONDS));
            let _ = write!(clock, ".{fraction:06}+00");
            any_civil(at.div_euclid(DAY_MICROSECONDS), &clock)
        }
    };
    Some(format!("'{text}'::timestamptz"))
}

/// A date of any year in PostgreSQL's text form, which has no year 0.
fn any_civil(days: i64, clock: &str) -> String {
    let (year, month, day) = civil_from_days(days + EPOCH_DAYS);
    let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    format!("{year:04}-{month:02}-{day:02}{clock}{era}")
}

/// The proleptic Gregorian date of a day number counted from 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // Years begin in March, so that the leap day is the last day of a year. 400 years have 146,097 days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}
