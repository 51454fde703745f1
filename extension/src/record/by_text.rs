//! References by a string attribute of their target.

use crate::access::visibility::{self, and};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::filter::render::INDEXED_CHARACTERS;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{array, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::template::{Attribute, Template};
use crate::value::collation::clause;
use crate::value::normal_form::forms;
use uuid::Uuid;

/// The visible live records with a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No record.
    None,
    /// One record.
    One(Uuid),
    /// This number of records.
    Many(i64),
}

/// Looks up many strings in an attribute of a template, by one statement. Strings are compared as by the operator `eq`.
/// The result has the order of the strings.
pub fn find(caller: &Caller, target: &Template, attribute: &Attribute, texts: &[&str]) -> Vec<Found> {
    let mut found = vec![Found::None; texts.len()];
    if texts.is_empty() || caller.require(Action::Read, target).is_err() {
        return found;
    }
    let (mut positions, mut requested): (Vec<i32>, Vec<String>) = Default::default();
    for (position, text) in texts.iter().enumerate() {
        for form in forms(text) {
            positions.push(position as i32);
            requested.push(form);
        }
    }
    let sql = statement(caller, target, attribute, &requested);
    let arguments = params![array(positions.iter().copied()), array(requested.iter().map(String::as_str))];
    as_owner(|| {
        connected(|spi| {
            let rows = target.run(spi, &sql, Snapshot::Latest, &arguments);
            for row in 0..rows.len() {
                let position = rows.get::<Option<i32>>(row, 0).and_then(|it| usize::try_from(it).ok());
                let Some(result) = position.and_then(|position| found.get_mut(position)) else { continue };
                *result = match (rows.get::<Option<i64>>(row, 1), rows.get::<Option<Uuid>>(row, 2)) {
                    (Some(1), Some(id)) => Found::One(id),
                    (Some(count), _) => Found::Many(count),
                    (None, _) => Found::None,
                };
            }
        });
    });
    found
}

/// Joins the strings instead of comparing the column with an array: without an index, a cached plan would compare each row
/// with each text. As in filters, strings shorter than the indexed prefix are compared with the prefix only.
fn statement(caller: &Caller, target: &Template, attribute: &Attribute, texts: &[String]) -> String {
    let column = format!("t.\"{}\"", attribute.slug);
    let is_long = |text: &String| text.chars().count() >= INDEXED_CHARACTERS;
    let whole = format!("{column} = w.text");
    let condition = match attribute.indexed {
        false => whole,
        true => {
            let by_index = format!(
                "pg_catalog.left({column}, {INDEXED_CHARACTERS}){} = pg_catalog.left(w.text, {INDEXED_CHARACTERS})",
                clause(&attribute.collations.index)
            );
            if texts.iter().any(is_long) { format!("{by_index} and {whole}") } else { by_index }
        }
    };
    format!(
        "select w.position, pg_catalog.count(*), pg_catalog.min(t.id::text collate \"C\")::uuid \
         from unnest($1, $2) w (position, text) join {} t on {condition} \
         where t.deleted_at is null{} group by w.position",
        target.table_sql(),
        and(visibility::row(caller, target).as_deref())
    )
}

/// The error for a reference by a string attribute that no record has.
pub fn not_found(attribute: &Attribute, target: Option<&Template>, matched: i32, text: &str) -> Error {
    let message = format!("no record{} {text:?}", having(target, matched));
    Error::at(Code::ReferenceNotFound, &attribute.pointer, message)
        .hint("Correct the value, or create the record first.")
}

/// The error for a reference by a string attribute that several records have.
pub fn ambiguous(attribute: &Attribute, target: &Template, matched: i32, text: &str, count: i64) -> Error {
    let message = format!("{count} records{} {text:?}", having(Some(target), matched));
    Error::at(Code::InvalidValue, &attribute.pointer, message)
        .hint("Make the values unique, or remove match for this column and use external keys.")
}

/// ` of crm.companies with name =`.
fn having(target: Option<&Template>, matched: i32) -> String {
    let Some(target) = target else { return " with".to_owned() };
    let attribute = target.attributes.iter().find(|it| it.id == matched);
    format!(" of {} with {} =", target.full_name(), attribute.map_or("this", |it| &it.slug))
}
