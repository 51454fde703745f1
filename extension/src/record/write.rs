//! Creates and updates records, each by one statement. The triggers enforce the rules and write the history.

use super::argument::BoundAssignments;
use super::kept::RecordIdentity;
use super::key::{Key, parse_key};
use super::new_id::new_id;
use super::read::{self, Lifetime};
use super::shape::{Projection, STANDARD_COLUMNS};
use super::shown::Rendered;
use super::statement::{self, KeyAssignment, columns};
use super::version::Preconditions;
use super::write_error::{is_insert_dropped, key_taken, not_inserted, require_in_scope};
use super::{changes, dropped, precondition, reference};
use crate::access::visibility::{WriteScope, condition_column};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::postgres::guard::{as_owner, subtransaction};
use crate::postgres::parameter::{IntoParameter, Parameter, params};
use crate::postgres::relation;
use crate::postgres::spi::{Rows, Snapshot, connected};
use crate::postgres::trigger::Event;
use crate::quota::reserve;
use crate::template::{Template, column};
use crate::value::change::Changes;
use crate::value::vector::Embedding;
use crate::vectors;
use crate::{json, metric};
use serde_json::value::RawValue;
use uuid::Uuid;

/// Creates a record. Returns its id and the record.
pub fn create(
    caller: &Caller,
    template: &Template,
    key: Option<&str>,
    mut changes: Changes,
) -> Result<(Uuid, Rendered), Error> {
    caller.require(Action::Create, template)?;
    changes::check_complete(template, &changes)?;
    reference::resolve(caller, template, &mut changes, RecordIdentity::None)?;
    metric::stamp(&mut changes);
    reserve::for_creation(template);
    let id = new_id(template.id);
    let projection = Projection::of_written(caller, template);
    let write_scope = WriteScope::of(caller, Action::Create, template);
    let insert = || {
        as_owner(|| {
            let assignments = BoundAssignments::new(template, &changes);
            let returning = columns(template) + &condition_column(write_scope.writable.as_deref());
            let sql = statement::insert(template, &assignments, &returning);
            connected(|spi| {
                let arguments = [&params![id, key], assignments.arguments.as_slice()].concat();
                let plan = template.plan(&sql, &arguments);
                written(&template.write(spi, &plan, &arguments), template, &projection)
            })
        })
    };
    let mut record = insert();
    for _ in 1..dropped::ATTEMPTS_UNTIL_DROPPED {
        if record.is_some() || !is_insert_dropped(template, key) {
            break;
        }
        record = insert();
    }
    let record = match record {
        Some(Written::InScope(record)) => record,
        Some(Written::OutOfScope) => return Err(caller.out_of_scope(Action::Create, template)),
        None => return Err(not_inserted(caller, template, key)),
    };
    metric::append(template, id, &changes);
    Ok((id, record))
}

/// The result of a write.
enum Written {
    /// The record.
    InScope(Rendered),
    /// The new row is out of scope. The error rolls it back.
    OutOfScope,
}

/// The result of a statement that returns the columns of a record and whether it is in the write scope.
fn written(rows: &Rows, template: &Template, projection: &Projection) -> Option<Written> {
    if rows.is_empty() {
        return None;
    }
    let column = STANDARD_COLUMNS + template.attributes.len();
    Some(match rows.get::<Option<bool>>(0, column).unwrap_or_default() {
        true => Written::InScope(read::shown(template, rows, 0, projection)),
        false => Written::OutOfScope,
    })
}

/// Changes the members of a body only.
pub fn patch(
    caller: &Caller,
    id: Uuid,
    body: &Body,
    preconditions: &Preconditions,
) -> Result<Rendered, Error> {
    let template = read::template_of(caller, id, Action::Update)?;
    let changes = body.attributes.map(|it| changes::parse(&template, it)).transpose()?.unwrap_or_default();
    // A body with only a vector writes no row of the table, but needs the same privileges.
    if body.embedding != Embedding::Absent {
        super::embedding::require_writable(caller, &template, id)?;
    }
    let record = update(caller, Action::Update, &template, id, &body.key, changes, preconditions)?;
    vectors::write::apply(&template, id, &body.embedding)?;
    Ok(record)
}

/// Replaces all attribute values, and keeps the key.
pub fn replace(
    caller: &Caller,
    id: Uuid,
    body: &RawValue,
    preconditions: &Preconditions,
) -> Result<Rendered, Error> {
    let template = read::template_of(caller, id, Action::Update)?;
    let mut changes = changes::complete_for_replacement(&template, changes::parse(&template, body)?)?;
    if metric::measures_now(&changes) {
        reserve::for_change(&template);
        let write_scope = WriteScope::of(caller, Action::Update, &template);
        let live = "t.id = $1 and t.deleted_at is null";
        let found = read::lock(&template, live, &write_scope, id.into_parameter());
        require_in_scope(caller, Action::Update, &template, found)?;
        metric::omit_latest(&template, id, &mut changes);
    }
    update(caller, Action::Update, &template, id, &Key::Absent, changes, preconditions)
}

/// Updates a live record. The privilege of `action` must have been checked, and its scope applies to the record. The
/// action is `Create` for a second write to a record that the same request has created.
pub fn update(
    caller: &Caller,
    action: Action,
    template: &Template,
    id: Uuid,
    key: &Key,
    mut changes: Changes,
    preconditions: &Preconditions,
) -> Result<Rendered, Error> {
    let identity = if action == Action::Update { RecordIdentity::Id(id) } else { RecordIdentity::None };
    reference::resolve(caller, template, &mut changes, identity)?;
    metric::stamp(&mut changes);
    let assignments = BoundAssignments::new(template, &changes);
    let projection = Projection::of_written(caller, template);
    let write_scope = WriteScope::of(caller, action, template);
    let is_idle = assignments.is_empty() && *key == Key::Absent;
    if !is_idle || !preconditions.is_empty() {
        reserve::for_change(template);
        precondition::require(caller, action, template, id, preconditions)?;
    }
    if is_idle {
        return read::by_id(
            template,
            id,
            write_scope.visible.as_deref(),
            Lifetime::Live,
            &projection,
            Snapshot::Latest,
        );
    }
    if metric::has_points(&changes) {
        read::lock(template, "t.id = $1", &write_scope, id.into_parameter());
    }
    let (assignment, first) = match key {
        Key::Absent => (KeyAssignment::Keep, params![id].to_vec()),
        _ => (KeyAssignment::Set, params![id, key.value()].to_vec()),
    };
    let arguments = [first, assignments.arguments.clone()].concat();
    let sql = statement::update_by_id(template, assignment, &assignments, &write_scope);
    let mut written = write_one(caller, action, template, &sql, &arguments, key)?;
    if written.is_none() {
        // No row: the values are unchanged, the record is not visible to this caller, or it was concurrently deleted and
        // restored. If the lock finds no row, the record does not exist. With the lock held, the repeated statement
        // writes nothing only if the values are unchanged.
        let live = "t.id = $1 and t.deleted_at is null";
        let found = read::lock(template, live, &write_scope, id.into_parameter());
        require_in_scope(caller, action, template, found)?;
        written = write_one(caller, action, template, &sql, &arguments, key)?;
        if written.is_none() {
            let sql = || dropped::to_update_by_id(template, assignment, &assignments);
            dropped::reject(template, &[Event::Update], sql, &arguments)?;
            // A trigger may suppress an update that changes no column. The points are still added.
            metric::append(template, id, &changes);
        }
    }
    match written {
        Some(record) => {
            metric::append(template, id, &changes);
            Ok(record)
        }
        None => read::by_id(template, id, None, Lifetime::Live, &projection, Snapshot::Latest),
    }
}

/// Runs a statement that returns the written record and whether it is in the write scope. A unique violation on the key
/// becomes an error of keyed.
pub(super) fn write_one(
    caller: &Caller,
    action: Action,
    template: &Template,
    sql: &str,
    arguments: &[Parameter],
    key: &Key,
) -> Result<Option<Rendered>, Error> {
    let projection = Projection::of_written(caller, template);
    let run = || {
        as_owner(|| {
            let plan = template.plan(sql, arguments);
            connected(|spi| written(&template.write(spi, &plan, arguments), template, &projection))
        })
    };
    // Only a write that sets the key can conflict; others need no subtransaction.
    let outcome = match key.value() {
        None => run(),
        Some(requested) => subtransaction(run).catch(|caught| {
            let index = caught.unique_index()?;
            let is_of_keys = relation::is_index_of(index, template.table, column::EXTERNAL_KEY);
            is_of_keys.then(|| key_taken(caller, template, requested))
        })?,
    };
    match outcome {
        Some(Written::InScope(record)) => Ok(Some(record)),
        Some(Written::OutOfScope) => Err(caller.out_of_scope(action, template)),
        None => Ok(None),
    }
}

/// The body of a request that writes a record.
#[derive(Default)]
pub struct Body<'a> {
    /// The external key.
    pub key: Key,
    /// The unparsed attributes.
    pub attributes: Option<&'a RawValue>,
    /// The vector.
    pub embedding: Embedding,
}

/// Parses the members `external_key`, `attributes` and `embedding` of a body, and rejects others.
pub fn parse_body(body: &str) -> Result<Body<'_>, Error> {
    let mut parsed = Body::default();
    for (name, value) in json::object(body)?.0 {
        match name.as_ref() {
            "external_key" => parsed.key = parse_key(value)?,
            "attributes" => parsed.attributes = Some(value),
            "embedding" => parsed.embedding = Embedding::parse(value, "/embedding")?,
            _ => {
                let pointer = format!("/{}", json::pointer_step(&name));
                return Err(Error::at(Code::UnknownField, pointer, format!("{name:?} is an unknown member"))
                    .hint("Use the members attributes, external_key and embedding."));
            }
        }
    }
    Ok(parsed)
}
