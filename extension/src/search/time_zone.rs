//! The time zone of a search.

use crate::error::{Code, Error};
use crate::postgres::clock;

/// The name of a time zone that PostgreSQL knows; without one, UTC.
pub fn check(name: Option<&str>) -> Result<String, Error> {
    let name = name.unwrap_or("UTC");
    // PostgreSQL also takes descriptions such as `<+07>-07`, in which a sign means the opposite of what people think.
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'+'));
    if is_name && name.len() < 64 && clock::is_time_zone(name) {
        return Ok(name.to_owned());
    }
    Err(Error::at(Code::InvalidValue, "/time_zone", format!("{name:?} is not a time zone"))
        .hint("write a name of the IANA database, for example Europe/Zurich"))
}
