//! Many operations in one call: parsed, put into an order in which concurrent batches cannot deadlock, run in
//! groups, and reported in the order of the request.

/// Keys that other transactions take while an atomic batch runs.
pub mod conflict;
/// Orders operations by their references.
mod dependencies;
/// Many operations in few subtransactions.
mod few;
/// Many records of one template by one statement.
pub mod group;
/// The order in which operations run.
pub mod order;
/// JSON → operations.
pub mod parse;
/// Results → JSON.
pub mod report;
/// Runs a batch again without refused operations.
mod rounds;
/// Runs operations one by one.
pub mod single;
/// The statement for many records.
pub mod statement;

use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::function::{Answer, sql_functions};
use crate::postgres::guard::{Caught, Class, attempt};
use crate::quota::reserve;
use crate::value::change::{Change, Changes, Value};
use conflict::{Conflict, Watch};
use few::{Few, Stop};
use parse::{Operation, OperationKind};
use pgrx::prelude::PgSqlErrorCode;
use rounds::Rounds;
use std::collections::HashMap;
use std::ops::Range;
use uuid::Uuid;

sql_functions! {
    /// `keyed.batch(operations jsonb, atomic boolean, conflict text) returns jsonb`.
    keyed_batch => |call| {
        let operations = call.required_json(0, "operations")?;
        let operations = serde_json::from_str(&operations)
            .map_err(|error| Error::new(Code::MalformedRequest, format!("operations cannot be read: {error}")))?;
        let conflict = call.text(2).map(|name| Conflict::parse(&name)).transpose()?;
        run(&Caller::current(), operations, parse::mode(call.flag(1), conflict)?).map(Answer::Json)
    };

    /// `keyed_http.batch(body text) returns text[]`.
    keyed_http_batch => |call| {
        let body = call.required_text(0, "body")?;
        let (operations, mode) = parse::body(&body)?;
        let report = run(&Caller::current(), operations, mode)?;
        Ok(Answer::Texts(vec![Some("200".to_owned()), None, Some(report)]))
    };
}

/// What became of an operation that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    kind: OperationKind,
    id: Uuid,
    created: bool,
    changed: bool,
}

impl Done {
    /// Whether a record was made.
    pub fn is_created(self) -> bool {
        self.created
    }

    /// Whether anything was written, as far as is known: what was not done by one statement with others counts as such.
    pub fn is_changed(self) -> bool {
        self.changed
    }
}

/// What became of an operation.
pub type Outcome = Result<Done, Error>;

/// Whether the first refused operation rolls back all, and how to handle keys that others take in the meantime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All of it, or nothing.
    Atomic(Conflict),
    /// Each operation by itself.
    Each,
}

fn run(caller: &Caller, operations: &serde_json::value::RawValue, mode: Mode) -> Result<String, Error> {
    let parsed = parse::operations(caller, operations)?;
    Ok(report::to_json(&execute(caller, parsed, mode)?))
}

/// Runs operations in the order that all batches share. Results are in the order of the request.
pub fn execute(
    caller: &Caller,
    parsed: Vec<Result<Operation, Error>>,
    mode: Mode,
) -> Result<Vec<Option<Outcome>>, Error> {
    let (atomic, conflict) = match mode {
        Mode::Atomic(conflict) => (true, conflict),
        Mode::Each => (false, Conflict::Wait),
    };
    let mut watch = Watch::new(conflict);
    let mut outcomes: Vec<Option<Outcome>> = vec![None; parsed.len()];
    let mut ready: Vec<Operation> = Vec::with_capacity(parsed.len());
    for (index, operation) in parsed.into_iter().enumerate() {
        match operation {
            Ok(operation) => ready.push(operation),
            Err(error) if atomic => return Err(failed(index, error)),
            Err(error) => outcomes[index] = Some(Err(error)),
        }
    }
    reserve_quota(&ready);
    let steps = order::plan(&ready);
    let mut put_off: Vec<(usize, Changes)> = Vec::new();
    for (place, step) in steps.iter().enumerate().filter(|(_, step)| !step.put_off.is_empty()) {
        put_off.push((place, take(&mut ready[step.operation].changes, &step.put_off)));
    }
    let operations: Vec<&Operation> = steps.iter().map(|step| &ready[step.operation]).collect();
    let rounds = Rounds { caller, operations, put_off, atomic };
    let done = rounds.run(&mut watch).map_err(|(index, error)| failed(index, *error))?;
    for (index, outcome) in done {
        outcomes[index] = Some(outcome);
    }
    Ok(outcomes)
}

/// Runs some operations one after the other, those that fit together by one statement.
fn pass(
    caller: &Caller,
    operations: &[&Operation],
    few: &Few,
    some: Range<usize>,
) -> Result<few::Done, Stop> {
    let mut done = few::Done::with_capacity(some.len());
    let (mut group, mut members) = (group::Group::default(), Vec::new());
    for step in some.filter(|step| few.is_wanted(*step)) {
        pgrx::check_for_interrupts!();
        let operation = operations[step];
        // What this operation needs may be waiting in the group.
        if !few.may_join(step) || !group.accepts(operation) || operation.refers_by_key() {
            finish(caller, &mut group, &mut members, few, &mut done)?;
        }
        if few.may_be_joined(step) && group::is_groupable(operation) {
            few.begin(&[step]);
            match group.add(caller, operation.clone()) {
                Ok(()) => members.push(step),
                Err(error) => done.push((step, Err(error))),
            }
        } else {
            few.begin(&[step]);
            let outcome = single::run(caller, operation, operation.changes.clone());
            done.push((step, Ok(outcome.map_err(|error| Stop::Refused(step, Box::new(error)))?)));
        }
    }
    finish(caller, &mut group, &mut members, few, &mut done)?;
    Ok(done)
}

fn finish(
    caller: &Caller,
    group: &mut group::Group,
    members: &mut Vec<usize>,
    few: &Few,
    done: &mut few::Done,
) -> Result<(), Stop> {
    let (group, members) = (std::mem::take(group), std::mem::take(members));
    few.begin(&members);
    match (group.members(), members.as_slice()) {
        ([], _) => {}
        ([operation], [step]) => {
            let outcome = single::run(caller, operation, operation.changes.clone());
            done.push((*step, Ok(outcome.map_err(|error| Stop::Refused(*step, Box::new(error)))?)));
        }
        _ => match group.run(caller) {
            Ok(outcomes) => {
                done.extend(members.into_iter().zip(outcomes).map(|(step, (_, outcome))| (step, outcome)));
            }
            Err(group::Outside(places)) => {
                let outside = places.into_iter().map(|place| members[place]).collect();
                return Err(Stop::Together { steps: members, outside });
            }
        },
    }
    Ok(())
}

/// Waits for quotas before records are locked, for those of one project after the other.
fn reserve_quota(operations: &[Operation]) {
    let mut of_templates: HashMap<(i32, i32), Vec<&Operation>> = HashMap::new();
    for operation in operations {
        let template = &operation.template;
        of_templates.entry((template.project_id, template.id)).or_default().push(operation);
    }
    let mut of_templates: Vec<_> = of_templates.into_iter().collect();
    of_templates.sort_by_key(|(template, _)| *template);
    for (_, operations) in of_templates {
        let makes =
            |operation: &&&Operation| matches!(operation.kind, OperationKind::Create | OperationKind::Upsert);
        let keys: Vec<Option<&str>> =
            operations.iter().filter(makes).map(|operation| operation.key.value()).collect();
        reserve::for_many(&operations[0].template, &keys, operations.len());
    }
}

/// Runs one operation so that its refusal undoes just what it did.
pub fn alone(body: impl FnOnce() -> Outcome) -> Result<Outcome, Error> {
    match attempt(body) {
        Ok(outcome) => Ok(outcome),
        Err(caught) => rethrow_unless_local(caught).map(Err),
    }
}

/// An error about the operation becomes its outcome; one about the session or its neighbours ends the request.
pub fn rethrow_unless_local(caught: Box<Caught>) -> Result<Error, Error> {
    let code = match caught.class() {
        Class::IntegrityConstraint if caught.state == PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION => {
            Code::Conflict
        }
        Class::IntegrityConstraint if caught.state == PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION => {
            Code::ReferenceNotFound
        }
        Class::Data | Class::IntegrityConstraint | Class::RaisedByTrigger => Code::InvalidValue,
        Class::ProgramLimit => Code::PayloadTooLarge,
        Class::Quota => Code::QuotaExceeded,
        Class::Other => caught.rethrow(),
    };
    match Error::from_raised(&caught.message, caught.detail.as_deref()) {
        Some(error) => Ok(error),
        // A limit of PostgreSQL's own, on temporary files for one, has the same SQLSTATE and is not about the operation.
        None if code == Code::QuotaExceeded => caught.rethrow(),
        None => Ok(Error::new(code, caught.message)),
    }
}

fn failed(index: usize, error: Error) -> Error {
    Error { failed_index: Some(index), ..error.below(&format!("/operations/{index}")) }
}

fn take<'a>(changes: &mut Changes<'a>, positions: &[usize]) -> Changes<'a> {
    let (taken, kept) = std::mem::take(changes).into_iter().partition(|change| positions.contains(&change.0));
    *changes = kept;
    taken
}

/// Whether a change refers to a record by its key.
fn refers_by_key(change: &Change) -> bool {
    matches!(change, Change::Set(Value::ReferenceByKey(_)))
}
