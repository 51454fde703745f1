//! The records that a caller sees, and those that it may write: as a schema for filters, and as conditions in SQL.
//!
//! A scope is one filter, applied in two ways. As policies (`policy_sql.rs`), it binds every login. As a condition
//! that the functions write into their statements, it lets every index serve; only this file writes that condition.
//! The trigger evaluates the same condition on each row of direct DML (`record/bare_write.rs`). A differential test
//! compares both with a model in memory.

use super::permissions::Permissions;
use super::{Action, Caller};
use crate::error::Error;
use crate::filter::Filter;
use crate::filter::arguments::Arguments;
use crate::filter::possible::{Sense, Unsettled, render_sense};
use crate::filter::render::Lives;
use crate::filter::schema::{Attribute, Schema};
use crate::postgres::guard;
use crate::template::{Template, schema};
use std::rc::Rc;

/// A template as one caller sees it. Check its read privilege first.
pub struct CallerSchema {
    caller: Caller,
    template: Rc<Template>,
}

impl CallerSchema {
    /// What this caller sees of a template.
    pub fn new(caller: &Caller, template: Rc<Template>) -> CallerSchema {
        CallerSchema { caller: caller.clone(), template }
    }

    /// The template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The rows that the caller sees among live records, deleted ones, or both; `None` for all.
    pub fn visible_over(&self, lives: Lives, alias: &str) -> Option<String> {
        rows_over(lives, &self.caller, &self.template, alias)
    }

    /// What the caller sees, where that is not all.
    pub fn read_scope(&self) -> ReadScope {
        ReadScope(self.caller.reading(&self.template))
    }

    /// Refuses a table that does not have the keys of deleted records where statements look for them.
    pub fn require_released_keys(&self) -> Result<(), Error> {
        self.template.released_key.map(|_| ()).ok_or_else(guard::not_migrated)
    }
}

/// The part of the live records of a template that a caller sees.
#[derive(Debug)]
pub struct ReadScope(Option<Rc<Permissions>>);

impl ReadScope {
    /// As a condition in SQL over the table under this alias, with its constants among the arguments of a statement.
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
    pub fn in_sense(&self, sense: Sense, alias: &str, unsettled: Unsettled) -> String {
        let filters = self.filters().iter();
        let conditions: Vec<String> =
            filters.map(|filter| render_sense(filter, alias, sense, unsettled)).collect();
        if conditions.is_empty() { "false".to_owned() } else { format!("({})", conditions.join(" or ")) }
    }

    /// Whether it depends on other records than the row's own.
    pub fn looks_behind_references(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.rows(Action::Read.privilege()).look_behind_references())
    }

    /// Whether indexes find these records, or not many more, without reading the others.
    pub fn is_served(&self) -> bool {
        self.0.as_ref().is_none_or(|permissions| permissions.rows(Action::Read.privilege()).are_served())
    }
}

/// The rows of a template that a caller who may read it sees, as a condition in SQL over its table under this alias;
/// `None` for all. The caller's predicate joins statements only through functions of this file;
/// `record/bare_write.rs` evaluates it on the row of a bare write.
pub fn rows(caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.rows(Action::Read, template, alias)
}

/// The same over `t`, for a statement that asks it of single records.
pub fn row(caller: &Caller, template: &Template) -> Option<String> {
    caller.row_of(Lives::Live, Action::Read, template)
}

/// The same among live and deleted records alike, for what finds a record by its id: no index serves it.
pub fn row_of_any(caller: &Caller, template: &Template) -> Option<String> {
    caller.row_of(Lives::Any, Action::Read, template)
}

/// The same among live records, deleted ones, or both.
pub fn rows_over(lives: Lives, caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.rows_of(lives, Action::Read, template, alias)
}

/// The condition under which a caller sees a record of any template; `None` when the caller may read nothing there.
pub fn condition(caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.require(Action::Read, template).ok()?;
    Some(rows(caller, template, alias).unwrap_or_else(|| "true".to_owned()))
}

/// Which records a caller may write, as conditions over `t`; `None` for every record.
#[derive(Clone, Debug, Default)]
pub struct WriteScope {
    /// The records that exist for the caller: those that it may read, or if it may not read, those of `writable`. Any
    /// other is answered as missing.
    pub visible: Option<String>,
    /// The records that it may write, before and after the change. A visible record outside of it is refused.
    pub writable: Option<String>,
}

impl WriteScope {
    /// The scope of a privilege of a caller. The privilege itself must have been required.
    pub fn of(caller: &Caller, action: Action, template: &Template) -> WriteScope {
        WriteScope::over(Lives::Live, caller, action, template)
    }

    /// The same over live records, deleted ones, or both.
    pub fn over(lives: Lives, caller: &Caller, action: Action, template: &Template) -> WriteScope {
        let own = caller.row_of(lives, action, template);
        // Create-only roles are allowed, so read is not applied to a new record.
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

    /// Whether it allows every record.
    pub fn is_open(&self) -> bool {
        self.visible.is_none() && self.writable.is_none()
    }
}

/// The write scopes of an upsert.
#[derive(Debug, Default)]
pub struct UpsertScopes {
    /// Of new records.
    pub create: WriteScope,
    /// Of existing records.
    pub update: WriteScope,
}

impl UpsertScopes {
    /// Whether they allow every record.
    pub fn are_open(&self) -> bool {
        self.create.is_open() && self.update.is_open()
    }

    /// Two further columns of what a statement returns: whether the row may be created, and whether it may be updated.
    pub fn condition_columns(&self) -> String {
        if self.are_open() {
            return String::new();
        }
        condition_column(self.create.writable.as_deref()) + &condition_column(self.update.writable.as_deref())
    }
}

/// A condition as a further part of a chain.
pub fn and(condition: Option<&str>) -> String {
    condition.map(|condition| format!(" and {condition}")).unwrap_or_default()
}

/// A condition as a further column of what a statement returns: whether it holds for the row.
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

    fn visible_behind(&self) -> usize {
        self.caller.read_behind(&self.template)
    }
}
