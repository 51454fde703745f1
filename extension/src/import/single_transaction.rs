//! Imports a file in one transaction. It cannot take its locks in the order of keys, because it sees only one portion
//! at a time.

use super::importer::Importer;
use crate::error::{Code, Error};
use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::guard::{subtransaction, with_settings};
use crate::postgres::setting;
use crate::postgres::table_lock::within_lock_timeout;
use crate::template::Template;
use pgrx::prelude::PgSqlErrorCode;
use std::ffi::CString;
use std::time::Duration;

/// For how long a file waits for the import of another, where the session's `lock_timeout` is not shorter. Shorter than the
/// timeout of a statement, whose error would not say what was waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// Prepares the transaction: a concurrent import into the same template waits for its end, and in a deadlock with a
/// batch, PostgreSQL ends the batch: by the deadlock check, or if the cycle closes after that check, by the lock
/// timeout, which began earlier. Returns the import that is in the way, if this one is not to wait.
pub fn enter(template: &Template, waits: bool) -> Result<Option<Importer>, Error> {
    let number = template.id as u64;
    if !advisory_lock::try_lock(LockKind::Import, number, Mode::Exclusive) {
        // An error leaves no moment to look.
        let importer = Importer::of(template);
        if !waits && importer.is_some() {
            return Ok(importer);
        }
        wait(number).map_err(|()| busy(template, importer.as_ref()))?;
    }
    Importer::note();
    setting::set_until_commit(c"deadlock_timeout", c"1min");
    Ok(None)
}

fn wait(number: u64) -> Result<(), ()> {
    let patience =
        CString::new(format!("{}ms", within_lock_timeout(PATIENCE).as_millis())).unwrap_or_default();
    let locked = subtransaction(|| {
        with_settings(&[(c"lock_timeout", &patience)], || {
            advisory_lock::lock(LockKind::Import, number, Mode::Exclusive);
        });
    });
    let states = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
    locked.catch_also(&states, |caught| caught.is_any_of(&states).then_some(()))
}

fn busy(template: &Template, importer: Option<&Importer>) -> Error {
    let name = template.full_name();
    let message = match importer {
        Some(importer) => format!("{importer} into {name}, as one transaction; nothing was imported"),
        None => format!("another file is imported into {name}, as one transaction; nothing was imported"),
    };
    Error::new(Code::ImportInProgress, message).hint(format!(
        "Retry later, import with on_error=skip, which does not wait, or ask an administrator to end the \
         other import: DELETE /entities/template/{name}/import."
    ))
}
