//! Error messages for strings that are not a date or not a time. Each names the actual error. Pure.

use crate::error::{Code, Error};
use jiff::civil::Date;

const DATE_HINT: &str = "Write a year from 0001 to 9999, a month and a day, for example 2024-02-29.";
const TIME_HINT: &str = "Write RFC 3339, for example 2024-02-29T13:45:00Z or 2024-02-29T14:45:00.5+01:00.";

/// The error of a string that is not a date.
pub fn of_date(text: &str, pointer: &str) -> Error {
    let (message, hint) = match split_date(text) {
        Some((date, "")) => (missing_day(date), DATE_HINT.to_owned()),
        Some((date, rest)) if rest.starts_with(['T', 't', ' ']) => {
            (format!("{text:?} has a time of day"), format!("Write only the date: {date}."))
        }
        _ => (format!("{text:?} does not have the form YYYY-MM-DD"), DATE_HINT.to_owned()),
    };
    Error::at(Code::InvalidValue, pointer, message).hint(hint)
}

/// The error of a string that is not a time with an offset.
pub fn of_datetime(text: &str, pointer: &str) -> Error {
    let (message, hint) = datetime_error(text)
        .unwrap_or_else(|| (format!("{text:?} does not have the form of RFC 3339"), TIME_HINT.to_owned()));
    Error::at(Code::InvalidValue, pointer, message).hint(hint)
}

/// Whether a text begins in the form `0000-00-00`.
pub fn begins_like_a_date(text: &str) -> bool {
    split_date(text).is_some()
}

/// The message for a string in the form of a date.
fn missing_day(date: &str) -> String {
    match &date[..4] {
        "0000" => "the year 0000 is outside the range 0001 to 9999".to_owned(),
        _ => format!("there is no day {date}"),
    }
}

/// The parts of a string that begins like a time.
struct Parts<'a> {
    /// `hh:mm`.
    clock: &'a str,
    seconds: Option<&'a str>,
    /// The digits of the fraction.
    fraction: Option<&'a str>,
    /// The rest of the text.
    offset: &'a str,
}

/// The message and the hint; `None` if the text has another form.
fn datetime_error(text: &str) -> Option<(String, String)> {
    let (date, rest) = split_date(text)?;
    if rest.is_empty() {
        let hint = format!("Write the time and its offset too, for example {date}T00:00:00Z.");
        return Some((format!("{text:?} is a date without a time"), hint));
    }
    let parts = Parts::of(rest.strip_prefix(['T', 't', ' '])?)?;
    let Parts { clock, offset, .. } = parts;
    let general = |message: String| Some((message, TIME_HINT.to_owned()));
    match offset {
        "" | "Z" | "z" => {}
        _ if has_form(offset, "+00:00") || has_form(offset, "-00:00") => {}
        _ if has_form(offset, " 00:00") => {
            let hint = "Write + or - before the offset. In a query string, write + as %2B.";
            return Some((format!("{text:?} has a space instead of the offset's sign"), hint.to_owned()));
        }
        _ if ["+0000", "-0000", "+00", "-00", "+0:00", "-0:00"].iter().any(|form| has_form(offset, form)) => {
            return general(format!("the offset {offset} does not have the form +hh:mm or -hh:mm"));
        }
        _ => return None,
    }
    match (parts.seconds, offset) {
        (None, "") => return general(format!("{text:?} has no seconds and no offset")),
        (None, _) => {
            let hint = format!("Write {date}T{clock}:00{offset}.");
            return Some((format!("{text:?} has no seconds"), hint));
        }
        (Some(_), "") => {
            let hint =
                format!("Write {text}Z if it is in UTC, otherwise its offset, for example {text}+01:00.");
            return Some((format!("{text:?} has no offset"), hint));
        }
        (Some(seconds), _)
            if !is_at_most(&clock[..2], 23) || !is_at_most(&clock[3..], 59) || !is_at_most(seconds, 60) =>
        {
            return general(format!("there is no time {clock}:{seconds}"));
        }
        _ => {}
    }
    if parts.fraction.is_some_and(|digits| digits.len() > 9) {
        return general(format!("{text:?} has more than 9 digits after the seconds"));
    }
    if offset.len() == 6 && !(is_at_most(&offset[1..3], 23) && is_at_most(&offset[4..], 59)) {
        return general(format!("there is no offset {offset}"));
    }
    if date.starts_with("0000") || date.parse::<Date>().is_err() {
        return general(missing_day(date));
    }
    general(format!("{text:?} in UTC is outside the years 0001 to 9999"))
}

impl<'a> Parts<'a> {
    fn of(time: &'a str) -> Option<Parts<'a>> {
        let clock = time.get(..5).filter(|clock| has_form(clock, "00:00"))?;
        let mut offset = &time[5..];
        let seconds = offset.get(..3).filter(|seconds| has_form(seconds, ":00")).map(|seconds| &seconds[1..]);
        let mut fraction = None;
        if seconds.is_some() {
            offset = &offset[3..];
            if let Some(rest) = offset.strip_prefix('.') {
                let length = rest.bytes().take_while(u8::is_ascii_digit).count();
                fraction = Some(rest.get(..length).filter(|digits| !digits.is_empty())?);
                offset = &rest[length..];
            }
        }
        Some(Parts { clock, seconds, fraction, offset })
    }
}

/// Splits a string after a date in the form YYYY-MM-DD.
fn split_date(text: &str) -> Option<(&str, &str)> {
    let (date, rest) = text.split_at_checked(10)?;
    has_form(date, "0000-00-00").then_some((date, rest))
}

/// Whether a string matches a form, in which 0 stands for any digit.
fn has_form(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            _ => byte == form,
        })
}

fn is_at_most(digits: &str, max: u8) -> bool {
    digits.parse::<u8>().is_ok_and(|number| number <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_error_names_the_cause() {
        for (text, message, hint) in [
            ("2024-02-30", "there is no day 2024-02-30", "for example 2024-02-29"),
            ("0000-01-01", "the year 0000 is outside the range 0001 to 9999", "a year from 0001"),
            ("2024-02-29T00:00:00Z", "has a time of day", "Write only the date: 2024-02-29."),
            ("29.2.2024", "\"29.2.2024\" does not have the form YYYY-MM-DD", "a month and a day"),
            ("20240229", "does not have the form", "a month and a day"),
            ("2024-02-29x", "does not have the form", "a month and a day"),
            ("٢٠٢٤-01-05", "does not have the form", "a month and a day"),
            ("", "does not have the form", "a month and a day"),
        ] {
            let error = of_date(text, "/a");
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{text}: {:?}", error.hint);
        }
    }

    #[test]
    fn time_error_names_the_cause() {
        for (text, message, hint) in [
            ("2024-03-01T10:00Z", "\"2024-03-01T10:00Z\" has no seconds", "Write 2024-03-01T10:00:00Z."),
            ("2024-03-01 10:00+01:00", "has no seconds", "Write 2024-03-01T10:00:00+01:00."),
            ("2024-03-01T10:00", "has no seconds and no offset", "RFC 3339"),
            ("2024-03-01T10:00:00", "has no offset", "Write 2024-03-01T10:00:00Z if it is in UTC"),
            ("2024-03-01T10:00:00.5", "has no offset", "for example 2024-03-01T10:00:00.5+01:00"),
            ("2024-03-01", "is a date without a time", "for example 2024-03-01T00:00:00Z"),
            ("2024-03-01T10:00:00 01:00", "has a space instead of the offset's sign", "write + as %2B"),
            ("2024-03-01T10:00:00+0100", "the offset +0100 does not have the form +hh:mm", "RFC 3339"),
            ("2024-03-01T10:00:00+01", "the offset +01 does not have the form", "RFC 3339"),
            ("2024-03-01T10:00:00+25:00", "there is no offset +25:00", "RFC 3339"),
            ("2024-03-01T24:00:00Z", "there is no time 24:00:00", "RFC 3339"),
            ("2024-03-01T10:00:61Z", "there is no time 10:00:61", "RFC 3339"),
            ("2024-02-30T10:00:00Z", "there is no day 2024-02-30", "RFC 3339"),
            ("0000-12-31T10:00:00Z", "the year 0000 is outside the range", "RFC 3339"),
            ("2024-03-01T10:00:00.1234567890Z", "more than 9 digits after the seconds", "RFC 3339"),
            ("9999-12-31T23:59:59-01:00", "in UTC is outside the years 0001 to 9999", "RFC 3339"),
            ("2024-03-01T10:00:00.Z", "does not have the form of RFC 3339", "RFC 3339"),
            ("2024-03-01T10:00:00,5Z", "does not have the form of RFC 3339", "RFC 3339"),
            ("2024-03-01T10:00:00Z[Europe/Paris]", "does not have the form of RFC 3339", "RFC 3339"),
            ("2024-03-01T1:00:00Z", "does not have the form of RFC 3339", "RFC 3339"),
            ("now", "\"now\" does not have the form of RFC 3339", "RFC 3339"),
            ("1709214300", "does not have the form of RFC 3339", "RFC 3339"),
            ("2024-03-01T10:é0:00Z", "does not have the form of RFC 3339", "RFC 3339"),
        ] {
            let error = of_datetime(text, "/a");
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{text}: {:?}", error.hint);
        }
    }
}
