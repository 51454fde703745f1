//! The trait of what depends on a definition: quotas, scopes, views, mappings, series, the list of embedded texts,
//! documents, and the queue of embeddings. Each dependent implements it in its own folder; `define::dependents` lists
//! all of them in order, and changes of definitions call only that list.

use super::Caller;
use crate::error::{Code, Error};
use crate::postgres::parameter::{Jsonb, params};
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::{Attribute, Template};
use pgrx::pg_sys::Oid;

/// Something that names attributes of a template, shows them, or is made of their values. All methods run as the owner and
/// within the change, so an error undoes the change.
pub trait Dependent: Sync {
    /// Creates what a new template has from the beginning.
    fn after_creation(&self, _spi: &Connection, _template: &Template) -> Result<(), Error> {
        Ok(())
    }

    /// The relations that read the table of a template, to be locked with it.
    fn relations(&self, _spi: &Connection, _template: &Template) -> Vec<Oid> {
        Vec::new()
    }

    /// Renames the attribute in itself, before the attribute is renamed.
    fn before_rename(
        &self,
        _spi: &Connection,
        _template: &Template,
        _attribute: &Attribute,
        _new: &str,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Refuses to drop an attribute that it uses. `pointer` is the place in the request.
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

    /// Drops what would keep PostgreSQL from dropping columns or the table. No dependent has refused the change.
    fn before_drop(&self, _spi: &Connection, _template: &Template) {}

    /// Removes what it has of an attribute whose column was dropped.
    fn after_drop(&self, _spi: &Connection, _template: &Template, _attribute: &Attribute) {}

    /// Adapts to the new definition at the end of a change, or refuses a definition that makes it invalid.
    fn after_change(
        &self,
        _spi: &Connection,
        _caller: &Caller,
        _before: &Template,
        _after: &Template,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Removes what it has of a template whose tables were dropped.
    fn after_removal(&self, _spi: &Connection, _template: &Template) {}

    /// Adapts to the privileges of roles on the tables of these templates.
    fn after_grants(&self, _spi: &Connection, _templates: &[i32]) {}
}

/// Replaces the stored JSON of a dependent: a column of its row in the state.
pub fn store(spi: &Connection, table: &str, column: &str, id: i32, json: &str) {
    let sql = format!("update keyed_state.{table} set {column} = $2 where id = $1");
    spi.run_once(&sql, Snapshot::Latest, &params![id, Jsonb(json)]);
}

/// The refusal to drop an attribute that a dependent uses. `user` names it as far as the caller may know it; `remedy` says
/// how it is changed.
pub fn in_use(pointer: &str, user: &str, attribute: &str, remedy: &str) -> Error {
    Error::at(Code::Conflict, pointer, format!("{user} uses {attribute:?}")).hint(remedy)
}
