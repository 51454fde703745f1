//! The time zone of a search.

use crate::error::{Code, Error};
use crate::postgres::clock;

/// The name of a time zone that PostgreSQL knows; without one, UTC.
pub fn check(name: Option<&str>) -> Result<String, Error> {
    let name = name.unwrap_or("UTC");
    // PostgreSQL also takes descriptions such as `UTC+2` and `<+07>-07`, in which a sign means the opposite of what people
    // think. Names with digits or signs are few.
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let is_name = name.split(['/', '-']).all(is_word)
        || name
            .strip_prefix("Etc/GMT")
            .is_some_and(|offset| offset.bytes().all(|it| it.is_ascii_digit() || it == b'+' || it == b'-'))
        || ["EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT"].contains(&name);
    if is_name && name.len() < 64 && clock::is_time_zone(name) {
        return Ok(name.to_owned());
    }
    Err(Error::at(Code::InvalidValue, "/time_zone", format!("{name:?} is not a time zone"))
        .hint("write a name of the IANA database, for example Europe/Zurich"))
}
