//! Raises errors with PostgreSQL's `ereport`.

use crate::error::{Code, Error};
use pgrx::prelude::*;

/// Raises an error in a function that PostgreSQL called.
pub trait Raise {
    /// Raises SQLSTATE, message, hint, and the JSON of [`Error::detail`] as DETAIL.
    fn raise(self) -> !;
}

impl Raise for Error {
    fn raise(self) -> ! {
        let detail = self.detail();
        let message = self.located_message();
        let mut report =
            pg_sys::panic::ErrorReport::new(sqlstate(self.code), message, "keyed").set_detail(detail);
        if let Some(hint) = self.hint {
            report = report.set_hint(hint);
        }
        report.report(PgLogLevel::ERROR);
        unreachable!("an error report of level ERROR does not return")
    }
}

/// Unwraps a result in a function that PostgreSQL called.
pub trait OrRaise<T> {
    /// Returns the value, or raises the error.
    fn or_raise(self) -> T;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self) -> T {
        self.unwrap_or_else(|error| error.raise())
    }
}

/// The SQLSTATE that an error of this code is raised with.
fn sqlstate(code: Code) -> PgSqlErrorCode {
    PgSqlErrorCode::from(packed(code.sqlstate().unwrap_or("XX000")))
}

/// A SQLSTATE as `MAKE_SQLSTATE` packs it: six bits for each character, the first in the lowest bits.
fn packed(sqlstate: &str) -> i32 {
    sqlstate.bytes().rev().fold(0, |packed, byte| (packed << 6) | i32::from((byte - b'0') & 0x3f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_raised_with_the_sqlstate_of_the_table() {
        assert_eq!(sqlstate(Code::MalformedRequest), PgSqlErrorCode::ERRCODE_INVALID_JSON_TEXT);
        assert_eq!(sqlstate(Code::NotFound), PgSqlErrorCode::ERRCODE_NO_DATA_FOUND);
        for code in Code::ALL {
            let state = code.sqlstate().unwrap_or("XX000");
            // pgrx maps an unknown SQLSTATE to XX000.
            assert_eq!(sqlstate(*code) as i32, packed(state), "{code:?}: {state}");
        }
    }
}
