//! Checks direct INSERT and UPDATE statements row by row, in the trigger.
//!
//! Policies alone are not enough. They are fixed when the statement is planned, so a role that changes while it runs
//! would mix the rights of two roles. They are combined with OR, so a policy for deletion could permit another change.
//! And a statement without a WHERE reads nothing, so no SELECT policy applies. The trigger therefore checks the old and
//! the new row for the role in force when the row is written.
//!
//! The scope is evaluated on the row ([`Caller::reach`]), not joined to the statement, which belongs to the user.
//!
//! A role without a grant writes nothing.

use crate::access::visibility::WriteScope;
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::own_statement::is_own_statement;
use crate::postgres::parameter::Parameter;
use crate::postgres::role;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::{self, Row};
use crate::template::{Template, column};

/// Who writes a row by a statement of their own, and is bound by grants; none for our own statements, for the owner of
/// the tables and for superusers.
pub fn writer(template: &Template) -> Option<Caller> {
    let role = role::current();
    let is_bound = !is_own_statement(template.table) && role::is_under_policies(role, template.table);
    is_bound.then(|| Caller::of_role(role))
}

/// Whether a writer may create this row.
pub fn check_insert(writer: &Caller, template: &Template, new: &Row) -> Result<(), Error> {
    require_result(writer, Action::Create, template, new)
}

/// Whether a writer may make one row of another; false for a row that is not there for the writer. The new row has its
/// times, and its key still in the column of live records.
pub fn check_update(writer: &Caller, template: &Template, old: &Row, new: &Row) -> Result<bool, Error> {
    let is_dead = |row: &Row| row.get(column::DELETED_AT).is_some();
    if is_dead(old) && !writer.is_admin() {
        return Ok(false);
    }
    let is_deletion = !is_dead(old) && is_dead(new);
    let action = if is_deletion { Action::Delete } else { Action::Update };
    if !require_reach(writer, action, template, old)? {
        return Ok(false);
    }
    let changes = || {
        !new.same(old, column::EXTERNAL_KEY)
            || template.attributes.iter().any(|attribute| !new.same(old, attribute.column))
    };
    if is_deletion && changes() && !require_reach(writer, Action::Update, template, old)? {
        return Ok(false);
    }
    require_result(writer, action, template, new)?;
    Ok(true)
}

/// Refuses a row that the writer sees but may not write; false for one that it does not see.
fn require_reach(writer: &Caller, action: Action, template: &Template, old: &Row) -> Result<bool, Error> {
    writer.require(action, template)?;
    let write_scope = WriteScope::of(writer, action, template);
    if !holds(template, old, write_scope.visible.as_deref()) {
        return Ok(false);
    }
    if !holds(template, old, write_scope.writable.as_deref()) {
        return Err(writer.out_of_scope(action, template));
    }
    Ok(true)
}

/// Refuses a row that a write would put out of the writer's reach.
fn require_result(writer: &Caller, action: Action, template: &Template, new: &Row) -> Result<(), Error> {
    writer.require(action, template)?;
    let condition = writer.row_condition(action, template);
    if holds(template, new, condition.as_deref()) {
        Ok(())
    } else {
        Err(writer.out_of_scope(action, template))
    }
}

/// Whether a condition over the record `t` holds for a row that need not be in the table; `None` holds for all.
fn holds(template: &Template, row: &Row, condition: Option<&str>) -> bool {
    let Some(condition) = condition else { return true };
    as_owner(|| {
        if let Some(condition) = template.condition(condition) {
            return row.meets(&condition);
        }
        // It looks into other tables too, or direct access is switched off.
        let sql = format!("select {condition} is true from (select ($1).*) t");
        let row = Parameter::of_type(trigger::row_type(template.table), Some(row.composite()));
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &[row]);
            rows.value().unwrap_or(false)
        })
    })
}
