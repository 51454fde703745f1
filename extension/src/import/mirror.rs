//! Deletes the records that are missing from a file: `mode=mirror`.
//!
//! The first call of the transaction opens a cursor over the candidates for deletion: live records with the key prefix of
//! the file, within the filter and the caller's scope. The cursor uses the snapshot of that call, so records that are
//! created later are not candidates. Every chunk adds the ids of its records, whether written or unchanged. At the end, the
//! candidates are compared with these ids, the share is checked, and the missing records are deleted in the order of keys.
//!
//! Ids are compared instead of keys, because a user-defined trigger may change the key of a written record.
//!
//! The state belongs to one transaction. The last call passes the total number of rows, so that an incomplete file deletes
//! nothing.

use super::Outcome;
use super::options::MirrorOptions;
use crate::access::visibility::{CallerSchema, WriteScope, and};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::filter::render::{Options, render};
use crate::filter::{check, parse};
use crate::json_write::to_json;
use crate::postgres::cursor::{Closed, Cursor};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::transaction::{self, Ended, Moment};
use crate::postgres::trigger::Event;
use crate::quota::reserve;
use crate::record::dropped;
use crate::search::query::time_zone;
use crate::template::Template;
use crate::value::quote::literal;
use crate::value::table_name::RECORD;
use serde::Serialize;
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use uuid::Uuid;

/// The maximum number of rows of a file, and of records that it deletes. These take 128 and 256
/// MiB.
const MAX_RECORDS: usize = 1 << 24;
/// The number of records that one call compares with the file.
const COMPARED: usize = 50_000;
/// The number of records that one fetch of the cursor returns.
const FETCHED: usize = 1000;
/// The number of records that one call deletes.
const DELETED: usize = 2000;
/// The number of keys in the report.
const MAX_KEYS: usize = 100;

thread_local! {
    static MIRROR: RefCell<Option<Mirror>> = const { RefCell::new(None) };
}

/// Frees the state at the end of its transaction.
pub fn on_end(ended: Ended) {
    if ended == Ended::Transaction {
        MIRROR.take();
    }
}

/// An import that deletes the records missing from its file.
pub struct Mirror {
    moment: Moment,
    caller: Caller,
    template: Rc<Template>,
    options: MirrorOptions,
    /// The filter over the records of the template; `None` for all.
    filter: Option<String>,
    /// The candidates for deletion; `None` after all were compared.
    cursor: Option<Cursor>,
    /// The hashes of the ids of the file's records. If two ids have the same hash, a missing record may remain.
    of_file: Vec<u64>,
    is_sorted: bool,
    /// The number of rows that do not wait for others.
    settled: u64,
    rejected: u64,
    /// The number of candidates for deletion.
    matching: u64,
    /// The missing records, in the order of their keys.
    missing: Vec<Uuid>,
    /// The first keys of the missing records.
    keys: Vec<String>,
    /// The number of missing records that were processed.
    done: usize,
    deleted: u64,
}

/// The progress of a call.
#[derive(Serialize)]
struct Report<'a> {
    is_complete: bool,
    deleted: u64,
    matching: u64,
    share: f64,
    keys: &'a [String],
    /// Whether the share exceeds the limit of the caller. Then nothing is deleted.
    exceeds: bool,
}

impl Mirror {
    /// The mirror of this transaction. The first call creates it.
    pub fn of(caller: &Caller, template: &Rc<Template>, options: &MirrorOptions) -> Result<Mirror, Error> {
        caller.require(Action::Read, template)?;
        caller.require(Action::Delete, template)?;
        let moment = transaction::moment();
        let Some(begun) = MIRROR.take().filter(|it| it.moment.is_same_transaction(moment)) else {
            return Mirror::begin(caller, template, options, moment);
        };
        let is_same = begun.moment == moment
            && begun.caller == *caller
            && begun.template.id == template.id
            && begun.options.is_same_import(options);
        if is_same {
            return Ok(begun);
        }
        Err(Error::new(Code::InvalidValue, "another import with mode=mirror has begun in this transaction")
            .hint("Import each file in a transaction of its own, without savepoints, as one caller, and with the same options."))
    }

    fn begin(
        caller: &Caller,
        template: &Rc<Template>,
        options: &MirrorOptions,
        moment: Moment,
    ) -> Result<Mirror, Error> {
        let filter = compiled(caller, template, options.filter.as_deref())?;
        let condition = condition(caller, template, options, filter.as_deref());
        let sql = format!(
            "select t.id, t.external_key from {} t where {condition} order by t.external_key",
            template.table_sql()
        );
        let cursor = as_owner(|| connected(|spi| spi.open_cursor(&sql, &[])));
        Ok(Mirror {
            moment,
            caller: caller.clone(),
            template: Rc::clone(template),
            options: options.clone(),
            filter,
            cursor: Some(cursor),
            of_file: Vec::new(),
            is_sorted: false,
            settled: 0,
            rejected: 0,
            matching: 0,
            missing: Vec::new(),
            keys: Vec::new(),
            done: 0,
            deleted: 0,
        })
    }

    /// Stores the mirror for the next call of the transaction.
    pub fn keep(self) {
        MIRROR.set(Some(self));
    }

    /// Adds the rows of a chunk. Rejects rows whose records no longer match the filter, because no later file could delete
    /// these records.
    pub fn add(&mut self, outcomes: &mut [Outcome]) -> Result<(), Error> {
        self.reject_outside(outcomes);
        let ids = outcomes.iter().filter_map(Outcome::record);
        require_room(self.of_file.len() + outcomes.len())?;
        reserve_memory(&mut self.of_file, outcomes.len())?;
        self.of_file.extend(ids.map(hash_of_id));
        self.is_sorted = false;
        let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|it| is(it)).count() as u64;
        self.settled += count(|it| !matches!(it, Outcome::Waits { .. }));
        self.rejected += count(|it| matches!(it, Outcome::Rejected(_)));
        Ok(())
    }

    fn reject_outside(&self, outcomes: &mut [Outcome]) {
        let Some(filter) = &self.filter else { return };
        let ids: Vec<Uuid> = outcomes.iter().filter_map(Outcome::record).collect();
        if ids.is_empty() {
            return;
        }
        let sql = format!(
            "select t.id from {} t where t.id = any ($1) and {filter} is not true",
            self.template.table_sql()
        );
        let outside: HashSet<Uuid> = as_owner(|| {
            connected(|spi| {
                let rows = spi.run_once(&sql, Snapshot::Latest, &params![&ids]);
                (0..rows.len()).filter_map(|row| rows.get::<Option<Uuid>>(row, 0)).collect()
            })
        });
        for outcome in outcomes {
            if outcome.record().is_some_and(|id| outside.contains(&id)) {
                *outcome = Outcome::Rejected(
                    Error::new(Code::InvalidValue, "the record does not match the filter of the import")
                        .hint("Remove the row, or correct it or the filter."),
                );
            }
        }
    }

    /// Compares the candidates with the file, then deletes the missing records, some with each call. `rows` is the total
    /// number of rows of the file.
    pub fn end(mut self, rows: u64) -> Result<String, Error> {
        self.require_whole(rows)?;
        if !self.is_sorted {
            self.of_file.sort_unstable();
            self.is_sorted = true;
        }
        as_owner(|| connected(|spi| self.compare(spi)))?;
        let mut exceeds = false;
        if self.cursor.is_none() {
            exceeds = self.exceeds()?;
            if exceeds {
                (self.deleted, self.done) = (self.missing.len() as u64, self.missing.len());
            }
            self.delete()?;
        }
        let is_complete = self.cursor.is_none() && self.done == self.missing.len();
        let report = to_json(&Report {
            is_complete,
            deleted: self.deleted,
            matching: self.matching,
            share: share(self.deleted, self.matching),
            keys: &self.keys,
            exceeds,
        });
        if !is_complete {
            self.keep();
        }
        Ok(report)
    }

    fn require_whole(&self, rows: u64) -> Result<(), Error> {
        let (message, hint) = if self.rejected > 0 {
            ("rows were rejected, so nothing is deleted".to_owned(), "Correct the rows.")
        } else if self.settled != rows {
            let message = format!(
                "the file has {rows} rows, and this transaction has imported {} of them",
                self.settled
            );
            (message, "Import the whole file in one transaction. An incomplete file would delete records.")
        } else if rows == 0 {
            let message = "the file has no rows: mode=mirror would delete every record that matches";
            (message.to_owned(), "To delete all records, use a batch.")
        } else {
            return Ok(());
        };
        Err(Error::new(Code::InvalidValue, message).hint(hint))
    }

    /// Reads the next candidates from the cursor, and collects those that are missing from the
    /// file.
    fn compare(&mut self, spi: &Connection) -> Result<(), Error> {
        let Some(cursor) = &self.cursor else { return Ok(()) };
        for _ in 0..COMPARED / FETCHED {
            pgrx::check_for_interrupts!();
            let Some(rows) = spi.fetch(cursor, FETCHED).map_err(|Closed| was_closed())? else {
                spi.close_cursor(cursor);
                self.cursor = None;
                return Ok(());
            };
            self.matching += rows.len() as u64;
            for row in 0..rows.len() {
                let Some(id) = rows.get::<Option<Uuid>>(row, 0) else { continue };
                if self.of_file.binary_search(&hash_of_id(id)).is_ok() {
                    continue;
                }
                require_room(self.missing.len() + 1)?;
                reserve_memory(&mut self.missing, 1)?;
                self.missing.push(id);
                if self.keys.len() < MAX_KEYS {
                    self.keys.extend(rows.get::<Option<String>>(row, 1));
                }
            }
        }
        Ok(())
    }

    /// Whether the share exceeds the limit of the caller. An error, except in a dry run.
    fn exceeds(&self) -> Result<bool, Error> {
        let missing = self.missing.len() as u64;
        let share = share(missing, self.matching);
        let Some(max) = self.options.max_deleted_share.filter(|max| share > *max) else { return Ok(false) };
        if self.options.is_dry_run {
            return Ok(true);
        }
        let message = format!(
            "the import would delete {missing} of {} records, a share of {share:.4}: more than max_deleted_share={max} allows",
            self.matching
        );
        Err(Error::new(Code::PreconditionFailed, message).hint(
            "Check with dry_run=true whether the file is complete. If it is, set a larger max_deleted_share.",
        ))
    }

    /// Deletes the next missing records. Other transactions may have deleted them since, or moved them out of the
    /// filter or the scope.
    fn delete(&mut self) -> Result<(), Error> {
        let end = self.missing.len().min(self.done + DELETED);
        let ids = &self.missing[self.done..end];
        if ids.is_empty() {
            return Ok(());
        }
        let template = &self.template;
        reserve::for_many(template.project_id, 0, ids.len());
        let lock = format!(
            "select t.id from {} t where t.id = any ($1) and {} order by t.external_key for no key update of t",
            template.table_sql(),
            condition(&self.caller, template, &self.options, self.filter.as_deref())
        );
        let delete = format!(
            "update {} t set deleted_at = now(), updated_at = now() where t.id = any ($1) and t.deleted_at is null \
             returning t.id",
            template.table_sql()
        );
        let (locked, deleted) = as_owner(|| {
            connected(|spi| {
                let rows = spi.run_once(&lock, Snapshot::Latest, &params![ids]);
                let locked: Vec<Uuid> =
                    (0..rows.len()).filter_map(|row| rows.get::<Option<Uuid>>(row, 0)).collect();
                let arguments = params![&locked];
                let deleted = template.write(spi, &template.plan(&delete, &arguments), &arguments).len();
                (locked.len(), deleted)
            })
        });
        // The records are locked, so only a trigger can prevent the deletion.
        if deleted < locked && dropped::is_possible(template, &[Event::Update]) {
            return Err(dropped::error(template));
        }
        self.deleted += deleted as u64;
        self.done = end;
        Ok(())
    }
}

/// The candidates for deletion.
fn condition(caller: &Caller, template: &Template, options: &MirrorOptions, filter: Option<&str>) -> String {
    let prefix = match options.key_prefix.as_str() {
        "" => "t.external_key is not null".to_owned(),
        prefix => format!("pg_catalog.starts_with(t.external_key, {})", literal(prefix)),
    };
    let scope = WriteScope::of(caller, Action::Delete, template);
    format!("t.deleted_at is null and {prefix}{}{}", and(filter), and(scope.writable.as_deref()))
}

/// The filter as a condition over the table; `None` if it matches all records.
fn compiled(caller: &Caller, template: &Rc<Template>, filter: Option<&str>) -> Result<Option<String>, Error> {
    let Some(filter) = filter else { return Ok(None) };
    let raw: &RawValue = serde_json::from_str(filter)
        .map_err(|error| Error::at(Code::MalformedRequest, "/filter", format!("is not JSON: {error}")))?;
    let schema = CallerSchema::new(caller, Rc::clone(template));
    let zone = time_zone::of_project(template)?.unwrap_or_else(|| "UTC".to_owned());
    let settings = check::Settings { time_zone: &zone, ..check::Settings::default() };
    let filter = parse::scope(raw)
        .and_then(|conditions| check::check(&conditions, &schema, settings))
        .map_err(|error| error.below("/filter"))?;
    Ok((!filter.is_always_true()).then(|| render(&filter, RECORD, Options::default())))
}

fn share(deleted: u64, matching: u64) -> f64 {
    if matching == 0 { 0.0 } else { deleted as f64 / matching as f64 }
}

fn hash_of_id(id: Uuid) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

fn require_room(records: usize) -> Result<(), Error> {
    if records <= MAX_RECORDS {
        return Ok(());
    }
    let message =
        format!("an import with mode=mirror has at most {MAX_RECORDS} rows, and deletes as many records");
    Err(Error::new(Code::PayloadTooLarge, message)
        .hint("Split the file, and give each part a filter of its own."))
}

fn reserve_memory<T>(list: &mut Vec<T>, additional: usize) -> Result<(), Error> {
    list.try_reserve(additional).map_err(|_| {
        Error::new(Code::StorageFull, "the server has no memory left for the records of the file")
    })
}

fn was_closed() -> Error {
    Error::new(Code::InvalidValue, "CLOSE ALL or another export has ended the import before its end")
        .hint("Import the file again, in a transaction of its own.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_equals_its_decimal_notation() {
        for (deleted, matching, max) in
            [(1, 10, "0.1"), (3, 10, "0.3"), (7, 100, "0.07"), (0, 0, "0"), (9, 9, "1")]
        {
            assert_eq!(Ok(share(deleted, matching)), max.parse(), "{deleted} of {matching}");
        }
        assert!(share(100_001, 1_000_000) > 0.1);
    }
}
