//! History rows in feed order, read from each table in chunks.

use super::position::FeedPosition;
use crate::json::binary;
use crate::postgres::datum;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Rows, Snapshot};
use crate::template::Template;
use crate::value::table_name::SideTable;
use std::collections::VecDeque;
use uuid::Uuid;

/// The initial and the maximum number of rows in a chunk.
const FIRST_CHUNK: usize = 16;
const MAX_CHUNK: usize = 1000;

/// A row of history.
pub struct Change {
    /// Its place in the feed.
    pub feed_position: FeedPosition,
    /// The record.
    pub record: Uuid,
    /// Microseconds since 2000-01-01T00:00:00Z.
    pub at: i64,
    /// The actor.
    pub actor: String,
    /// The source.
    pub source: String,
    /// The operation.
    pub operation: String,
    /// The key after the change.
    pub external_key: Option<String>,
    /// The previous key, if the change changed it.
    pub previous_key: Option<String>,
    /// The names of the changed fields.
    pub changed: Vec<String>,
}

/// The history of a template after a position.
struct Source<'t> {
    /// Its index among the templates.
    index: usize,
    template: &'t Template,
    read: VecDeque<Change>,
    /// The lower bound of the next chunk, exclusive.
    last: (i64, Uuid, i32),
    chunk: usize,
    is_at_end: bool,
}

/// The changes of several templates, merged in feed order.
pub struct Changes<'t> {
    sources: Vec<Source<'t>>,
    horizon: i64,
}

impl<'t> Changes<'t> {
    /// The changes between a position and the horizon. `expected` is the approximate number of rows that
    /// the caller reads.
    pub fn behind(
        feed_position: &FeedPosition,
        horizon: i64,
        templates: impl ExactSizeIterator<Item = &'t Template>,
        expected: usize,
    ) -> Changes<'t> {
        let chunk = if templates.len() == 1 { expected } else { FIRST_CHUNK.min(expected) };
        let source = |(index, template): (usize, &'t Template)| Source {
            index,
            template,
            read: VecDeque::new(),
            last: feed_position.within(template.id),
            chunk: chunk.clamp(1, MAX_CHUNK),
            is_at_end: false,
        };
        Changes { sources: templates.enumerate().map(source).collect(), horizon }
    }

    /// The next change, with the index of its template.
    pub fn next(&mut self, spi: &Connection) -> Option<(usize, Change)> {
        self.sources.retain_mut(|source| source.fill(spi, self.horizon));
        let next =
            self.sources.iter_mut().min_by_key(|source| source.read.front().map(|it| it.feed_position))?;
        let change = next.read.pop_front()?;
        Some((next.index, change))
    }
}

impl Source<'_> {
    /// Reads the next chunk of each exhausted source. Returns whether there are more rows.
    fn fill(&mut self, spi: &Connection, horizon: i64) -> bool {
        if self.read.is_empty() && !self.is_at_end {
            let chunk = self.chunk;
            self.chunk = (2 * chunk).min(MAX_CHUNK);
            let sql = format!(
                "select h.position, h.record_id, h.version, h.at, h.actor, h.source, h.operation, h.external_key, h.changes, \
                 h.changes -> 'external_key' ->> 'old' from {} h \
                 where (h.position, h.record_id, h.version) > ($1, $2, $3) and h.position < $4 \
                 order by h.position, h.record_id, h.version limit $5",
                SideTable::History.sql(self.template.id)
            );
            let (position, record, version) = self.last;
            let arguments = params![position, record, version, horizon, chunk as i64];
            let rows = self.template.run(spi, &sql, Snapshot::Active, &arguments);
            self.is_at_end = rows.len() < chunk;
            self.read.extend((0..rows.len()).map(|row| read(&rows, row, self.template.id)));
            if let Some(last) = self.read.back() {
                self.last = (last.feed_position.position, last.record, last.feed_position.version);
            }
        }
        !self.read.is_empty()
    }
}

fn read(rows: &Rows, row: usize, template: i32) -> Change {
    let record = rows.get(row, 1);
    let feed_position = FeedPosition {
        position: rows.get(row, 0),
        template,
        record,
        version: rows.get(row, 2),
        derived: None,
    };
    let changed = rows.datum(row, 8).map(|changes| {
        datum::with_bytes(changes, |content| binary::names(content).into_iter().map(str::to_owned).collect())
    });
    Change {
        feed_position,
        record,
        at: rows.get(row, 3),
        actor: rows.get(row, 4),
        source: rows.get(row, 5),
        operation: rows.get(row, 6),
        external_key: rows.get(row, 7),
        previous_key: rows.get(row, 9),
        changed: changed.unwrap_or_default(),
    }
}
