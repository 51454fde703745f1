//! Serial number → date and time.

/// The serial number of 1970-01-01 in the 1900 date system, which includes the nonexistent 29 February 1900 as day 60.
const DAYS_TO_1970: i64 = 25_569;
/// The days between the 1900 and the 1904 date system.
const DAYS_TO_1904: i64 = 1_462;
/// The day after the last date that a cell can display.
const END: i64 = 2_958_466;
const MILLISECONDS: i64 = 86_400_000;

/// The date and time of a serial number, to the millisecond; `None` if a cell cannot display it as a date.
pub(super) fn date(number: f64, is_1904: bool) -> Option<String> {
    let first = if is_1904 { 0.0 } else { 1.0 };
    if !(first..END as f64).contains(&number) {
        return None;
    }
    let milliseconds = (number * MILLISECONDS as f64).round() as i64;
    let (mut day, time) = (milliseconds / MILLISECONDS, milliseconds % MILLISECONDS);
    if is_1904 {
        day += DAYS_TO_1904;
    }
    if day >= END {
        return None;
    }
    let date = match day {
        60 => "1900-02-29".to_owned(),
        ..60 => calendar(day - DAYS_TO_1970 + 1),
        61.. => calendar(day - DAYS_TO_1970),
    };
    let (seconds, fraction) = (time / 1000, time % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = if fraction == 0 { String::new() } else { format!(".{fraction:03}") };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}"))
}

/// The date of a day, counted from 1970-01-01.
fn calendar(day: i64) -> String {
    // Years begin in March here, so that a leap day is the last day of a year, and every 400 years have the same number
    // of days.
    let day = day + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_number_is_converted_in_both_date_systems() {
        for (number, is_1904, expected) in [
            (1.0, false, "1900-01-01T00:00:00"),
            (59.0, false, "1900-02-28T00:00:00"),
            (60.0, false, "1900-02-29T00:00:00"),
            (61.0, false, "1900-03-01T00:00:00"),
            (25_569.0, false, "1970-01-01T00:00:00"),
            (45_351.573_263_888_89, false, "2024-02-29T13:45:30"),
            (45_351.999_999_999_9, false, "2024-03-01T00:00:00"),
            (45_291.000_000_011_57, false, "2023-12-31T00:00:00.001"),
            (2_958_465.999_988_426, false, "9999-12-31T23:59:59"),
            (0.0, true, "1904-01-01T00:00:00"),
            (43_889.5, true, "2024-02-29T12:00:00"),
        ] {
            assert_eq!(date(number, is_1904).as_deref(), Some(expected), "{number}");
        }
        for (number, is_1904) in [
            (0.5, false),
            (-1.0, false),
            (f64::NAN, false),
            (f64::INFINITY, false),
            (2_958_466.0, false),
            (2_958_465.999_999_999_9, false),
            (2_957_004.0, true),
        ] {
            assert_eq!(date(number, is_1904), None, "{number}");
        }
    }
}
