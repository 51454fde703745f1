//! Keeps the embedding queue up to date, in the transaction that writes a record and only if an embedded text changes.
//! Templates without `embed` have no overhead.

use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::notes::Notes;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::transaction::Moment;
use crate::postgres::trigger::{Firing, Row};
use crate::template::{Template, column};
use pgrx::pg_sys::Oid;
use std::cell::RefCell;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The table of the queue.
pub const TABLE: &str = "keyed_state.embedding_job";

/// The maximum number of pending entries. Beyond it, they are written before the end of the statement.
const CHUNK_ROWS: usize = 1000;

/// The effect of a write on the vector of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// An embedded text changed.
    Changed,
    /// The record was marked as deleted. Its vector remains for a restore.
    Deleted,
    /// The record was restored with the same texts.
    Restored,
    /// The row was removed.
    Purged,
}

thread_local! {
    static NOTES: RefCell<Notes<(Uuid, Event)>> = const { RefCell::new(Notes::new()) };
}

/// Records a written row whose vector is affected.
pub fn note(template: &Template, firing: &Firing, moment: Moment) {
    if template.embed.is_empty() {
        return;
    }
    let Some(event) = event(template, firing) else { return };
    let Some(row) = firing.new.as_ref().or(firing.old.as_ref()) else { return };
    let Some(record) = row.get(column::ID).map(datum::read_uuid) else { return };
    let count = NOTES.with_borrow_mut(|notes| notes.push(template.table, moment, (record, event)));
    if count >= CHUNK_ROWS {
        flush(template, moment);
    }
}

fn event(template: &Template, firing: &Firing) -> Option<Event> {
    let is_live = |row: &Row| row.get(column::DELETED_AT).is_none();
    let Some(new) = &firing.new else { return Some(Event::Purged) };
    let Some(old) = &firing.old else { return is_live(new).then_some(Event::Changed) };
    let is_changed = || template.embedded().any(|attribute| !new.same(old, attribute.column));
    match (is_live(old), is_live(new)) {
        (true, true) => is_changed().then_some(Event::Changed),
        (false, true) => Some(if is_changed() { Event::Changed } else { Event::Restored }),
        (true, false) => Some(Event::Deleted),
        (false, false) => None,
    }
}

/// Whether the table has pending entries.
pub fn is_waiting(table: Oid) -> bool {
    NOTES.with_borrow(|notes| notes.is_waiting(table))
}

/// Writes the pending entries of this moment to the queue.
pub fn flush(template: &Template, moment: Moment) {
    let notes = NOTES.with_borrow_mut(|notes| notes.take(template.table, moment));
    // If several triggers wrote a record, the last event counts. Ordered by id, which is the lock order.
    let mut events: BTreeMap<Uuid, Event> = BTreeMap::new();
    for (record, event) in notes {
        let earlier = events.insert(record, event);
        if event == Event::Restored && earlier.is_some() {
            events.insert(record, Event::Changed);
        }
    }
    let of = |requested: Event| -> Vec<Uuid> {
        events.iter().filter(|(_, event)| **event == requested).map(|(record, _)| *record).collect()
    };
    for (event, sql) in [
        (
            Event::Changed,
            format!(
                "insert into {TABLE} (record_id, template_id, state) select u.id, $2, 'pending' from unnest($1) u (id) \
                 on conflict (record_id) do update set state = 'pending', due_at = now(), claim = null, attempts = 0, \
                 error = null, failed_at = null, by_hand = false"
            ),
        ),
        (
            Event::Restored,
            format!(
                "insert into {TABLE} as j (record_id, template_id, state) select u.id, $2, 'pending' from unnest($1) u (id) \
                 on conflict (record_id) do update set due_at = now(), \
                 state = case when j.by_hand then 'done' else 'pending' end where j.state = 'deleted'"
            ),
        ),
        (
            Event::Deleted,
            format!(
                "update {TABLE} set state = 'deleted', claim = null where record_id = any ($1) and template_id = $2"
            ),
        ),
        (Event::Purged, format!("delete from {TABLE} where record_id = any ($1) and template_id = $2")),
    ] {
        let records = of(event);
        if !records.is_empty() {
            run(template, &sql, &records);
        }
    }
}

/// Marks the vector of a live record as set or removed by a caller. It remains until the text changes.
pub fn settle_by_hand(template: &Template, record: Uuid) {
    if template.embed.is_empty() {
        return;
    }
    let sql = format!(
        "insert into {TABLE} (record_id, template_id, state, by_hand) select u.id, $2, 'done', true from unnest($1) u (id) \
         on conflict (record_id) do update set state = 'done', by_hand = true, claim = null, attempts = 0, error = null, \
         failed_at = null, text_hash = null, model = null, embedded_at = null"
    );
    run(template, &sql, &[record]);
}

fn run(template: &Template, sql: &str, records: &[Uuid]) {
    as_owner(|| {
        connected(|spi| {
            template.run(spi, sql, Snapshot::Latest, &params![records, template.id]);
        });
    });
}
