//! The shard that this database is.

use super::catalog;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Connection, Snapshot, connected};

/// The shard of this database; `None` if the database is not sharded.
pub fn current() -> Option<i32> {
    // A database that is not migrated lacks the table.
    catalog::table_oid("keyed_state", "shard")?;
    as_owner(|| connected(stored))
}

/// The same, as `keyed_owner`, in a database that has the table.
pub fn stored(spi: &Connection) -> Option<i32> {
    let rows = spi.run_once("select s.shard from keyed_state.shard s", Snapshot::Latest, &[]);
    rows.value::<Option<i32>>().flatten()
}
