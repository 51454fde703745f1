//! JSON → operations, checked as far as possible without the records.

use super::operation::{Conflict, Mode, Operation, OperationKind};
use crate::access::lookup::template_by_name;
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::json::{self, pointer_step};
use crate::limits;
use crate::record::changes;
use crate::record::key::{Key, parse_key};
use crate::record::version::Preconditions;
use crate::template::{Template, catalog};
use crate::value::member::{missing, text_at};
use crate::value::record_id;
use crate::value::vector::Embedding;
use crate::value::written::{Id, OperationSubject};
use serde_json::value::RawValue;
use std::rc::Rc;
use uuid::Uuid;

/// Reads the body of a batch request: `{operations, atomic?, conflict?}`.
pub fn body(text: &str) -> Result<(&RawValue, Mode), Error> {
    let (mut operations, mut atomic, mut conflict) = (None, false, None);
    for (name, value) in json::object(text)?.0 {
        match name.as_ref() {
            "operations" => operations = Some(value),
            "atomic" => atomic = json::boolean_at(value, "/atomic")?,
            "conflict" => conflict = Some(Conflict::parse(&text_at(value, "/conflict")?)?),
            _ => {
                let pointer = format!("/{}", pointer_step(&name));
                return Err(Error::at(
                    Code::UnknownField,
                    pointer,
                    "a batch has operations, atomic and conflict",
                ));
            }
        }
    }
    let operations = operations.ok_or_else(|| missing("operations", ""))?;
    Ok((operations, mode(atomic, conflict)?))
}

/// The mode of a batch. Only an atomic batch can fail as a whole.
pub fn mode(atomic: bool, conflict: Option<Conflict>) -> Result<Mode, Error> {
    match (atomic, conflict) {
        (true, conflict) => Ok(Mode::Atomic(conflict.unwrap_or_default())),
        (false, None | Some(Conflict::Wait)) => Ok(Mode::Each),
        (false, Some(Conflict::Fail)) => {
            Err(Error::at(Code::InvalidValue, "/conflict", "conflict \"fail\" requires an atomic batch")
                .hint("Send \"atomic\": true, or omit conflict."))
        }
    }
}

/// The operations that were read, each with its own error.
pub struct Operations<'a> {
    /// In the order of the request.
    pub operations: Vec<Result<Operation<'a>, Error>>,
    /// The subject of each operation; `None` if its error is only about the request.
    pub subjects: Vec<Option<OperationSubject>>,
}

/// Reads the operations.
pub fn operations<'a>(caller: &Caller, operations: &'a RawValue) -> Result<Operations<'a>, Error> {
    let entries = json::array_at(operations, "/operations")?;
    let max = limits::operations_per_batch();
    if entries.len() > max {
        let message = format!("a batch has at most {max} operations, not {}", entries.len());
        return Err(Error::at(Code::PayloadTooLarge, "/operations", message).hint("Send several batches."));
    }
    let mut read = Operations {
        operations: Vec::with_capacity(entries.len()),
        subjects: Vec::with_capacity(entries.len()),
    };
    for (index, entry) in entries.into_iter().enumerate() {
        let mut subject = None;
        match operation(caller, index, entry, &mut subject) {
            Err(error) if error.code == Code::ProjectRequired => return Err(error),
            result => read.operations.push(result),
        }
        read.subjects.push(subject);
    }
    Ok(read)
}

fn operation<'a>(
    caller: &Caller,
    index: usize,
    entry: &'a RawValue,
    subject: &mut Option<OperationSubject>,
) -> Result<Operation<'a>, Error> {
    let (mut kind, mut template, mut id, mut key, mut attributes) = (None, None, None, Key::Absent, None);
    let (mut embedding, mut preconditions) = (Embedding::Absent, Preconditions::default());
    for (name, value) in json::object_at(entry, "")?.0 {
        match name.as_ref() {
            "op" => kind = Some(parse_kind(&text_at(value, "/op")?)?),
            "template" => template = Some(text_at(value, "/template")?),
            "id" => {
                let text = text_at(value, "/id")?;
                id = Some(Uuid::parse_str(&text).map_err(|_| Error::not_found())?);
            }
            "external_key" => key = parse_key(value)?,
            "attributes" => attributes = Some(value),
            "embedding" => embedding = Embedding::parse(value, "/embedding")?,
            "if_match" => preconditions = if_match(value)?,
            _ => {
                let pointer = format!("/{}", pointer_step(&name));
                return Err(Error::at(Code::UnknownField, pointer, format!("{name:?} is an unknown member"))
                    .hint(
                        "Use the members op, template, id, external_key, attributes, embedding and if_match.",
                    ));
            }
        }
    }
    let kind = kind.ok_or_else(|| missing("op", ""))?;
    let template = find_template(caller, template.as_deref(), id)?;
    *subject = Some(OperationSubject {
        index,
        template: template.id,
        id: id.map(Id),
        external_key: key
            .value()
            .filter(|_| id.is_none() && kind != OperationKind::Create)
            .map(ToOwned::to_owned),
        existing_id: None,
    });
    match kind {
        OperationKind::Create if id.is_some() => {
            return Err(Error::at(Code::InvalidValue, "/id", "the service generates the id of a new record"));
        }
        OperationKind::Create if !preconditions.is_empty() => {
            return Err(Error::at(Code::InvalidValue, "/if_match", "a new record has no version")
                .hint("Send if_match with update, upsert and delete."));
        }
        OperationKind::Upsert if id.is_some() => {
            return Err(Error::at(Code::InvalidValue, "/id", "an upsert names its record by external_key"));
        }
        OperationKind::Upsert | OperationKind::Update | OperationKind::Delete
            if id.is_none() && key.value().is_none() =>
        {
            return Err(Error::at(
                Code::InvalidExternalKey,
                "/external_key",
                "the operation must name its record",
            )
            .hint("Send external_key, or id for update and delete."));
        }
        OperationKind::Delete if embedding != Embedding::Absent => {
            return Err(Error::at(Code::UnknownField, "/embedding", "a delete does not accept an embedding"));
        }
        OperationKind::Delete if attributes.is_some() => {
            return Err(Error::at(Code::UnknownField, "/attributes", "a delete does not accept attributes"));
        }
        _ => {}
    }
    // Errors reveal nothing about a template, not even names of attributes, to callers without privileges.
    for action in actions(kind) {
        caller.require(*action, &template)?;
    }
    let parse = if kind == OperationKind::Create { changes::parse_new } else { changes::parse };
    let changes = attributes.map(|attributes| parse(&template, attributes)).transpose()?.unwrap_or_default();
    if kind == OperationKind::Create {
        changes::check_complete(&template, &changes)?;
    }
    Ok(Operation { index, kind, template, id, key, changes, embedding, preconditions })
}

/// Null is rejected: an operation without a version overwrites any.
fn if_match(value: &RawValue) -> Result<Preconditions, Error> {
    Preconditions::parse(Some(&text_at(value, "/if_match")?), None).map_err(|_| {
        Error::at(Code::InvalidValue, "/if_match", "if_match is neither a version nor *")
            .hint("Send the version that an earlier response returned, or its ETag.")
    })
}

fn actions(kind: OperationKind) -> &'static [Action] {
    match kind {
        OperationKind::Create => &[Action::Create],
        OperationKind::Update => &[Action::Update],
        OperationKind::Upsert => &[Action::Create, Action::Update],
        OperationKind::Delete => &[Action::Delete],
    }
}

fn parse_kind(name: &str) -> Result<OperationKind, Error> {
    match name {
        "create" => Ok(OperationKind::Create),
        "update" => Ok(OperationKind::Update),
        "upsert" => Ok(OperationKind::Upsert),
        "delete" => Ok(OperationKind::Delete),
        _ => Err(Error::at(Code::InvalidValue, "/op", format!("{name:?} is not an operation"))
            .hint("Use one of the operations create, update, upsert and delete.")),
    }
}

/// The template by slug, number or `project.template`; with an id it may be left out, and must agree otherwise.
fn find_template(caller: &Caller, name: Option<&str>, id: Option<Uuid>) -> Result<Rc<Template>, Error> {
    let by_id = match id {
        Some(id) => Some(record_id::template_of(id).and_then(catalog::by_id).ok_or_else(Error::not_found)?),
        None => None,
    };
    let by_name = match name.map(|name| (name, name.split_once('.'))) {
        None => None,
        Some((name, None)) => Some(template_by_name(caller, name)?),
        Some((_, Some((project, slug)))) => {
            let project = catalog::project_by_name_or_id(project).ok_or_else(Error::not_found)?;
            Some(catalog::by_slug(project.id, slug).ok_or_else(Error::not_found)?)
        }
    };
    let template = match (by_id, by_name) {
        (Some(by_id), Some(by_name)) if by_id.id != by_name.id => return Err(Error::not_found()),
        (Some(template), _) | (None, Some(template)) => template,
        (None, None) => return Err(missing("template", "")),
    };
    if caller.can_access_project(template.project_id) { Ok(template) } else { Err(Error::not_found()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::{object_of, points_into};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_object_is_a_batch_or_rejected_with_a_pointer(text in object_of(&["operations", "atomic"])) {
            match body(&text) {
                Ok((operations, _)) => prop_assert!(text.contains(operations.get())),
                Err(error) => prop_assert!(points_into(&text, &error), "{:?}", error.violations),
            }
        }

        #[test]
        fn operation_has_one_of_four_names(name in prop_oneof![any::<String>(), "create|update|upsert|delete"]) {
            let known = ["create", "update", "upsert", "delete"].contains(&name.as_str());
            prop_assert_eq!(parse_kind(&name).is_ok(), known);
        }
    }
}
