//! The trait of objects that depend on a definition: quotas, scopes, views, mappings, series, embedded attributes, search
//! documents, and the queue of embeddings. Each dependent implements it in its own folder. `define::dependents` lists
//! all of them in order, and changes of definitions call only that list.

use super::{Caller, scope};
use crate::error::{Code, Error};
use crate::postgres::parameter::{Jsonb, params};
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::{Attribute, Template};
use pgrx::pg_sys::Oid;
use std::rc::Rc;

/// An object that refers to attributes of a template or is derived from their values. All methods run as the owner and
/// inside the change, so an error rolls back the change.
pub trait Dependent: Sync {
    /// Creates the dependents of a new template.
    fn after_creation(&self, _spi: &Connection, _template: &Template) -> Result<(), Error> {
        Ok(())
    }

    /// The relations that read the table of a template and must be locked with it.
    fn relations(&self, _spi: &Connection, _template: &Template) -> Vec<Oid> {
        Vec::new()
    }

    /// Updates references to an attribute before it is renamed.
    fn before_rename(
        &self,
        _spi: &Connection,
        _template: &Template,
        _attribute: &Attribute,
        _new: &str,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Rejects dropping an attribute that it uses. `pointer` is the position in the request.
    fn require_unused(
        &self,
        _spi: &Connection,
        _caller: &Caller,
        _template: &Template,
        _attribute: &Attribute,
        _pointer: &str,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Drops objects on which PostgreSQL would reject the drop of columns or of the table. By then, every
    /// `require_unused` has passed.
    fn before_drop(&self, _spi: &Connection, _template: &Template) {}

    /// Removes its data for an attribute whose column was dropped.
    fn after_drop(&self, _spi: &Connection, _template: &Template, _attribute: &Attribute) {}

    /// Adapts to the new definition at the end of a change, or rejects a definition that would invalidate it.
    fn after_change(
        &self,
        _spi: &Connection,
        _caller: &Caller,
        _before: &Template,
        _after: &Template,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Removes its data for a template whose tables were dropped.
    fn after_removal(&self, _spi: &Connection, _template: &Template) {}

    /// Adapts to changed table privileges on these templates.
    fn after_grants(&self, _spi: &Connection, _templates: &[i32]) {}
}

/// Renames an attribute in the conditions that dependents store: the id of each, its template and its condition.
pub fn rename_in_conditions(
    spi: &Connection,
    (table, column): (&str, &str),
    dependents: impl Iterator<Item = (i32, Rc<Template>, String)>,
    attribute: &Attribute,
    new: &str,
) -> Result<(), Error> {
    for (id, template, condition) in dependents {
        let renamed = scope::rename(&template, &condition, attribute.id, new)?;
        if renamed != condition {
            store(spi, table, column, id, &renamed);
        }
    }
    Ok(())
}

/// Replaces the stored JSON of a dependent, in a column of a table of the state.
pub fn store(spi: &Connection, table: &str, column: &str, id: i32, json: &str) {
    let sql = format!("update keyed_state.{table} set {column} = $2 where id = $1");
    spi.run_once(&sql, Snapshot::Latest, &params![id, Jsonb(json)]);
}

/// The error for dropping an attribute that a dependent uses. `user` names the dependent as far as it is visible to the
/// caller. `remedy` is the hint.
pub fn in_use(pointer: &str, user: &str, attribute: &str, remedy: &str) -> Error {
    Error::at(Code::Conflict, pointer, format!("{user} uses {attribute:?}")).hint(remedy)
}
