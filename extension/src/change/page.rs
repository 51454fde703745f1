//! A page of the feed.

use super::cursor::{self, Cursor};
use super::derived;
use super::entry::{Shown, write_change, write_derived, write_gone};
use super::followed::{Followed, Following};
use super::horizon::Horizon;
use super::position::{Derived, Place};
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

/// How many entries a page has when the request does not say, and at the most.
const DEFAULT_LIMIT: i32 = 100;
const MAX_LIMIT: i32 = 1000;
/// A page ends with the entry that makes it longer than this, in bytes: a record may hold texts of megabytes.
const MAX_BYTES: usize = 8 << 20;
/// How many rows of history are looked at for a page. A caller who sees few of them gets an empty page and its cursor.
const MAX_ROWS: usize = 20_000;
/// How many changes are judged together. Their records are in memory.
const TOGETHER: usize = 200;

/// What a request asks for.
pub struct Request {
    /// A cursor, `start`, or nothing: from now on.
    pub after: Option<String>,
    /// The number of entries.
    pub limit: Option<i32>,
    /// Whether entries have the record as it is now.
    pub with_record: bool,
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
    let place = match request.after.as_deref() {
        None => Place::before(horizon.position),
        Some("start") => page.read(horizon, Place::START),
        Some(after) => {
            let cursor = Cursor::from_signed_text(after, &horizon.secret)?;
            if cursor.scope != following.scope {
                return Err(cursor::refusal());
            }
            horizon.check(&cursor)?;
            if cursor.rights != following.rights(cursor.templates) {
                let message = "what the caller may read has changed since the cursor was handed out";
                return Err(cursor::too_old(message));
            }
            page.read(horizon, cursor.place)
        }
    };
    let templates = newest_template(spi);
    let next = Cursor {
        origin: horizon.origin,
        timeline: horizon.log.timeline,
        lsn: horizon.log.lsn,
        scope: following.scope,
        templates,
        rights: following.rights(templates),
        place,
    };
    let (entries, cursor, has_more) = (page.entries, next.to_signed_text(&horizon.secret), page.has_more);
    Ok(format!("{{\"changes\":[{entries}],\"next_cursor\":\"{cursor}\",\"has_more\":{has_more}}}"))
}

/// The greatest number of a template that the snapshot shows: changes of later ones are after the horizon.
fn newest_template(spi: &Connection) -> i32 {
    let sql = "select max(t.id) from keyed_state.template t";
    spi.run_once(sql, Snapshot::Active, &[]).value::<Option<i32>>().flatten().unwrap_or_default()
}

/// Entries for a reader within the database, which stores its own place.
pub struct Entries {
    /// The entries as a JSON array, without records.
    pub entries: String,
    /// The place of the last row that was read.
    pub place: Place,
    /// Whether there is more to read now.
    pub has_more: bool,
}

/// The entries after a place, at most `limit`. The place is one of this database, so nothing is checked against it.
pub fn entries(spi: &Connection, following: &Following, from: Place, limit: usize) -> Result<Entries, Error> {
    Horizon::with(spi, |horizon| {
        let request = Request { after: None, limit: None, with_record: false };
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
        let place = page.read(horizon, from);
        page.entries.push(']');
        Ok(Entries { entries: page.entries, place, has_more: page.has_more })
    })
}

/// The place up to which everything that is final now has been read.
pub fn end(spi: &Connection) -> Result<Place, Error> {
    Horizon::with(spi, |horizon| Ok(Place::before(horizon.position)))
}

/// A page that is being written.
struct Page<'p> {
    spi: &'p Connection,
    following: &'p Following,
    request: &'p Request,
    limit: usize,
    entries: String,
    /// How many entries there are.
    count: usize,
    /// How many rows were looked at.
    rows: usize,
    has_more: bool,
}

impl Page<'_> {
    /// Reads the changes after a place. Returns the place of the last.
    fn read(&mut self, horizon: &Horizon, from: Place) -> Place {
        let mut last = from;
        if from.derived.is_some() {
            match self.rest_of(horizon, &from) {
                Some(place) => return place,
                None => last = Place { derived: None, ..from },
            }
        }
        let templates: Vec<&Template> = self.following.read().collect();
        let mut changes = Changes::behind(&last, horizon.position, templates.into_iter(), self.limit + 1);
        loop {
            pgrx::check_for_interrupts!();
            // As many again as were read in vain, so that a small page does not judge thousands of invisible changes singly.
            let wanted = match self.is_full() {
                true => 0,
                false => (self.limit - self.count).max(self.rows).min(TOGETHER),
            };
            let together: Vec<(usize, Change)> =
                std::iter::from_fn(|| changes.next(self.spi)).take(wanted).collect();
            if together.is_empty() {
                self.has_more = wanted == 0;
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
        // A standby may lag the server that handed out the cursor.
        if self.has_more { last } else { last.max(Place::before(horizon.position)) }
    }

    fn is_full(&self) -> bool {
        self.count >= self.limit || self.rows >= MAX_ROWS || self.entries.len() > MAX_BYTES
    }

    /// Writes what is left of the records that a change affected, where the page before ended among them. Returns the place
    /// of the last of them if they fill the page, too.
    fn rest_of(&mut self, horizon: &Horizon, from: &Place) -> Option<Place> {
        // A standby may lag the server that handed out the cursor.
        if from.position >= horizon.position {
            return Some(*from);
        }
        let before = Place { version: from.version - 1, derived: None, ..*from };
        let templates: Vec<&Template> = self.following.read().collect();
        let index = templates.iter().position(|it| it.id == from.template)?;
        let template = std::iter::once(templates[index]);
        let (_, change) = Changes::behind(&before, horizon.position, template, 1).next(self.spi)?;
        if change.place.record != from.record || change.place.version != from.version {
            return None;
        }
        let derived = self.write_affected(&change, from.derived)?;
        self.has_more = true;
        Some(Place { derived: Some(derived), ..*from })
    }

    /// Appends what the caller gets of these changes. Returns the place of the last of them; if that is not the last of all,
    /// the page has more.
    fn write(&mut self, changes: &[(usize, Change)]) -> Place {
        let mut shown = vec![Shown::Nothing; changes.len()];
        let mut records = HashMap::new();
        for (index, followed) in self.following.templates.iter().enumerate() {
            let places: Vec<usize> = (0..changes.len()).filter(|place| changes[*place].0 == index).collect();
            if places.is_empty() {
                continue;
            }
            let of_template: Vec<&Change> = places.iter().map(|place| &changes[*place].1).collect();
            let of_template = visible::shown(self.spi, self.following, followed, &of_template);
            places.iter().zip(of_template).for_each(|(place, it)| shown[*place] = it);
            if self.request.with_record {
                let whole = places.iter().filter(|place| shown[**place] == Shown::Whole);
                let ids: HashSet<Uuid> = whole.map(|place| changes[*place].1.record).collect();
                records.extend(read_records(self.spi, followed, &ids, Snapshot::Active));
            }
        }
        let mut last = Place::START;
        for (number, ((index, change), shown)) in changes.iter().zip(shown).enumerate() {
            if number > 0 && self.is_full() {
                self.has_more = true;
                break;
            }
            last = change.place;
            if shown != Shown::Nothing {
                self.begin_entry();
                let template = &self.following.templates[*index].template;
                match shown {
                    Shown::Gone => write_gone(&mut self.entries, template, change.record),
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
                return Place { derived: Some(derived), ..last };
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

    /// Appends the records after a place that a change brought into sight or took out of it. Returns how far this is, if the
    /// page is full before the last of them.
    fn write_affected(&mut self, change: &Change, mut behind: Option<Derived>) -> Option<Derived> {
        loop {
            pgrx::check_for_interrupts!();
            let portion = (self.limit.saturating_sub(self.count)).clamp(1, TOGETHER);
            if self.is_full() {
                // Whatever is left is after this place.
                return Some(behind.unwrap_or(Derived { template: 0, record: Uuid::nil() }));
            }
            let (affected, last) = derived::affected(self.spi, self.following, change, behind, portion);
            self.rows += portion;
            for it in &affected {
                let followed = &self.following.templates[it.index];
                self.begin_entry();
                match &it.seen {
                    None => write_gone(&mut self.entries, &followed.template, it.place.record),
                    Some(key) => {
                        let ids = HashSet::from([it.place.record]);
                        let records = match self.request.with_record {
                            true => read_records(self.spi, followed, &ids, Snapshot::Active),
                            false => HashMap::new(),
                        };
                        let record = records.get(&it.place.record).map(String::as_str);
                        write_derived(
                            &mut self.entries,
                            &followed.template,
                            it.place.record,
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

/// The live records with these ids that the caller sees, as JSON.
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
