//! The records that a caller may read and write: as a schema for filters, and as conditions in SQL.
//!
//! A scope is one filter, applied in two ways. As policies (`policy_sql.rs`), it applies to every login. As a condition
//! in the statements of functions, it can use every index. Only this file adds that condition. The trigger evaluates
//! the same condition on each row of direct DML (`record/direct_dml.rs`). A differential test compares both with a
//! model in memory.

use super::permissions::Permissions;
use super::{Action, Caller};
use crate::error::Error;
use crate::filter::Filter;
use crate::filter::arguments::Arguments;
use crate::filter::possible::{Certainty, Unsettled, render_sense};
use crate::filter::render::Lives;
use crate::filter::schema::{Attribute, Schema};
use crate::postgres::guard;
use crate::template::{Template, schema};
use std::rc::Rc;

/// A template with the visibility of one caller. Check the read privilege first.
pub struct CallerSchema {
    caller: Caller,
    template: Rc<Template>,
}

impl CallerSchema {
    /// The schema of a template for a caller.
    pub fn new(caller: &Caller, template: Rc<Template>) -> CallerSchema {
        CallerSchema { caller: caller.clone(), template }
    }

    /// The template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The condition for visible rows among live records, deleted ones, or both; `None` for all.
    pub fn visible_over(&self, lives: Lives, alias: &str) -> Option<String> {
        rows_over(lives, &self.caller, &self.template, alias)
    }

    /// The caller's read scope, for a caller that is not an administrator.
    pub fn read_scope(&self) -> ReadScope {
        ReadScope(self.caller.read_permissions(&self.template))
    }

    /// Rejects a table without the column for the keys of deleted records.
    pub fn require_released_keys(&self) -> Result<(), Error> {
        self.template.released_key.map(|_| ()).ok_or_else(guard::not_migrated)
    }
}

/// The live records of a template that are visible to a caller.
#[derive(Debug)]
pub struct ReadScope(Option<Rc<Permissions>>);

impl ReadScope {
    /// The SQL condition over the table under this alias, with its constants as parameters of a statement.
    pub fn condition(&self, alias: &str, arguments: Option<&Arguments>) -> String {
        let Some(permissions) = &self.0 else { return "false".to_owned() };
        let rows = permissions.rows(Action::Read.privilege());
        rows.condition_with(Lives::Live, alias, arguments).unwrap_or_else(|| "true".to_owned())
    }

    /// The filters of which a record passes at least one, where it is a part.
    pub fn filters(&self) -> &[Filter] {
        self.0.as_ref().map_or(&[], |permissions| permissions.rows(Action::Read.privilege()).filters())
    }

    /// Whether a record is in it, as far as other states of records leave that open.
    pub fn with_certainty(&self, sense: Certainty, alias: &str, unsettled: Unsettled) -> String {
        let filters = self.filters().iter();
        let conditions: Vec<String> =
            filters.map(|filter| render_sense(filter, alias, sense, unsettled)).collect();
        if conditions.is_empty() { "false".to_owned() } else { format!("({})", conditions.join(" or ")) }
    }

    /// Whether it depends on other records than the row itself.
    pub fn reads_through_references(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.rows(Action::Read.privilege()).depend_on_references())
    }

    /// Whether indexes find these records, with few additional ones.
    pub fn is_indexable(&self) -> bool {
        self.0.as_ref().is_none_or(|permissions| permissions.rows(Action::Read.privilege()).are_indexable())
    }
}

/// The SQL condition for the rows that are visible to a caller with the read privilege, over the table under this alias;
/// `None` for all. Statements get this condition only from functions of this file. `record/direct_dml.rs` evaluates it
/// on rows of direct DML.
pub fn rows(caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.rows(Action::Read, template, alias)
}

/// The same over `t`, for a statement that evaluates it on single records.
pub fn row(caller: &Caller, template: &Template) -> Option<String> {
    caller.row_of(Lives::Live, Action::Read, template)
}

/// The same among live and deleted records, for lookups by id. It uses no index.
pub fn row_of_any(caller: &Caller, template: &Template) -> Option<String> {
    caller.row_of(Lives::Any, Action::Read, template)
}

/// The same among live records, deleted ones, or both.
pub fn rows_over(lives: Lives, caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.rows_of(lives, Action::Read, template, alias)
}

/// The condition for visible rows, which may be `true`; `None` without the read privilege.
pub fn condition(caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.require(Action::Read, template).ok()?;
    Some(rows(caller, template, alias).unwrap_or_else(|| "true".to_owned()))
}

/// The records that a caller may write, as conditions over `t`; `None` for every record.
#[derive(Clone, Debug, Default)]
pub struct WriteScope {
    /// The visible records: those of the read scope, or `writable` for a caller without the read privilege. Others are
    /// reported as missing.
    pub visible: Option<String>,
    /// The records that the caller may write. It applies before and after the change. A write to any other visible record
    /// is denied.
    pub writable: Option<String>,
}

impl WriteScope {
    /// The write scope of a caller for an action. Check the privilege first.
    pub fn of(caller: &Caller, action: Action, template: &Template) -> WriteScope {
        WriteScope::over(Lives::Live, caller, action, template)
    }

    /// The same over live records, deleted ones, or both.
    pub fn over(lives: Lives, caller: &Caller, action: Action, template: &Template) -> WriteScope {
        let own = caller.row_of(lives, action, template);
        // A role may have `create` without `read`, so the read scope does not apply to a new record.
        if action == Action::Create || caller.require(Action::Read, template).is_err() {
            return WriteScope { visible: own.clone(), writable: own };
        }
        let visible = caller.row_of(lives, Action::Read, template);
        let writable = match (&visible, own) {
            (None, own) => own,
            (Some(visible), Some(own)) if own != *visible => Some(format!("({visible} and {own})")),
            (visible, _) => (*visible).clone(),
        };
        WriteScope { visible, writable }
    }

    /// Whether it has no condition.
    pub fn is_open(&self) -> bool {
        self.visible.is_none() && self.writable.is_none()
    }
}

/// The write scopes of an upsert.
#[derive(Debug, Default)]
pub struct UpsertScopes {
    /// For new records.
    pub create: WriteScope,
    /// For existing records.
    pub update: WriteScope,
}

impl UpsertScopes {
    /// Whether they have no condition.
    pub fn are_open(&self) -> bool {
        self.create.is_open() && self.update.is_open()
    }

    /// Two additional result columns: whether the row may be created, and whether it may be updated.
    pub fn condition_columns(&self) -> String {
        if self.are_open() {
            return String::new();
        }
        condition_column(self.create.writable.as_deref()) + &condition_column(self.update.writable.as_deref())
    }
}

/// ` and condition`, or nothing.
pub fn and(condition: Option<&str>) -> String {
    condition.map(|condition| format!(" and {condition}")).unwrap_or_default()
}

/// An additional result column: whether a condition holds for the row.
pub fn condition_column(condition: Option<&str>) -> String {
    format!(", {} is true", condition.unwrap_or("true"))
}

impl Schema for CallerSchema {
    fn id(&self) -> i32 {
        self.template.id
    }

    fn slug(&self) -> &str {
        &self.template.slug
    }

    fn full_name(&self) -> String {
        self.template.full_name()
    }

    fn table(&self) -> String {
        self.template.table_sql()
    }

    fn attributes(&self) -> Box<dyn Iterator<Item = Attribute<'_>> + '_> {
        schema::attributes(&self.template)
    }

    fn target(&self, attribute: i32) -> Option<Rc<dyn Schema>> {
        let target = schema::target(&self.template, attribute)?;
        self.caller.require(Action::Read, &target).ok()?;
        Some(Rc::new(CallerSchema::new(&self.caller, target)))
    }

    fn display(&self) -> Option<Attribute<'_>> {
        schema::display(&self.template)
    }

    fn visible(&self, alias: &str) -> Option<String> {
        rows(&self.caller, &self.template, alias)
    }

    fn visible_through(&self) -> usize {
        self.caller.read_through(&self.template)
    }
}
