//! Updates existing records with one statement for all rows: for files without all required attributes, and for
//! records named by id.

use super::{Outcome, Row};
use crate::access::visibility::{WriteScope, and, condition_column};
use crate::access::{Action, Caller};
use crate::attribute_type::AttributeType;
use crate::batch::group::Outside;
use crate::batch::statement::array_argument;
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{array, params};
use crate::postgres::raise::OrRaise;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::Event;
use crate::record::mode::Mode;
use crate::record::statement::differs;
use crate::record::write_error::key_taken;
use crate::record::{changes, dropped};
use crate::template::Template;
use crate::value::change::Changes;
use crate::vectors;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use uuid::Uuid;

/// How rows identify records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// By external key.
    Key,
    /// By id.
    Id,
}

/// The record of a row, locked.
struct LockedRecord {
    id: Uuid,
    is_visible: bool,
    is_writable: bool,
}

/// Updates the records of rows with this privilege. All rows write the same attributes, each to a different record.
pub fn run(
    caller: &Caller,
    action: Action,
    template: &Template,
    mode: Mode,
    by: By,
    rows: &[Row],
) -> Result<Vec<(usize, Outcome)>, Outside> {
    let write_scope = WriteScope::of(caller, action, template);
    as_owner(|| {
        let found = lock(template, by, rows, &write_scope);
        let mut outcomes = Vec::with_capacity(rows.len());
        let (mut ids, mut written) = (Vec::new(), Vec::new());
        for (place, row) in rows.iter().enumerate() {
            match found.get(&name(by, row)) {
                Some(LockedRecord { id, is_visible: true, is_writable: true }) => {
                    ids.push(*id);
                    written.push(place);
                }
                Some(LockedRecord { is_visible: true, .. }) => {
                    outcomes.push((row.index, Outcome::Rejected(caller.out_of_scope(action, template))));
                }
                hidden => outcomes.push((
                    row.index,
                    Outcome::Rejected(absent(caller, template, mode, row, hidden.is_some())),
                )),
            }
        }
        let Written { changed, dropped } = match rows.first() {
            Some(first) if !first.changes.is_empty() => {
                let members: Vec<&Row> = written.iter().map(|place| &rows[*place]).collect();
                write(template, &first.changes, &members, &ids, &write_scope)
                    .map_err(|outside| Outside(outside.into_iter().map(|place| written[place]).collect()))?
            }
            _ => Written::default(),
        };
        for (place, id) in written.iter().zip(&ids) {
            if dropped.contains(id) {
                outcomes.push((rows[*place].index, Outcome::Rejected(dropped::error(template))));
                continue;
            }
            vectors::write::apply(template, *id, &rows[*place].embedding).or_raise();
            let outcome = if changed.contains(id) { Outcome::Updated(*id) } else { Outcome::Unchanged(*id) };
            outcomes.push((rows[*place].index, outcome));
        }
        Ok(outcomes)
    })
}

/// The error of a row whose record is not visible to the caller.
fn absent(caller: &Caller, template: &Template, mode: Mode, row: &Row, is_hidden: bool) -> Error {
    match &row.key {
        Some(key) if mode == Mode::Update => missing(template, key),
        Some(key) if is_hidden => key_taken(caller, template, key),
        Some(_) => changes::check_complete(template, &row.changes).err().unwrap_or_else(Error::not_found),
        None => Error::not_found(),
    }
}

/// The error of a row without an existing record, in a mode that only updates. An invisible record counts as missing.
pub fn missing(template: &Template, key: &str) -> Error {
    let message = format!("no record of {} has the key {key:?}", template.full_name());
    Error::at(Code::NotFound, "/external_key", message)
        .hint("Correct the key, or import it without mode=update to create the record.")
}

/// The key or id of a row's record.
fn name(by: By, row: &Row) -> String {
    match by {
        By::Key => row.key.clone().unwrap_or_default(),
        By::Id => row.id.unwrap_or_default().to_string(),
    }
}

/// Locks the live records of rows, in the order of keys, which all batches share.
fn lock(
    template: &Template,
    by: By,
    rows: &[Row],
    write_scope: &WriteScope,
) -> HashMap<String, LockedRecord> {
    let (column, names) = match by {
        By::Key => ("t.external_key", array(rows.iter().map(|row| row.key.as_deref()))),
        By::Id => ("t.id", array(rows.iter().map(|row| row.id))),
    };
    let sql = format!(
        "select t.id, {column}::text{}{} from {} t where {column} = any ($1) and t.deleted_at is null \
         order by t.external_key, t.id for no key update of t",
        condition_column(write_scope.visible.as_deref()),
        condition_column(write_scope.writable.as_deref()),
        template.table_sql()
    );
    connected(|spi| {
        let rows = template.run(spi, &sql, Snapshot::Latest, &[names]);
        let holds = |row, column| rows.get::<Option<bool>>(row, column).unwrap_or_default();
        let found = |row| {
            let name = rows.get::<Option<String>>(row, 1)?;
            let id = rows.get::<Option<Uuid>>(row, 0)?;
            Some((name, LockedRecord { id, is_visible: holds(row, 2), is_writable: holds(row, 3) }))
        };
        (0..rows.len()).filter_map(found).collect()
    })
}

/// Locks the live records with these keys, in the order of keys.
pub fn lock_all<'a>(template: &Template, keys: impl Iterator<Item = &'a str>) {
    let keys: Vec<Option<&str>> = keys.map(Some).collect();
    if keys.is_empty() {
        return;
    }
    let sql = format!(
        "select from {} t where t.external_key = any ($1) and t.deleted_at is null \
         order by t.external_key for no key update of t",
        template.table_sql()
    );
    as_owner(|| {
        connected(|spi| {
            template.run(spi, &sql, Snapshot::Latest, &params![array(keys.into_iter())]);
        });
    });
}

/// The result of a statement.
#[derive(Default)]
struct Written {
    changed: HashSet<Uuid>,
    /// Records that do not have their new values, because a trigger dropped the write.
    dropped: HashSet<Uuid>,
}

/// Writes changed values, or returns the rows whose records would leave the write scope.
fn write(
    template: &Template,
    shape: &Changes,
    rows: &[&Row],
    ids: &[Uuid],
    write_scope: &WriteScope,
) -> Result<Written, Vec<usize>> {
    let (mut sets, mut differing, mut parameters, mut names) =
        (String::new(), String::new(), String::new(), String::new());
    for (column, (position, _)) in shape.iter().enumerate() {
        let attribute = &template.attributes[*position];
        let cast = if attribute.kind == AttributeType::List { "::text[]" } else { "" };
        let new = format!("u.c{column}{cast}");
        let or = if column > 0 { " or " } else { "" };
        let _ = write!(sets, "\"{}\" = {new}, ", attribute.slug);
        let _ = write!(differing, "{or}{}", differs(attribute, &new));
        let _ = write!(parameters, ", ${}", column + 2);
        let _ = write!(names, ", c{column}");
    }
    let arrays = format!("unnest($1{parameters}) u (id{names})");
    let sql = format!(
        "update {} t set {sets}updated_at = now() from {arrays} \
         where t.id = u.id and t.deleted_at is null and ({differing}){} returning t.id{}",
        template.table_sql(),
        and(write_scope.writable.as_deref()),
        condition_column(write_scope.writable.as_deref())
    );
    let kind_of = |position: &usize| template.attributes[*position].kind;
    let mut arguments = params![ids].to_vec();
    for (column, (position, _)) in shape.iter().enumerate() {
        let values = rows.iter().map(|row| &row.changes[column].1);
        arguments.push(array_argument(kind_of(position), values));
    }
    connected(|spi| {
        let written = template.write(spi, &template.plan(&sql, &arguments), &arguments);
        let (mut changed, mut outside) = (HashSet::with_capacity(written.len()), HashSet::new());
        for row in 0..written.len() {
            let Some(id) = written.get::<Option<Uuid>>(row, 0) else { continue };
            changed.insert(id);
            if !written.get::<Option<bool>>(row, 1).unwrap_or_default() {
                outside.insert(id);
            }
        }
        if outside.is_empty() {
            let mut dropped = HashSet::new();
            // The records are locked, so only a trigger can prevent the update.
            if changed.len() < ids.len() && dropped::is_possible(template, &[Event::Update]) {
                let sql = format!(
                    "select t.id from {} t, {arrays} where t.id = u.id and ({differing})",
                    template.table_sql()
                );
                let left = template.run(spi, &sql, Snapshot::Latest, &arguments);
                dropped.extend((0..left.len()).filter_map(|row| left.get::<Option<Uuid>>(row, 0)));
                dropped.retain(|id| !changed.contains(id));
            }
            return Ok(Written { changed, dropped });
        }
        Err(ids.iter().enumerate().filter(|(_, id)| outside.contains(id)).map(|(place, _)| place).collect())
    })
}
