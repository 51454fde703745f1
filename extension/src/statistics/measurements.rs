//! Measurements for monitoring: runs each query of [`keyed_checks::READINGS`] separately.

use crate::access::Caller;
use crate::error::Error;
use crate::postgres::guard::{as_owner, subtransaction, with_settings};
use crate::postgres::spi::{Snapshot, connected};
use crate::template::catalog;
use keyed_checks::READINGS;
use pgrx::prelude::PgSqlErrorCode;

/// A measurement is omitted if its table is locked or missing, or if the owner lacks privileges.
const OMITTED: [PgSqlErrorCode; 5] = [
    PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
    PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
    PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
    PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION,
    PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
];

/// `[{name, labels, value}]` of the available measurements.
pub(super) fn report() -> Result<String, Error> {
    Caller::current().require_maintenance("measure the database")?;
    if !catalog::state_exists() {
        return Ok("[]".to_owned());
    }
    // A definition that has locked a table must not delay monitoring.
    let settings = [(c"lock_timeout", c"100ms")];
    let measured: Vec<String> =
        as_owner(|| with_settings(&settings, || READINGS.iter().flat_map(|query| read(query)).collect()));
    Ok(format!("[{}]", measured.join(",")))
}

fn read(query: &str) -> Vec<String> {
    let sql = format!(
        "select jsonb_build_object('name', m.name, 'labels', m.labels::jsonb, 'value', m.value)::text \
         from ({query}) m (name, labels, value) where m.value is not null"
    );
    let measured =
        subtransaction(|| connected(|spi| spi.run_once(&sql, Snapshot::Active, &[]).column().collect()));
    measured
        .catch_also(&OMITTED, |caught| caught.is_any_of(&OMITTED).then(Vec::new))
        .unwrap_or_else(|nothing| nothing)
}
