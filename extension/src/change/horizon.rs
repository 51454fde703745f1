//! The horizon of the feed. All rows before it are final, in the snapshot of the calling statement.

use super::cursor::{self, Cursor, Fingerprint, fingerprint};
use super::generation::{IS_LOCAL, TABLE};
use super::position::first_of;
use crate::error::Error;
use crate::postgres::guard::{self, as_owner};
use crate::postgres::open_transactions::with_settled;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::worker;
use crate::postgres::write_ahead_log::{LogPosition, database, end_of, flushed, system_identifier};
use crate::template::{Template, catalog};
use crate::value::table_name::{STATE, SideTable};
use std::rc::Rc;

/// The end of the readable part of the feed.
pub struct Horizon {
    /// Rows with lower positions are final. Open transactions can still write rows with higher
    /// ones.
    pub position: i64,
    /// The secret that signs cursors.
    pub secret: Vec<u8>,
    /// The position of the write-ahead log.
    pub log: LogPosition,
    /// The origin of transaction ids.
    pub origin: Fingerprint,
    /// The origins whose cursors are valid in this database.
    accepted: Vec<Fingerprint>,
}

/// A generation of the database.
struct Generation {
    number: i32,
    system_identifier: i64,
    database: i64,
    written_by: i64,
    continues: bool,
    is_of_here: bool,
}

impl Generation {
    fn origin(&self, written_by: i64) -> Fingerprint {
        let numbers = [i64::from(self.number), self.system_identifier, self.database, written_by]
            .map(|it| it.to_string());
        fingerprint(numbers.iter().map(String::as_str))
    }
}

impl Horizon {
    /// Reads up to the horizon, with the snapshot of the horizon.
    pub fn with<R>(spi: &Connection, read: impl FnOnce(&Horizon) -> Result<R, Error>) -> Result<R, Error> {
        with_settled(spi, |settled| read(&Horizon::of_snapshot(spi, settled)?))
    }

    /// The horizon of the active snapshot, which includes all transactions with ids below `settled`.
    fn of_snapshot(spi: &Connection, settled: i64) -> Result<Horizon, Error> {
        if catalog::table_oid(STATE, "change_secret").is_none() {
            return Err(guard::not_migrated());
        }
        let here = params![system_identifier(), database()];
        let sql = format!(
            "select g.generation::integer, g.system_identifier, g.database::bigint, g.written_by, g.continues, {IS_LOCAL} \
             from {TABLE} g order by g.generation"
        );
        let rows = spi.run_once(&sql, Snapshot::Active, &here);
        let read = |(number, system_identifier, database, written_by, continues, is_of_here)| Generation {
            number,
            system_identifier,
            database,
            written_by,
            continues,
            is_of_here,
        };
        let mut generations: Vec<Generation> = rows.iter().map(read).collect();
        let sql = "select s.secret from keyed_state.change_secret s";
        let secret = spi.run_once(sql, Snapshot::Active, &[]).value::<Vec<u8>>();
        let secret = secret.ok_or_else(guard::not_migrated)?;
        let present = generations.iter().rposition(|it| it.is_of_here);
        // Before the first write after a restore, all rows are final.
        let position = match present.filter(|present| present + 1 == generations.len()) {
            Some(present) => first_of(i64::from(generations[present].number)) + settled,
            None => {
                let number = generations.last().map_or(0, |last| last.number) + 1;
                generations.push(Generation {
                    number,
                    system_identifier: system_identifier(),
                    database: i64::from(database().to_u32()),
                    written_by: 0,
                    continues: false,
                    is_of_here: true,
                });
                first_of(i64::from(number))
            }
        };
        let mut accepted = Vec::new();
        for generation in generations.iter().rev() {
            // A cursor may have been issued before the first write of its generation.
            accepted.extend([generation.origin(generation.written_by), generation.origin(0)]);
            if !generation.continues {
                break;
            }
        }
        let origin = accepted[0];
        Ok(Horizon { position, secret, log: flushed(), origin, accepted })
    }

    /// Rejects a cursor if this database may lack rows that were returned before it was issued.
    pub fn check(&self, cursor: &Cursor) -> Result<(), Error> {
        if !self.accepted.contains(&cursor.origin) {
            return Err(cursor::too_old(
                "the cursor was issued by another database, or by this one before it was restored",
            ));
        }
        // Positions in the write-ahead logs of different clusters cannot be compared.
        if !self.accepted[..2].contains(&cursor.origin) {
            return Ok(());
        }
        // A standby may lag behind the server that issued the cursor.
        let is_ahead =
            cursor.timeline == self.log.timeline && cursor.lsn > self.log.lsn && !worker::is_standby();
        match end_of(cursor.timeline, self.log.timeline) {
            Some(end) if cursor.lsn <= end && !is_ahead => Ok(()),
            _ => Err(cursor::too_old(
                "the cursor was issued by a server with later changes than this one: the database failed over or was restored",
            )),
        }
    }
}

/// The greatest final position of the changes of a project. It increases when new changes become readable.
pub fn newest_settled(project: i32) -> Result<Option<i64>, Error> {
    as_owner(|| {
        connected(|spi| {
            Horizon::with(spi, |horizon| {
                let newest = |template: &Rc<Template>| {
                    let sql = format!(
                        "select h.position from {} h where h.position < $1 order by h.position desc limit 1",
                        SideTable::History.sql(template.id)
                    );
                    let end = params![horizon.position];
                    template.run(spi, &sql, Snapshot::Active, &end).value::<i64>()
                };
                let templates = catalog::of_project(spi, project);
                let with_positions = templates.iter().filter(|template| template.history_position.is_some());
                Ok(with_positions.filter_map(newest).max())
            })
        })
    })
}
