//! Writes many records of one template by one statement. Operations are grouped if they write the same attributes of one
//! template with plain values and different keys. Members keep their order.

use super::operation::{Operation, OperationKind};
use super::single::{Done, Outcome};
use super::statement;
use crate::access::visibility::{UpsertScopes, condition_column};
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Parameter, array, params};
use crate::postgres::raise::OrRaise;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::Event;
use crate::record::kept::{self, RecordIdentity};
use crate::record::mode::Mode;
use crate::record::new_id::new_id;
use crate::record::write_error::{is_insert_dropped, key_taken};
use crate::record::{changes, dropped, reference};
use crate::template::Template;
use crate::value::change::{Change, Changes};
use crate::vectors;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use uuid::Uuid;

/// Members of a group whose rows the caller may not write, by position.
#[derive(Debug)]
pub struct Outside(pub Vec<usize>);

/// Operations that one statement writes.
#[derive(Default)]
pub struct Group<'a> {
    members: Vec<Operation<'a>>,
    keys: HashSet<String>,
}

/// Whether a statement can write an operation together with others.
pub fn is_groupable(operation: &Operation) -> bool {
    let plain = operation.changes.iter().all(|(_, change)| matches!(change, Change::Set(_)));
    match operation.kind {
        // The version is compared with the record locked.
        _ if !operation.preconditions.is_empty() => false,
        OperationKind::Create => plain,
        OperationKind::Upsert => plain && changes::is_complete(&operation.template, &operation.changes),
        OperationKind::Update | OperationKind::Delete => false,
    }
}

impl<'a> Group<'a> {
    /// Operations that fit together, in the order of their keys, with privileges checked and references resolved.
    pub fn of(members: Vec<Operation<'a>>) -> Group<'a> {
        Group { members, keys: HashSet::new() }
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether an operation fits the members.
    pub fn accepts(&self, operation: &Operation) -> bool {
        let Some(first) = self.members.first() else { return true };
        let shape =
            |operation: &Operation| operation.changes.iter().map(|change| change.0).collect::<Vec<_>>();
        is_groupable(operation)
            && Rc::ptr_eq(&first.template, &operation.template)
            && first.kind == operation.kind
            && operation.key.value().is_none_or(|key| !self.keys.contains(key))
            && shape(first) == shape(operation)
    }

    /// Checks the privileges of an operation, resolves its references and adds it. Returns false if it must run
    /// separately, because its record may keep values.
    pub fn add(&mut self, caller: &Caller, mut operation: Operation<'a>) -> Result<bool, Error> {
        caller.require(Action::Create, &operation.template)?;
        if operation.kind == OperationKind::Upsert {
            caller.require(Action::Update, &operation.template)?;
        }
        reference::find_targets(caller, &operation.template, &mut operation.changes);
        if kept::has(&operation.changes) {
            return match operation.kind {
                OperationKind::Upsert => Ok(false),
                _ => kept::settle(caller, &operation.template, &mut operation.changes, RecordIdentity::None),
            };
        }
        if let Some(key) = operation.key.value() {
            self.keys.insert(key.to_owned());
        }
        self.members.push(operation);
        Ok(true)
    }

    /// The operations, in the order in which they are written.
    pub fn members(&self) -> &[Operation<'a>] {
        &self.members
    }

    /// Runs the statement. An error of PostgreSQL is an error of all members, and so is a row that the caller may not write.
    pub fn run(&self, caller: &Caller) -> Result<Vec<(usize, Outcome)>, Outside> {
        let Some(first) = self.members.first() else { return Ok(Vec::new()) };
        let template = &first.template;
        let ids: Vec<Uuid> = self.members.iter().map(|_| new_id(template.id)).collect();
        let done = as_owner(|| match first.kind {
            OperationKind::Upsert => self.run_upserts(caller, template, &first.changes, &ids),
            _ => self.run_creates(caller, template, &first.changes, &ids),
        })?;
        for (member, (_, outcome)) in self.members.iter().zip(&done) {
            if let Ok(done) = outcome {
                vectors::write::apply(template, done.id, &member.embedding).or_raise();
            }
        }
        Ok(done)
    }

    fn run_creates(
        &self,
        caller: &Caller,
        template: &Template,
        shape: &Changes,
        ids: &[Uuid],
    ) -> Result<Vec<(usize, Outcome)>, Outside> {
        let write_scopes = Mode::Create.write_scopes(caller, template);
        let written: HashSet<Uuid> = self
            .execute(template, shape, OperationKind::Create, ids, &write_scopes)?
            .into_iter()
            .map(|row| row.id)
            .collect();
        let is_lost = |member: &Operation, id: &Uuid| {
            !written.contains(id) && is_insert_dropped(template, member.key.value())
        };
        // When they run one by one, it turns out whether a trigger or another writer was the reason.
        let lost = self.outside(is_lost, ids);
        if !lost.0.is_empty() {
            return Err(lost);
        }
        let outcome = |(member, id): (&Operation, &Uuid)| {
            let outcome = if written.contains(id) {
                Ok(Done { kind: OperationKind::Create, id: *id, created: true, changed: true })
            } else {
                Err(key_taken(caller, template, member.key.value().unwrap_or_default()))
            };
            (member.index, outcome)
        };
        Ok(self.members.iter().zip(ids).map(outcome).collect())
    }

    fn run_upserts(
        &self,
        caller: &Caller,
        template: &Template,
        shape: &Changes,
        ids: &[Uuid],
    ) -> Result<Vec<(usize, Outcome)>, Outside> {
        let write_scopes = Mode::Upsert.write_scopes(caller, template);
        let written = self.execute(template, shape, OperationKind::Upsert, ids, &write_scopes)?;
        let mut by_key: HashMap<String, (Uuid, bool)> = HashMap::with_capacity(self.members.len());
        by_key.extend(written.into_iter().filter_map(|row| Some((row.key?, (row.id, true)))));
        // Records that hold these values already were not written: their ids are looked up.
        let unwritten: Vec<&str> = self
            .members
            .iter()
            .filter_map(|member| member.key.value())
            .filter(|key| !by_key.contains_key(*key))
            .collect();
        if !unwritten.is_empty() {
            let sql = format!(
                "select t.external_key, t.id{} from {} t where t.external_key = any ($1) and t.deleted_at is null",
                condition_column(write_scopes.update.writable.as_deref()),
                template.table_sql()
            );
            let outside = connected(|spi| {
                let rows = template.run(spi, &sql, Snapshot::Latest, &params![&unwritten]);
                let mut outside = HashSet::new();
                for row in 0..rows.len() {
                    let Some(key) = rows.get::<Option<String>>(row, 0) else { continue };
                    if !rows.get::<Option<bool>>(row, 2).unwrap_or_default() {
                        outside.insert(key.clone());
                    }
                    if let Some(id) = rows.get::<Option<Uuid>>(row, 1) {
                        by_key.insert(key, (id, false));
                    }
                }
                outside
            });
            if !outside.is_empty() {
                return Err(self
                    .outside(|member, _| member.key.value().is_some_and(|key| outside.contains(key)), ids));
            }
            if dropped::is_possible(template, &[Event::Insert, Event::Update]) {
                let left = self.left(template, shape, ids);
                // When they run one by one, it turns out whether a trigger or another writer was the reason.
                let is_left = |key: &str| match by_key.get(key) {
                    Some((_, is_written)) => !is_written && left.contains(key),
                    None => true,
                };
                let places = self.outside(|member, _| member.key.value().is_some_and(is_left), ids);
                if !places.0.is_empty() {
                    return Err(places);
                }
            }
        }
        let outcome = |(member, new): (&Operation, &Uuid)| {
            let found = member.key.value().and_then(|key| by_key.get(key));
            let done = |(id, changed): &(Uuid, bool)| Done {
                kind: OperationKind::Upsert,
                id: *id,
                created: id == new,
                changed: *changed,
            };
            (member.index, found.map(done).ok_or_else(Error::not_found))
        };
        Ok(self.members.iter().zip(ids).map(outcome).collect())
    }

    /// The keys of records that do not have the values of their members.
    fn left(&self, template: &Template, shape: &Changes, ids: &[Uuid]) -> HashSet<String> {
        let sql = statement::keys_to_change(template, shape);
        let arguments = self.arguments(template, shape, ids);
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &arguments);
            (0..rows.len()).filter_map(|row| rows.get::<Option<String>>(row, 0)).collect()
        })
    }

    /// The arrays of the statement, one for each column.
    fn arguments(&self, template: &Template, shape: &Changes, ids: &[Uuid]) -> Vec<Parameter> {
        let mut arguments =
            params![ids, array(self.members.iter().map(|member| member.key.value()))].to_vec();
        for (column, (position, _)) in shape.iter().enumerate() {
            let values = self.members.iter().map(|member| &member.changes[column].1);
            arguments.push(statement::array_argument(template.attributes[*position].kind, values));
        }
        arguments
    }

    /// The members for which `is_outside` holds, by position.
    fn outside(&self, is_outside: impl Fn(&Operation, &Uuid) -> bool, ids: &[Uuid]) -> Outside {
        let members = self.members.iter().zip(ids).enumerate();
        Outside(members.filter(|(_, (member, id))| is_outside(member, id)).map(|(place, _)| place).collect())
    }

    /// Runs the statement and returns the written rows.
    fn execute(
        &self,
        template: &Template,
        shape: &Changes,
        kind: OperationKind,
        ids: &[Uuid],
        write_scopes: &UpsertScopes,
    ) -> Result<Vec<Written>, Outside> {
        let sql = statement::sql(template, shape, kind, write_scopes);
        let arguments = self.arguments(template, shape, ids);
        let is_open = write_scopes.are_open();
        let new: HashSet<&Uuid> = if is_open { HashSet::new() } else { ids.iter().collect() };
        let (written, outside) = connected(|spi| {
            let rows = template.write(spi, &template.plan(&sql, &arguments), &arguments);
            let mut written = Vec::with_capacity(rows.len());
            let mut outside = Vec::new();
            for row in 0..rows.len() {
                let Some(id) = rows.get::<Option<Uuid>>(row, 0) else { continue };
                let column = if new.contains(&id) { 2 } else { 3 };
                let key = rows.get::<Option<String>>(row, 1);
                if !is_open && !rows.get::<Option<bool>>(row, column).unwrap_or_default() {
                    outside.push((id, key.clone()));
                }
                written.push(Written { id, key });
            }
            (written, outside)
        });
        if outside.is_empty() {
            return Ok(written);
        }
        let is_outside = |member: &Operation, new: &Uuid| {
            let key = member.key.value();
            outside.iter().any(|(id, held)| id == new || key.is_some() && held.as_deref() == key)
        };
        Err(self.outside(is_outside, ids))
    }
}

/// A row that a statement wrote.
struct Written {
    id: Uuid,
    key: Option<String>,
}
