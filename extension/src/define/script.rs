//! Runs a script that changes the tables of the state.

use crate::error::Error;
use crate::postgres::guard::{subtransaction, with_settings};
use crate::postgres::spi::connected;
use crate::postgres::table_lock;
use pgrx::prelude::PgSqlErrorCode;

/// Runs a step of the state. It changes tables that every session reads. While it waits for a lock on one, later sessions
/// wait behind it, so it gives up after two seconds: an idle transaction would keep all of them waiting.
pub fn run(script: &str) -> Result<(), Error> {
    let run = || with_settings(&[(c"lock_timeout", c"2s")], || connected(|spi| spi.script(script)));
    let locked = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
    let busy = || table_lock::still_busy("the tables of keyed's state");
    subtransaction(run).catch_also(&locked, |caught| caught.is_any_of(&locked).then(busy))
}
