//! The time zone of a search.

use crate::error::{Code, Error};
use crate::postgres::clock;
use crate::template::{Template, catalog};

/// The time zone of a search: that of the request, else of the project, else UTC.
pub fn of_search(asked: Option<&str>, template: &Template) -> Result<String, Error> {
    match asked {
        Some(name) => check(name),
        None => of_project(template).map(|name| name.unwrap_or_else(|| "UTC".to_owned())),
    }
}

/// The time zone of a template's project, if it has one.
pub fn of_project(template: &Template) -> Result<Option<String>, Error> {
    let name = catalog::project_by_id(template.project_id).and_then(|project| project.time_zone);
    // PostgreSQL's time zones change with its version.
    name.map(|name| check(&name)).transpose()
}

/// The name of a time zone that PostgreSQL supports.
pub fn check(name: &str) -> Result<String, Error> {
    // PostgreSQL also accepts descriptions such as `UTC+2` and `<+07>-07`, in which the sign is inverted. Few names have
    // digits or signs.
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let is_name = name.split(['/', '-']).all(is_word)
        || name
            .strip_prefix("Etc/GMT")
            .is_some_and(|offset| offset.bytes().all(|it| it.is_ascii_digit() || it == b'+' || it == b'-'))
        || ["EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT", "GMT0", "GMT+0", "GMT-0"].contains(&name);
    // Files of the database that are not zones: rules, and the setting of the server's machine.
    let is_none = ["localtime", "posixrules", "Factory"].contains(&name);
    if is_name && !is_none && name.len() < 64 && clock::is_time_zone(name) {
        return Ok(name.to_owned());
    }
    Err(Error::at(Code::InvalidValue, "/time_zone", format!("{name:?} is not a time zone"))
        .hint("Use a name of the IANA database, for example Europe/Zurich."))
}
