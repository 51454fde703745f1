//! Checks direct INSERT and UPDATE statements row by row, in the trigger.
//!
//! Policies are not enough. They are fixed when the statement is planned, so SET ROLE during the statement would
//! mix the privileges of two roles. They are combined with OR, so a policy for deletion could permit another change. And a
//! statement without WHERE reads no column, so no SELECT policy applies. Therefore the trigger checks the old and the new
//! row with the privileges of the role that is current when the row is written.
//!
//! The scope is evaluated on the row ([`Caller::row_condition`]), because the statement is the user's and cannot be
//! changed.
//!
//! A role without a grant cannot write.

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

/// The role of a direct statement, if grants apply to it; `None` for statements of keyed, for the owner of the tables and
/// for superusers.
pub fn writer(template: &Template) -> Option<Caller> {
    let role = role::current();
    let is_bound = !is_own_statement(template.table) && role::is_under_policies(role, template.table);
    is_bound.then(|| Caller::of_role(role))
}

/// Requires the privilege to create this row.
pub fn check_insert(writer: &Caller, template: &Template, new: &Row) -> Result<(), Error> {
    require_result(writer, Action::Create, template, new)
}

/// Requires the privilege to update this row. Returns false for a row that is not visible to the writer. The new row has its
/// times, and its key is still in the column of live records.
pub fn check_update(writer: &Caller, template: &Template, old: &Row, new: &Row) -> Result<bool, Error> {
    let is_deleted = |row: &Row| row.get(column::DELETED_AT).is_some();
    if is_deleted(old) && !writer.is_admin() {
        return Ok(false);
    }
    let is_deletion = !is_deleted(old) && is_deleted(new);
    let action = if is_deletion { Action::Delete } else { Action::Update };
    if !require_writable(writer, action, template, old)? {
        return Ok(false);
    }
    let changes = || {
        !new.same(old, column::EXTERNAL_KEY)
            || template.attributes.iter().any(|attribute| !new.same(old, attribute.column))
    };
    if is_deletion && changes() && !require_writable(writer, Action::Update, template, old)? {
        return Ok(false);
    }
    require_result(writer, action, template, new)?;
    Ok(true)
}

/// Rejects a visible row that the writer may not write. Returns false for a row that is not visible.
fn require_writable(writer: &Caller, action: Action, template: &Template, old: &Row) -> Result<bool, Error> {
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

/// Rejects a new row that is outside of the writer's scope.
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
        // The condition reads other tables, or direct access is disabled.
        let sql = format!("select {condition} is true from (select ($1).*) t");
        let row = Parameter::of_type(trigger::row_type(template.table), Some(row.composite()));
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &[row]);
            rows.value().unwrap_or(false)
        })
    })
}
