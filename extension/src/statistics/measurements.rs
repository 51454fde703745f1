//! Numbers for a monitoring system: the queries of [`keyed_checks::READINGS`], each by itself.

use crate::access::Caller;
use crate::error::Error;
use crate::postgres::guard::{as_owner, subtransaction, with_settings};
use crate::postgres::spi::{Snapshot, connected};
use crate::template::catalog;
use keyed_checks::READINGS;
use pgrx::prelude::PgSqlErrorCode;

/// A measurement is left out if its table is locked, an older state lacks it, or the owner may not look.
const LEFT_OUT: [PgSqlErrorCode; 5] = [
    PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
    PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
    PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
    PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION,
    PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
];

/// `[{name, labels, value}]`; what cannot be measured is left out.
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
        .catch_also(&LEFT_OUT, |caught| caught.is_any_of(&LEFT_OUT).then(Vec::new))
        .unwrap_or_else(|nothing| nothing)
}
