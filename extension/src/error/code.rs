//! Error codes as PostgreSQL raises them. The table of codes is `extension/errors/src/lib.rs`.

pub use keyed_errors::Code;
use pgrx::prelude::*;
use serde::Serializer;

/// The SQLSTATE that an error of this code is raised with.
pub(super) fn sqlstate(code: Code) -> PgSqlErrorCode {
    PgSqlErrorCode::from(packed(code.sqlstate().unwrap_or("XX000")))
}

/// Writes a code by its name.
pub(super) fn as_name<S: Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}

/// A SQLSTATE as PostgreSQL packs it: six bits for each character, the first in the lowest.
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
            // pgrx makes XX000 of a state that it does not know.
            assert_eq!(sqlstate(*code) as i32, packed(state), "{code:?}: {state}");
        }
    }
}
