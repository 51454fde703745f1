//! Objects of others in keyed's schemas.

use crate::error::{Code, Error};
use crate::postgres::spi::{Snapshot, connected};
use pgrx::pg_sys::Oid;

/// Refuses to run if others have created objects in keyed's schemas: adopting them would run code of their owners.
pub fn refuse_objects() -> Result<(), Error> {
    let found = connected(|spi| {
        // The SQL of the extension may be older than the library, until ALTER EXTENSION … UPDATE.
        let known = spi.run_once(
            "select pg_catalog.to_regprocedure('keyed.foreign_objects()')",
            Snapshot::Latest,
            &[],
        );
        known.value::<Option<Oid>>().flatten()?;
        let sql = "select object, finding, remedy, pg_catalog.count(*) over () from keyed.foreign_objects() limit 1";
        let rows = spi.run_once(sql, Snapshot::Latest, &[]);
        let text = |column| rows.get::<Option<String>>(0, column).unwrap_or_default();
        let others = |count: i64| if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
        (!rows.is_empty()).then(|| {
            let others = others(rows.get::<Option<i64>>(0, 3).unwrap_or(1));
            (format!("{} {}{others}", text(0), text(1)), text(2))
        })
    });
    match found {
        None => Ok(()),
        Some((finding, remedy)) => Err(Error::new(
            Code::Conflict,
            format!("keyed does not adopt objects that it did not create: {finding}"),
        )
        .hint(format!("{remedy}. List all of them with SELECT * FROM keyed.foreign_objects()."))),
    }
}
