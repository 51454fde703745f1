//! Checks the paths of a definition.

use super::misreading::{self, Misreading};
use crate::error::{Code, Error};
use crate::postgres::caught::Class;
use crate::postgres::guard::subtransaction;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use pgrx::prelude::PgSqlErrorCode;

/// Rejects a path that PostgreSQL cannot parse, or parses in an unintended way.
pub fn check(path: &str, pointer: &str) -> Result<(), Error> {
    let reject = |Misreading { message, hint }| Error::at(Code::InvalidValue, pointer, message).hint(hint);
    if let Some(misreading) = misreading::of_written(path) {
        return Err(reject(misreading));
    }
    let read = subtransaction(|| {
        connected(|spi| {
            let text = params![path];
            let sql = "select $1::pg_catalog.jsonpath::pg_catalog.text";
            spi.run_once(sql, Snapshot::Active, &text).value::<String>()
        })
    });
    let canonical = read.catch(|caught| {
        if caught.class() == Class::Other && caught.state != PgSqlErrorCode::ERRCODE_SYNTAX_ERROR {
            return None;
        }
        let message = format!("the path {path} cannot be read: {}", caught.message);
        Some(Error::at(Code::InvalidValue, pointer, message).hint(misreading::hint_of_unreadable(path)))
    })?;
    misreading::of_canonical(path, &canonical.unwrap_or_default()).map_or(Ok(()), |it| Err(reject(it)))
}
