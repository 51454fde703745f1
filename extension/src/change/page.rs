//! A page of the feed.

use super::cursor::{self, Cursor};
use super::derived;
use super::entry::{Disclosure, write_change, write_derived, write_gone};
use super::followed::{Followed, Following};
use super::horizon::Horizon;
use super::position::{Derived, FeedPosition};
use super::rows::{Change, Changes};
use super::visible;
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::array;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::record::read;
use crate::record::shape::Projection;
use crate::record::statement::columns;
use crate::template::Template;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// The default and the maximum number of entries on a page.
const DEFAULT_LIMIT: i32 = 100;
const MAX_LIMIT: i32 = 1000;
/// A page ends with the entry that makes it exceed this size in bytes, because a record may contain strings
/// of several megabytes.
const MAX_BYTES: usize = 8 << 20;
/// The maximum number of history rows that are read for a page. If few of them are visible to the caller, the page may
/// be empty and still have a cursor.
const MAX_ROWS: usize = 20_000;
/// The number of changes whose visibility is checked together. Their records are in memory.
const CHANGES_PER_CHECK: usize = 200;

/// The parameters of a page.
pub struct Request {
    /// A cursor, `start`, or `None` for new changes only.
    pub after: Option<String>,
    /// The maximum number of entries.
    pub limit: Option<i32>,
    /// Whether entries contain the current record.
    pub with_record: bool,
    /// A cursor at which the page ends, instead of at the horizon of the snapshot. The snapshot must be newer than the one
    /// that the cursor was read with: rows before the cursor were final then.
    pub until: Option<String>,
}

/// The page: `{changes, next_cursor, has_more}`.
pub fn page(following: &Following, request: &Request) -> Result<String, Error> {
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let message = format!("limit is a number from 1 to {MAX_LIMIT}");
        return Err(Error::at(Code::InvalidValue, "/limit", message));
    }
    as_owner(|| {
        connected(|spi| {
            Horizon::with(spi, |horizon| of_horizon(spi, following, request, horizon, limit as usize))
        })
    })
}

fn of_horizon(
    spi: &Connection,
    following: &Following,
    request: &Request,
    horizon: &Horizon,
    limit: usize,
) -> Result<String, Error> {
    let mut page =
        Page { spi, following, request, limit, entries: String::new(), count: 0, rows: 0, has_more: false };
    let position_of = |text: &str| {
        let cursor = Cursor::from_signed_text(text, &horizon.secret)?;
        if cursor.scope != following.scope {
            return Err(cursor::invalid_cursor());
        }
        horizon.check(&cursor)?;
        if cursor.access != following.access_fingerprint(cursor.templates) {
            let message = "the read access of the caller has changed since the cursor was issued";
            return Err(cursor::too_old(message));
        }
        Ok(cursor.feed_position)
    };
    let end = match request.until.as_deref() {
        Some(until) => position_of(until)?.end(),
        None => horizon.position,
    };
    let feed_position = match request.after.as_deref() {
        None => FeedPosition::before(end),
        Some("start") => page.read(end, FeedPosition::START),
        Some(after) => {
            let from = position_of(after)?;
            let feed_position = page.read(end, from);
            // The caller has read changes beyond `until`.
            page.has_more |= request.until.is_some() && from.end() > end;
            feed_position
        }
    };
    let templates = newest_template(spi);
    let next = Cursor {
        origin: horizon.origin,
        timeline: horizon.log.timeline,
        lsn: horizon.log.lsn,
        scope: following.scope,
        templates,
        access: following.access_fingerprint(templates),
        feed_position,
    };
    let (entries, cursor, has_more) = (page.entries, next.to_signed_text(&horizon.secret), page.has_more);
    Ok(format!("{{\"changes\":[{entries}],\"next_cursor\":\"{cursor}\",\"has_more\":{has_more}}}"))
}

/// The greatest template id in the snapshot. Changes of later templates are after the horizon.
fn newest_template(spi: &Connection) -> i32 {
    let sql = "select max(t.id) from keyed_state.template t";
    spi.run_once(sql, Snapshot::Active, &[]).value::<Option<i32>>().flatten().unwrap_or_default()
}

/// Entries for a reader in the database that stores its own position.
pub struct Entries {
    /// The entries as a JSON array, without records.
    pub entries: String,
    /// The position of the last row that was read.
    pub feed_position: FeedPosition,
    /// Whether more entries are available now.
    pub has_more: bool,
}

/// At most `limit` entries after a position. The position belongs to this database, so it is not checked.
pub fn entries(
    spi: &Connection,
    following: &Following,
    from: FeedPosition,
    limit: usize,
) -> Result<Entries, Error> {
    Horizon::with(spi, |horizon| {
        let request = Request { after: None, limit: None, with_record: false, until: None };
        let mut page = Page {
            spi,
            following,
            request: &request,
            limit,
            entries: "[".to_owned(),
            count: 0,
            rows: 0,
            has_more: false,
        };
        let feed_position = page.read(horizon.position, from);
        page.entries.push(']');
        Ok(Entries { entries: page.entries, feed_position, has_more: page.has_more })
    })
}

/// The end of the final part of the feed.
pub fn end(spi: &Connection) -> Result<FeedPosition, Error> {
    Horizon::with(spi, |horizon| Ok(FeedPosition::before(horizon.position)))
}

/// A page that is being written.
struct Page<'p> {
    spi: &'p Connection,
    following: &'p Following,
    request: &'p Request,
    limit: usize,
    entries: String,
    /// The number of entries.
    count: usize,
    /// The number of history rows read.
    rows: usize,
    has_more: bool,
}

impl Page<'_> {
    /// Reads the changes after a position and before `end`. Returns the position of the last one.
    fn read(&mut self, end: i64, from: FeedPosition) -> FeedPosition {
        let mut last = from;
        if from.derived.is_some() {
            match self.rest_of(end, &from) {
                Some(feed_position) => return feed_position,
                None => last = FeedPosition { derived: None, ..from },
            }
        }
        let templates: Vec<&Template> = self.following.read().collect();
        let mut changes = Changes::behind(&last, end, templates.into_iter(), self.limit + 1);
        loop {
            pgrx::check_for_interrupts!();
            // Doubles the number of rows while the caller sees none of them, so that small pages do not check thousands of
            // invisible changes one by one.
            let requested = match self.is_full() {
                true => 0,
                false => (self.limit - self.count).max(self.rows).min(CHANGES_PER_CHECK),
            };
            let together: Vec<(usize, Change)> =
                std::iter::from_fn(|| changes.next(self.spi)).take(requested).collect();
            if together.is_empty() {
                self.has_more = requested == 0;
                break;
            }
            self.rows += together.len();
            last = self.write(&together);
            if self.has_more {
                break;
            }
            if self.is_full() {
                self.has_more = changes.next(self.spi).is_some();
                break;
            }
        }
        // A standby may lag behind the server that issued the cursor.
        if self.has_more { last } else { last.max(FeedPosition::before(end)) }
    }

    fn is_full(&self) -> bool {
        self.count >= self.limit || self.rows >= MAX_ROWS || self.entries.len() > MAX_BYTES
    }

    /// Appends the remaining records affected by the change at which the previous page ended. Returns the position of the
    /// last one if they fill this page too.
    fn rest_of(&mut self, end: i64, from: &FeedPosition) -> Option<FeedPosition> {
        // A standby may lag behind the server that issued the cursor.
        if from.position >= end {
            return Some(*from);
        }
        let before = FeedPosition { version: from.version - 1, derived: None, ..*from };
        let templates: Vec<&Template> = self.following.read().collect();
        let index = templates.iter().position(|it| it.id == from.template)?;
        let template = std::iter::once(templates[index]);
        let (_, change) = Changes::behind(&before, end, template, 1).next(self.spi)?;
        if change.feed_position.record != from.record || change.feed_position.version != from.version {
            return None;
        }
        let derived = self.write_affected(&change, from.derived)?;
        self.has_more = true;
        Some(FeedPosition { derived: Some(derived), ..*from })
    }

    /// Appends the entries of these changes that are visible to the caller. Returns the position of the last change that was
    /// written. If it is not the last of these changes, another page follows.
    fn write(&mut self, changes: &[(usize, Change)]) -> FeedPosition {
        let mut disclosed = vec![Disclosure::Nothing; changes.len()];
        let mut records = HashMap::new();
        for (index, followed) in self.following.templates.iter().enumerate() {
            let numbers: Vec<usize> =
                (0..changes.len()).filter(|number| changes[*number].0 == index).collect();
            if numbers.is_empty() {
                continue;
            }
            let of_template: Vec<&Change> = numbers.iter().map(|number| &changes[*number].1).collect();
            let of_template = visible::disclosed(self.spi, self.following, followed, &of_template);
            numbers.iter().zip(of_template).for_each(|(number, it)| disclosed[*number] = it);
            if self.request.with_record {
                let whole = numbers.iter().filter(|number| disclosed[**number] == Disclosure::Whole);
                let ids: HashSet<Uuid> = whole.map(|number| changes[*number].1.record).collect();
                records.extend(read_records(self.spi, followed, &ids, Snapshot::Active));
            }
        }
        let mut last = FeedPosition::START;
        for (number, ((index, change), disclosed)) in changes.iter().zip(disclosed).enumerate() {
            if number > 0 && self.is_full() {
                self.has_more = true;
                break;
            }
            last = change.feed_position;
            if disclosed != Disclosure::Nothing {
                self.begin_entry();
                let template = &self.following.templates[*index].template;
                match disclosed {
                    Disclosure::Gone => write_gone(&mut self.entries, template, change.record),
                    _ => {
                        let record = records.get(&change.record).map(String::as_str);
                        write_change(&mut self.entries, template, change, record);
                    }
                }
            }
            if derived::may_affect(self.following, change)
                && let Some(derived) = self.write_affected(change, None)
            {
                self.has_more = true;
                return FeedPosition { derived: Some(derived), ..last };
            }
        }
        last
    }

    fn begin_entry(&mut self) {
        if self.count > 0 {
            self.entries.push(',');
        }
        self.count += 1;
    }

    /// Appends records after a position that a change made visible or invisible. If the page is full before the last one,
    /// returns the position reached.
    fn write_affected(&mut self, change: &Change, mut behind: Option<Derived>) -> Option<Derived> {
        loop {
            pgrx::check_for_interrupts!();
            let chunk = (self.limit.saturating_sub(self.count)).clamp(1, CHANGES_PER_CHECK);
            if self.is_full() {
                // The remaining records follow this position.
                return Some(behind.unwrap_or(Derived { template: 0, record: Uuid::nil() }));
            }
            let (affected, last) = derived::affected(self.spi, self.following, change, behind, chunk);
            self.rows += chunk;
            for it in &affected {
                let followed = &self.following.templates[it.index];
                self.begin_entry();
                match &it.seen {
                    None => write_gone(&mut self.entries, &followed.template, it.feed_position.record),
                    Some(key) => {
                        let ids = HashSet::from([it.feed_position.record]);
                        let records = match self.request.with_record {
                            true => read_records(self.spi, followed, &ids, Snapshot::Active),
                            false => HashMap::new(),
                        };
                        let record = records.get(&it.feed_position.record).map(String::as_str);
                        write_derived(
                            &mut self.entries,
                            &followed.template,
                            it.feed_position.record,
                            key.as_deref(),
                            record,
                        );
                    }
                }
            }
            behind = Some(last?);
        }
    }
}

/// The live records with these ids that are visible to the caller, as JSON.
pub fn read_records(
    spi: &Connection,
    followed: &Followed,
    ids: &HashSet<Uuid>,
    snapshot: Snapshot,
) -> HashMap<Uuid, String> {
    let template = &followed.template;
    let scope = followed.scope.as_ref().map(|scope| format!(" and {scope}")).unwrap_or_default();
    let sql = format!(
        "select {} from {} t where t.id = any ($1) and t.deleted_at is null{scope}",
        columns(template),
        template.table_sql()
    );
    let rows = template.run(spi, &sql, snapshot, &[array(ids.iter().copied())]);
    let projection = Projection::default();
    (0..rows.len()).map(|row| (rows.get(row, 0), read::to_json(template, &rows, row, &projection))).collect()
}
