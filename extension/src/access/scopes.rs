//! Rewrites and checks scopes when templates change.
//!
//! Policies need no rewrite on a rename: they refer to columns by number, and so do the functions that they call, which
//! are parsed when they are created (`begin atomic`).

use super::dependent::{Dependent, rename_in_conditions};
use super::stored_grant::{COLUMNS, Grant, read};
use super::{Caller, scope, table_policies};
use crate::error::{Code, Error};
use crate::postgres::parameter::params;
use crate::postgres::role;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::catalog::{self, REFERRING};
use crate::template::{Attribute, Template};
use std::rc::Rc;

/// The scopes of grants, and the policies that enforce them.
pub struct Scopes;

impl Dependent for Scopes {
    fn after_creation(&self, spi: &Connection, template: &Template) -> Result<(), Error> {
        table_policies::grant_on_new_template(spi, template)
    }

    fn before_rename(
        &self,
        spi: &Connection,
        changed: &Template,
        attribute: &Attribute,
        new: &str,
    ) -> Result<(), Error> {
        let scoped =
            scoped(spi, changed.id).into_iter().map(|(grant, template, scope)| (grant.id, template, scope));
        rename_in_conditions(spi, ("access_grant", "scope"), scoped, attribute, new)
    }

    /// The error names the role to administrators only.
    fn require_unused(
        &self,
        spi: &Connection,
        caller: &Caller,
        changed: &Template,
        attribute: &Attribute,
        pointer: &str,
    ) -> Result<(), Error> {
        for (grant, template, scope) in scoped(spi, changed.id) {
            let uses = scope::compile(&template, &scope)?.uses();
            if let Some(used) = uses.into_iter().find(|used| used.attribute == Some(attribute.id)) {
                let message = if caller.is_admin() {
                    let role = role::name(grant.role).unwrap_or_default();
                    format!("the scope of role {role:?} on {} uses {:?}", template.full_name(), used.field)
                } else {
                    "the scope of a role uses the attribute".to_owned()
                };
                return Err(Error::at(Code::Conflict, pointer, message).hint(GRANT_OTHER_SCOPE_HINT));
            }
        }
        Ok(())
    }

    /// Rejects a change after which a scope does not compile.
    fn after_change(
        &self,
        spi: &Connection,
        caller: &Caller,
        _before: &Template,
        after: &Template,
    ) -> Result<(), Error> {
        for (grant, template, scope) in scoped(spi, after.id) {
            if let Err(error) = scope::compile(&template, &scope) {
                let message = if caller.is_admin() {
                    let (role, name) = (role::name(grant.role).unwrap_or_default(), template.full_name());
                    format!("the change would break the scope of role {role:?} on {name}: {}", error.message)
                } else {
                    "the change would break the scope of a role".to_owned()
                };
                return Err(Error::new(Code::Conflict, message).hint(GRANT_OTHER_SCOPE_HINT));
            }
        }
        Ok(())
    }

    fn after_removal(&self, spi: &Connection, template: &Template) {
        table_policies::drop_functions_of(spi, template.id);
    }
}

const GRANT_OTHER_SCOPE_HINT: &str =
    "Grant with another scope first: keyed.grant_access(role, target, privileges, scope).";

/// The grants with a scope that may refer to a template, each with its template and scope.
fn scoped(spi: &Connection, template: i32) -> Vec<(Grant, Rc<Template>, String)> {
    let sql = format!(
        "with recursive {REFERRING} select {COLUMNS} from keyed_state.access_grant g where g.scope is not null \
         and g.template_id in (select id from referring)"
    );
    let grants = read(&spi.run_once(&sql, Snapshot::Latest, &params![template]));
    let with_scope = |grant: Grant| {
        let (template, scope) = (grant.template.and_then(catalog::by_id)?, grant.scope.clone()?);
        Some((grant, template, scope))
    };
    grants.into_iter().filter_map(with_scope).collect()
}
