//! The triggers that write the history: a row trigger collects entries, and a statement trigger inserts them.
//!
//! For the single row of an upsert, entries in memory cost less than transition tables (no tuplestore, no join of old
//! and new rows). The entries of many rows are inserted by one statement.

use crate::access::Caller;
use crate::attribute_type::AttributeType;
use crate::change::generation;
use crate::error::Error;
use crate::metric;
use crate::postgres::datum;
use crate::postgres::function::{Call, ReturnValue};
use crate::postgres::guard::as_owner;
use crate::postgres::index::{self, Index, Which};
use crate::postgres::insert::{insert_rows_without, lock_table};
use crate::postgres::own_statement::is_own_statement;
use crate::postgres::parameter::{Jsonb, Timestamp, array, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::transaction::{self, Moment};
use crate::postgres::trigger::{self, Firing, Row};
use crate::quota::count;
use crate::record::new_id;
use crate::record::released;
use crate::record::shape::write_value;
use crate::search::text::pending;
use crate::template::{Template, catalog, column};
use crate::trigger::before_row::{changed_attributes, operation, reset_being_deleted};
use crate::value::table_name::SideTable;
use crate::vectors;
use pgrx::pg_sys::{Datum, Oid};
use std::cell::RefCell;
use std::collections::HashSet;
use uuid::Uuid;

/// The maximum number of pending entries, and of bytes of their changes. Beyond it, they are written before the end of
/// the statement, so that memory is bounded.
const CHUNK_ROWS: usize = 4000;
const CHUNK_BYTES: usize = 4 << 20;

/// The columns of the primary key of a history table.
const RECORD_ID: i16 = 1;
const VERSION: i16 = 2;

/// How changes begin that include the key. No attribute has this name.
const KEY_CHANGE: &str = "{\"external_key\":";

/// A history entry that is written at the end of its statement.
struct Entry {
    table: Oid,
    /// Its subtransaction. Entries of a failed subtransaction are discarded.
    moment: Moment,
    record: Uuid,
    /// Whether this session has just created the record. Its first version needs no lookup.
    is_fresh: bool,
    operation: &'static str,
    external_key: Option<String>,
    /// Whether the record lost its previous key.
    ends_key: bool,
    changes: String,
}

#[derive(Default)]
struct Pending {
    entries: Vec<Entry>,
    records: HashSet<Uuid>,
    /// The total size of the changes.
    bytes: usize,
}

impl Pending {
    /// Discards the entries of failed subtransactions.
    fn discard_failed(&mut self, now: Moment) {
        if self.entries.last().is_some_and(|entry| entry.moment != now) {
            self.entries.retain(|entry| entry.moment.may_still_commit(now));
            self.recount();
        }
    }

    fn recount(&mut self) {
        self.records = self.entries.iter().map(|entry| entry.record).collect();
        self.bytes = self.entries.iter().map(|entry| entry.changes.len()).sum();
    }

    /// Adds the entry, or returns it if the pending entries must be written first: if a limit is reached, or if another
    /// trigger has already written the same record.
    fn push(&mut self, entry: Entry) -> Option<Entry> {
        let is_full = self.entries.len() >= CHUNK_ROWS || self.bytes >= CHUNK_BYTES;
        if is_full || !self.records.insert(entry.record) {
            return Some(entry);
        }
        self.add(entry);
        None
    }

    fn add(&mut self, entry: Entry) {
        self.bytes += entry.changes.len();
        self.entries.push(entry);
    }

    fn take(&mut self, table: Oid, moment: Moment) -> Vec<Entry> {
        let taken = self.entries.extract_if(.., |it| it.table == table && it.moment == moment).collect();
        self.recount();
        taken
    }
}

thread_local! {
    static PENDING: RefCell<Pending> = RefCell::new(Pending::default());
}

/// `keyed.note_history() returns trigger`, after each row.
pub fn note_history(call: &Call) -> Result<ReturnValue, Error> {
    let firing = Firing::from_call(call)?;
    let template = catalog::by_table(firing.table)?;
    reset_being_deleted();
    let pass = ReturnValue::Datum(firing.pass());
    let operation = operation(&firing);
    if !is_own_statement(firing.table) {
        metric::append_direct(&template, &firing);
    }
    let changes = changes(&template, &firing);
    if operation == "update" && changes.len() == 2 {
        return Ok(pass);
    }
    let Some(row) = firing.new.as_ref().or(firing.old.as_ref()) else { return Ok(pass) };
    let Some(record) = row.get(column::ID).map(datum::read_uuid) else { return Ok(pass) };
    // The history of a removed record remains, and another trigger may change a new record before its creation is
    // recorded. In both cases the next entry is not the first.
    if operation != "create" && new_id::is_fresh(record) {
        new_id::remove(record);
        PENDING.with_borrow_mut(|pending| {
            let of_record = pending.entries.iter_mut().filter(|entry| entry.record == record);
            of_record.for_each(|entry| entry.is_fresh = false);
        });
        pending::forget_fresh(record);
    }
    let moment = transaction::moment();
    let is_fresh = operation == "create" && new_id::is_fresh(record);
    pending::note(&template, &firing, is_fresh, moment);
    vectors::write::sync_row(&template, &firing);
    vectors::queue::note(&template, &firing, moment);
    let is_live = |row: &Option<Row>| row.as_ref().is_some_and(|row| row.get(column::DELETED_AT).is_none());
    count::note(&template, is_live(&firing.old), is_live(&firing.new), moment);
    let entry = Entry {
        table: firing.table,
        moment,
        record,
        is_fresh,
        operation,
        external_key: released::shown(&template, |number| row.get(number)).map(datum::read_text),
        ends_key: changes.starts_with(KEY_CHANGE) || matches!(operation, "delete" | "purge"),
        changes,
    };
    let returned = PENDING.with_borrow_mut(|pending| {
        pending.discard_failed(moment);
        pending.push(entry)
    });
    if let Some(entry) = returned {
        flush(&template, moment);
        // Added even if the limit is still reached: the remaining entries belong to other tables or outer statements.
        PENDING.with_borrow_mut(|pending| {
            pending.records.insert(entry.record);
            pending.add(entry);
        });
    }
    Ok(pass)
}

/// `keyed.write_history() returns trigger`, after each statement.
pub fn write_history(call: &Call) -> Result<ReturnValue, Error> {
    let table = trigger::table_of(call)?;
    let has_pending = PENDING.with_borrow(|pending| pending.entries.iter().any(|it| it.table == table));
    if has_pending
        || pending::is_waiting(table)
        || vectors::queue::is_waiting(table)
        || count::is_waiting(table)
    {
        let (template, moment) = (catalog::by_table(table)?, transaction::moment());
        flush(&template, moment);
        pending::flush(&template, moment);
        vectors::queue::flush(&template, moment);
        count::settle(&template, moment)?;
    }
    Ok(ReturnValue::Datum(Datum::from(0usize)))
}

fn flush(template: &Template, moment: Moment) {
    let entries = PENDING.with_borrow_mut(|pending| pending.take(template.table, moment));
    let (actor, source) = Caller::actor_and_source();
    if entries.is_empty() {
        return;
    }
    as_owner(|| {
        if insert_directly(template, &entries, &actor, &source).is_none() {
            insert_by_statement(template, &entries, &actor, &source);
        }
    });
}

/// Inserts entries without a statement. Returns `None` if the table does not have its original definition.
fn insert_directly(template: &Template, entries: &[Entry], actor: &str, source: &str) -> Option<()> {
    let (table, position) = (template.history?, template.history_position?);
    // The writer holds the row lock until the transaction ends, so no other transaction adds a version.
    lock_table(table);
    let present = generation::position();
    let version = |entry: &Entry| match entry.is_fresh {
        true => Some((1, present)),
        false => {
            let (version, before) = latest_version(table, position, entry.record)?;
            Some((version.checked_add(1)?, present.max(before)))
        }
    };
    let versions = entries.iter().map(version).collect::<Option<Vec<(i32, i64)>>>()?;
    let at = Timestamp(transaction::began_at());
    let rows = entries.iter().zip(versions).map(|(entry, (version, position))| {
        let key = entry.external_key.as_deref();
        (entry.record, version, at, actor, source, entry.operation, key, Jsonb(&entry.changes), position)
    });
    let unneeded = if entries.iter().any(|entry| entry.ends_key) { None } else { template.ended_key_index };
    insert_rows_without(table, unneeded, rows).ok()
}

/// The version and the position of the latest history row of a record; both 0 if it has none.
fn latest_version(table: Oid, position: i16, record: Uuid) -> Option<(i32, i64)> {
    let read = |found: &index::Found| {
        (found.get(VERSION).map_or(0, datum::read_i32), found.get(position).map_or(0, datum::read_i64))
    };
    let columns = [RECORD_ID, VERSION];
    let record = datum::uuid(record)?;
    let latest = index::find_one(table, Index::PrimaryKey, &columns, index::UUID, record, Which::Last, read);
    latest.ok().map(|latest| latest.unwrap_or_default())
}

fn insert_by_statement(template: &Template, entries: &[Entry], actor: &str, source: &str) {
    let table = SideTable::History.sql(template.id);
    let has_positions = template.history_position.is_some();
    // A database that is not migrated has no positions.
    let (column, position, before) = match has_positions {
        true => (", position", ", greatest($8, l.position)", "h.version, h.position"),
        false => ("", "", "h.version"),
    };
    let sql = format!(
        "insert into {table} (record_id, version, at, actor, source, operation, external_key, changes{column}) \
         select u.record_id, coalesce(l.version, 0) + 1, now(), $1, $2, u.operation, u.external_key, \
         u.changes::jsonb{position} from unnest($3, $4, $5, $6, $7) u (record_id, is_fresh, operation, external_key, changes) \
         left join lateral (select {before} from {table} h where h.record_id = u.record_id and not u.is_fresh \
         order by h.version desc limit 1) l on $8 >= 0"
    );
    connected(|spi| {
        let present = if has_positions { generation::position() } else { 0 };
        let arguments = params![
            actor,
            source,
            array(entries.iter().map(|entry| entry.record)),
            array(entries.iter().map(|it| it.is_fresh)),
            array(entries.iter().map(|entry| Some(entry.operation))),
            array(entries.iter().map(|entry| entry.external_key.as_deref())),
            array(entries.iter().map(|entry| Some(entry.changes.as_str()))),
            present
        ];
        template.run(spi, &sql, Snapshot::Latest, &arguments);
    });
}

/// The changed values: `{slug: {old, new}}`.
fn changes(template: &Template, firing: &Firing) -> String {
    let (old, new) = (firing.old.as_ref(), firing.new.as_ref());
    let mut out = String::with_capacity(128);
    out.push('{');
    let mut write_change = |slug: &str, kind: AttributeType, of: &dyn Fn(&Row) -> Option<Datum>| {
        out.push_str(if out.len() > 1 { ",\"" } else { "\"" });
        out.push_str(slug);
        out.push_str("\":{\"old\":");
        write_value(&mut out, kind, old.and_then(of));
        out.push_str(",\"new\":");
        write_value(&mut out, kind, new.and_then(of));
        out.push('}');
    };
    if let (Some(old), Some(new)) = (old, new)
        && !released::displays_same_key(template, old, new)
    {
        let key = |row: &Row| released::shown(template, |number| row.get(number));
        write_change("external_key", AttributeType::String, &key);
    }
    for attribute in changed_attributes(template, firing) {
        write_change(&attribute.slug, attribute.kind, &|row| row.get(attribute.column));
    }
    out.push('}');
    out
}
