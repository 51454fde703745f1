//! One transaction for a whole file: how it gets along with others, although it cannot take its locks in the order of
//! the keys, which it sees only portion by portion.

use crate::postgres::guard::as_owner;
use crate::postgres::setting;
use crate::postgres::spi::{Access, connected};
use crate::template::Template;
use pgrx::pg_sys::{self, Datum};

/// The first half of the advisory lock's number, for imports: the letters `keyi`.
const LOCK: i32 = 0x6b65_7969;

/// Makes the transaction fit for a whole file: another one into the same template waits for its end, and where it
/// waits in a circle with a batch, it is the batch that PostgreSQL ends: by its deadlock check, or where the circle
/// closes after that check, by its lock timeout, which began before ours.
pub fn enter(template: &Template) {
    as_owner(|| {
        connected(|spi| {
            spi.run_once(
                "select pg_advisory_xact_lock($1, $2)",
                Access::Latest,
                &[
                    (pg_sys::INT4OID, Some(Datum::from(LOCK))),
                    (pg_sys::INT4OID, Some(Datum::from(template.id))),
                ],
            );
        });
    });
    setting::set_until_commit(c"deadlock_timeout", c"1min");
}
