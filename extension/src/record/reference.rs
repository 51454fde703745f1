//! References: which record is meant, and that it is live.

use super::changes::Changes;
use super::value::{Change, Value};
use crate::access::sight::{self, and};
use crate::access::{Caller, Right};
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, connected};
use crate::template::{Attribute, Template, catalog};
use pgrx::pg_sys;
use std::rc::Rc;
use uuid::Uuid;

/// Turns references by external key into ids, and refuses those that name no live record which the caller may
/// see: what is out of sight answers as what is missing.
pub fn resolve(caller: &Caller, template: &Template, changes: &mut Changes) -> Result<(), Error> {
    let mut errors = Vec::new();
    for (position, change) in changes.iter_mut() {
        let attribute = &template.attributes[*position];
        let found = match (&*change, attribute.target) {
            (Change::Set(Value::Reference(id)), Some(target)) => find(caller, target, &Wanted::Id(*id)),
            (Change::Set(Value::ReferenceByKey(key)), Some(target)) => {
                find(caller, target, &Wanted::Key(key))
            }
            _ => continue,
        };
        match found {
            Some(id) => *change = Change::Set(Value::Reference(id)),
            None => errors.push(not_found(attribute)),
        }
    }
    Error::join(errors).map_or(Ok(()), Err)
}

/// The refusal of a reference to nothing.
pub fn not_found(attribute: &Attribute) -> Error {
    Error::at(Code::ReferenceNotFound, &attribute.pointer, "the record that is referenced does not exist")
        .hint("create it first, or send null")
}

/// Whether a template has a live record with this id, as far as the caller sees.
pub fn is_live(caller: &Caller, target: i32, id: Uuid) -> bool {
    find(caller, target, &Wanted::Id(id)).is_some()
}

enum Wanted<'a> {
    Id(Uuid),
    Key(&'a str),
}

fn find(caller: &Caller, target: i32, wanted: &Wanted) -> Option<Uuid> {
    let target: Rc<Template> = catalog::by_id(target)?;
    caller.require(Right::Read, &target).ok()?;
    let (condition, parameter, argument) = match wanted {
        Wanted::Id(id) => ("t.id = $1", pg_sys::UUIDOID, datum::uuid(*id)),
        Wanted::Key(key) => ("t.external_key = $1", pg_sys::TEXTOID, datum::text(key)),
    };
    let sql = format!(
        "select t.id from {} t where {condition} and t.deleted_at is null{}",
        target.table_sql(),
        and(sight::rows(caller, &target, "t").as_deref())
    );
    as_owner(|| {
        let plan = target.plan(&sql, || vec![parameter]);
        connected(|spi| {
            // The target may have been written by an earlier operation of the same request.
            let rows = spi.run(&plan, Access::Latest, &[argument]);
            (!rows.is_empty()).then(|| rows.get(0, 0).map(datum::read_uuid)).flatten()
        })
    })
}
