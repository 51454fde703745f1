//! Finds the attribute whose value violates a limit of its column. An administrator may have changed a column to
//! `varchar(20)` or added a CHECK constraint. PostgreSQL's error for the type names no column, and the error for the
//! constraint names only the constraint.

use super::Row;
use crate::error::{Code, Error};
use crate::postgres::caught::Caught;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::template::Template;
use crate::value::change::{Change, Changes, Value};
use pgrx::prelude::PgSqlErrorCode;

/// The error of a row that was written separately, with the attributes that caused it, if they are
/// known.
pub fn located(template: &Template, row: &Row, caught: &Caught, error: Error) -> Error {
    let errors = if caught.is_any_of(&[PgSqlErrorCode::ERRCODE_STRING_DATA_RIGHT_TRUNCATION]) {
        too_long(template, &row.changes)
    } else if caught.is_any_of(&[PgSqlErrorCode::ERRCODE_CHECK_VIOLATION]) {
        checked(template, &error.message)
    } else {
        Vec::new()
    };
    match Error::join(errors) {
        Some(located) => located.hint(error.hint.unwrap_or_else(|| "Correct the value.".to_owned())),
        None => error,
    }
}

/// The values with more characters than their columns allow.
fn too_long(template: &Template, changes: &Changes) -> Vec<Error> {
    // The modifier of these types is the length plus 4.
    let sql = "select a.attname::text, a.atttypmod - 4 from pg_catalog.pg_attribute a \
               where a.attrelid = $1 and a.atttypid in (1042, 1043) and a.atttypmod > 4 and not a.attisdropped";
    let limits: Vec<(String, i32)> = connected(|spi| {
        let rows = spi.run_once(sql, Snapshot::Latest, &params![template.table]);
        let limit = |row| Some((rows.get::<Option<String>>(row, 0)?, rows.get::<Option<i32>>(row, 1)?));
        (0..rows.len()).filter_map(limit).collect()
    });
    let violation = |(position, change): &(usize, Change)| {
        let attribute = &template.attributes[*position];
        let Change::Set(Value::Text(text)) = change else { return None };
        let (_, max) = limits.iter().find(|(slug, _)| *slug == attribute.slug)?;
        let count = text.chars().count();
        let message = format!("the text has {count} characters: its column takes at most {max}");
        (count > *max as usize).then(|| Error::at(Code::InvalidValue, &attribute.pointer, message))
    };
    changes.iter().filter_map(violation).collect()
}

/// The attribute of a violated single-column CHECK constraint. The error message quotes the name of
/// the constraint.
fn checked(template: &Template, message: &str) -> Vec<Error> {
    let names: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
    let sql = "select a.attname::text from pg_catalog.pg_constraint c \
               join pg_catalog.pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] \
               where c.conrelid = $1 and c.contype = 'c' and pg_catalog.cardinality(c.conkey) = 1 and c.conname = any ($2)";
    let slug = connected(|spi| {
        spi.run_once(sql, Snapshot::Latest, &params![template.table, &names]).value::<String>()
    });
    let position = slug.and_then(|slug| template.position(&slug));
    let error =
        |position: usize| Error::at(Code::InvalidValue, &template.attributes[position].pointer, message);
    position.map(error).into_iter().collect()
}
