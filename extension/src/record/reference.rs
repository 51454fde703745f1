//! Resolves references, and checks that their targets are live.

use super::by_text;
use super::kept::{self, RecordIdentity};
use crate::access::visibility::{self, and};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{IntoParameter, Parameter, array};
use crate::postgres::spi::{Snapshot, connected};
use crate::template::{self, Attribute, Template, catalog};
use crate::value::change::{Change, Changes, Value};
use crate::value::record_id;
use crate::value::shard::of_template;
use std::collections::HashMap;
use std::rc::Rc;
use uuid::Uuid;

/// Resolves references by external key to ids. A reference without a visible live target is valid only if the record
/// already has it. Errors do not distinguish invisible from missing targets. Returns whether the record keeps values; it
/// is then locked.
pub fn resolve(
    caller: &Caller,
    template: &Template,
    changes: &mut Changes,
    identity: RecordIdentity,
) -> Result<bool, Error> {
    find_targets(caller, template, changes);
    kept::settle(caller, template, changes, identity)
}

/// The same without the check of kept values, which must follow.
pub fn find_targets(caller: &Caller, template: &Template, changes: &mut Changes) {
    for (position, change) in changes.iter_mut() {
        let attribute = &template.attributes[*position];
        let found = match (&*change, attribute.target) {
            (Change::Set(Value::Reference(id)), Some(target)) => find(caller, target, &ReferenceTo::Id(*id)),
            (Change::Set(Value::ReferenceByKey(key)), Some(target)) => {
                find(caller, target, &ReferenceTo::Key(key))
            }
            // Only imports have these, and look them up themselves.
            (Change::Set(Value::ReferenceByText(..)), _) => None,
            _ => continue,
        };
        match found {
            Some(id) => *change = Change::Set(Value::Reference(id)),
            None => can_only_be_kept(attribute, change),
        }
    }
}

/// Marks a reference without a visible live target.
pub fn can_only_be_kept(attribute: &Attribute, change: &mut Change) {
    let error = Box::new(not_found(attribute, change));
    if let Change::Set(value) = change {
        *change = Change::Keep(std::mem::replace(value, Value::Null), error);
    }
}

/// The same for many rows, with one statement for each attribute and kind of reference. Returns the unresolved references
/// as positions of row and change.
pub fn find_targets_of_all(
    caller: &Caller,
    template: &Template,
    rows: &mut [&mut Changes],
) -> Vec<(usize, usize)> {
    let mut missing = Vec::new();
    for (position, attribute) in template.attributes.iter().enumerate() {
        let Some(target) = attribute.target else { continue };
        let (mut ids, mut keys): (HashMap<Uuid, bool>, HashMap<String, Option<Uuid>>) = Default::default();
        for (_, change) in rows.iter().flat_map(|row| row.iter()).filter(|change| change.0 == position) {
            match change {
                Change::Set(Value::Reference(id)) => {
                    ids.insert(*id, false);
                }
                Change::Set(Value::ReferenceByKey(key)) if !keys.contains_key(key.as_ref()) => {
                    keys.insert(key.as_ref().to_owned(), None);
                }
                _ => {}
            }
        }
        find_all(caller, target, &mut ids, &mut keys);
        for (row, changes) in rows.iter_mut().enumerate() {
            for (index, (_, change)) in changes.iter_mut().enumerate().filter(|(_, it)| it.0 == position) {
                match change {
                    Change::Set(Value::Reference(id)) if ids.get(id) != Some(&true) => {
                        missing.push((row, index));
                    }
                    Change::Set(Value::ReferenceByKey(key)) => {
                        match keys.get(key.as_ref()).copied().flatten() {
                            Some(id) => *change = Change::Set(Value::Reference(id)),
                            None => missing.push((row, index)),
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    missing
}

fn find_all(
    caller: &Caller,
    target: i32,
    ids: &mut HashMap<Uuid, bool>,
    keys: &mut HashMap<String, Option<Uuid>>,
) {
    let Some(target) = catalog::by_id(target) else { return };
    if ids.is_empty() && keys.is_empty() || caller.require(Action::Read, &target).is_err() {
        return;
    }
    let visible = and(visibility::row(caller, &target).as_deref());
    let find = |column: &str, requested: Parameter, found: &mut dyn FnMut(Uuid, Option<String>)| {
        let sql = format!(
            "select t.id, t.external_key from {} t where t.{column} = any ($1) and t.deleted_at is null{visible}",
            target.table_sql()
        );
        as_owner(|| {
            connected(|spi| {
                let rows = target.run(spi, &sql, Snapshot::Latest, &[requested]);
                rows.iter().for_each(|(id, key)| found(id, key));
            });
        });
    };
    if !ids.is_empty() {
        let requested = array(ids.keys());
        find("id", requested, &mut |id, _| {
            ids.insert(id, true);
        });
    }
    if !keys.is_empty() {
        let requested = array(keys.keys());
        find("external_key", requested, &mut |id, key| {
            keys.extend(key.map(|key| (key, Some(id))));
        });
    }
}

/// The error for a reference without a visible live target.
pub fn not_found(attribute: &Attribute, change: &Change) -> Error {
    let target = attribute.target.and_then(catalog::by_id);
    let name = match change {
        Change::Set(Value::Reference(id)) => {
            if let Some(shard) = other_shard(*id) {
                return Error::at(
                    Code::ReferenceNotFound,
                    &attribute.pointer,
                    format!("the referenced record \"{id}\" belongs to shard {shard}"),
                )
                .hint("A reference leads to a record of the same project, and a project is on one shard.");
            }
            format!(" \"{id}\"")
        }
        Change::Set(Value::ReferenceByKey(key)) => format!(" {key:?}"),
        Change::Set(Value::ReferenceByText(matched, text)) => {
            return by_text::not_found(attribute, target.as_deref(), *matched, text);
        }
        _ => String::new(),
    };
    let in_template = target.map(|it| format!(" in template {:?}", it.slug)).unwrap_or_default();
    let message = format!("the referenced record{name} does not exist{in_template}");
    Error::at(Code::ReferenceNotFound, &attribute.pointer, message).hint(
        "Create it first, or send null. If the same request creates it, check why that operation was \
         rejected.",
    )
}

/// The shard that assigned this id; `None` unless it is another one, and this database has no template of the record.
fn other_shard(id: Uuid) -> Option<i32> {
    let template = record_id::template_of(id)?;
    if catalog::by_id(template).is_some() {
        return None;
    }
    let shard = of_template(template);
    template::shard::current().is_some_and(|current| current != shard).then_some(shard)
}

/// Whether a template has a live record with this id that is visible to the caller.
pub fn is_live(caller: &Caller, target: i32, id: Uuid) -> bool {
    find(caller, target, &ReferenceTo::Id(id)).is_some()
}

enum ReferenceTo<'a> {
    Id(Uuid),
    Key(&'a str),
}

fn find(caller: &Caller, target: i32, requested: &ReferenceTo) -> Option<Uuid> {
    let target: Rc<Template> = catalog::by_id(target)?;
    caller.require(Action::Read, &target).ok()?;
    let (condition, argument) = match requested {
        ReferenceTo::Id(id) => ("t.id = $1", id.into_parameter()),
        ReferenceTo::Key(key) => ("t.external_key = $1", key.into_parameter()),
    };
    let sql = format!(
        "select t.id from {} t where {condition} and t.deleted_at is null{}",
        target.table_sql(),
        and(visibility::row(caller, &target).as_deref())
    );
    as_owner(|| {
        connected(|spi| {
            // The latest snapshot includes targets that the same request has written.
            target.run(spi, &sql, Snapshot::Latest, &[argument]).value()
        })
    })
}
