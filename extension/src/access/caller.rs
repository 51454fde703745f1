//! The caller of a function: a role, and the API key if there is one.
//!
//! Functions check the caller's privileges before they parse the body, because errors name attributes and options, which
//! may be confidential.
//!
//! The history names the key for writes of keyed's functions, and the login for direct SQL.

use super::permissions::{self, Permissions};
use super::principal::Principal;
use super::privilege::{Action, Privilege};
use crate::error::{Code, Error};
use crate::filter::render::Lives;
use crate::postgres::{guard, role};
use crate::template::Template;
use crate::value::quote::literal;
use pgrx::pg_sys::Oid;
use std::rc::Rc;

/// The role of the presented key, or without a key the effective role of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    role: Oid,
    is_admin: bool,
    principal: Option<Rc<Principal>>,
}

impl Caller {
    /// The caller of this function.
    pub fn current() -> Caller {
        let principal = Principal::current();
        let role = principal.as_ref().map_or_else(role::current, |principal| Oid::from(principal.role));
        Caller { principal, ..Caller::of_role(role) }
    }

    /// A caller without restrictions, for results that do not depend on a caller.
    pub fn administrator() -> Caller {
        Caller { role: guard::owner(), is_admin: true, principal: None }
    }

    /// A role without an API key.
    pub fn of_role(role: Oid) -> Caller {
        Caller { role, is_admin: permissions::is_administrator(role), principal: None }
    }

    /// The project that the request selects. Template slugs are looked up in it.
    pub fn project(&self) -> Option<i32> {
        self.principal.as_ref().and_then(|principal| principal.project)
    }

    /// The projects that the caller's key is limited to; `None` for all.
    pub fn key_projects(&self) -> Option<&[i32]> {
        self.principal.as_ref().and_then(|principal| principal.projects.as_deref())
    }

    /// The projects that this request may access: the one that it selects, else those of the key; `None` for all.
    pub fn projects(&self) -> Option<Vec<i32>> {
        match self.project() {
            Some(project) => Some(vec![project]),
            None => self.key_projects().map(<[i32]>::to_vec),
        }
    }

    /// Whether the caller's key is valid for this project and the request selects no other.
    pub fn can_access_project(&self, project: i32) -> bool {
        self.principal.as_ref().is_none_or(|principal| {
            principal.can_access_project(project)
                && principal.project.is_none_or(|selected| selected == project)
        })
    }

    /// Requires a privilege. A template that is not visible to the caller is reported as missing.
    pub fn require(&self, action: Action, template: &Template) -> Result<(), Error> {
        if !self.can_access_project(template.project_id) {
            return Err(Error::not_found());
        }
        if self.has(action, template) {
            return Ok(());
        }
        if self.is_hidden(template) {
            return Err(Error::not_found());
        }
        let (role, verb) = (self.role_name(), action.privilege().name());
        let name = template.full_name();
        Err(Error::new(Code::Forbidden, format!("role {role:?} may not {verb} records of {name}")).hint(
            format!(
                "Ask an administrator to grant it: SELECT keyed.grant_access({}, '{name}', '{{{verb}}}').",
                literal(&role)
            ),
        ))
    }

    /// Whether the caller has the privilege on at least some records.
    fn has(&self, action: Action, template: &Template) -> bool {
        self.is_admin || Permissions::of(self.role, template).has(action.privilege())
    }

    /// Whether the caller holds a privilege on a template.
    pub fn holds(&self, privilege: Privilege, template: &Template) -> bool {
        let actions = [Action::Read, Action::Create, Action::Update, Action::Delete];
        self.can_access_project(template.project_id)
            && match actions.into_iter().find(|action| action.privilege() == privilege) {
                Some(action) => self.has(action, template),
                None => self.is_admin || Permissions::of(self.role, template).has(privilege),
            }
    }

    /// Whether the template is visible to the caller: any privilege on a template shows its definition.
    pub fn can_view(&self, template: &Template) -> bool {
        Privilege::ALL.into_iter().any(|privilege| self.holds(privilege, template))
    }

    /// Whether the caller is a key without any privilege on a template. Errors must not disclose that the template
    /// exists. Logins can read it in PostgreSQL's catalogs anyway.
    fn is_hidden(&self, template: &Template) -> bool {
        self.principal.as_ref().is_some_and(|principal| principal.key.is_some()) && !self.can_view(template)
    }

    /// Whether the caller may read every live record of a template.
    pub fn reads_all(&self, template: &Template) -> bool {
        self.holds(Privilege::Read, template) && self.rows(Action::Read, template, "t").is_none()
    }

    /// Requires any privilege on a template.
    pub fn require_any(&self, template: &Template) -> Result<(), Error> {
        if self.can_view(template) { Ok(()) } else { self.require(Action::Read, template) }
    }

    /// The SQL condition for the live records on which an action is allowed, over the table with this alias; `None` for
    /// all.
    pub(super) fn rows(&self, action: Action, template: &Template, alias: &str) -> Option<String> {
        self.rows_of(Lives::Live, action, template, alias)
    }

    /// The same among live records, deleted ones, or both.
    pub(super) fn rows_of(
        &self,
        lives: Lives,
        action: Action,
        template: &Template,
        alias: &str,
    ) -> Option<String> {
        self.condition(action, template, |permissions| {
            permissions.condition(action.privilege(), lives, alias)
        })
    }

    /// The same over `t`, for a statement that evaluates it on single records.
    pub(super) fn row_of(&self, lives: Lives, action: Action, template: &Template) -> Option<String> {
        self.condition(action, template, |permissions| {
            permissions.condition_on_row(action.privilege(), lives)
        })
    }

    fn condition(
        &self,
        action: Action,
        template: &Template,
        of: impl FnOnce(&Permissions) -> Option<String>,
    ) -> Option<String> {
        if self.is_admin {
            return None;
        }
        if !self.has(action, template) {
            return Some("false".to_owned());
        }
        of(&Permissions::of(self.role, template))
    }

    /// The number of conditions on referenced records in the caller's read scope.
    pub(super) fn read_through(&self, template: &Template) -> usize {
        if self.is_admin || !self.has(Action::Read, template) {
            return 0;
        }
        Permissions::of(self.role, template).rows(Privilege::Read).through_references()
    }

    /// The caller's permissions on a template; `None` if they do not include `read`.
    pub(super) fn read_permissions(&self, template: &Template) -> Option<Rc<Permissions>> {
        self.has(Action::Read, template).then(|| Permissions::of(self.role, template))
    }

    /// The condition over live records under the alias `t`, for a check of a single row.
    pub fn row_condition(&self, action: Action, template: &Template) -> Option<String> {
        self.row_of(Lives::Live, action, template)
    }

    /// The error for a record that is, or would become, outside of the caller's scope.
    pub fn out_of_scope(&self, action: Action, template: &Template) -> Error {
        let (role, verb) = (self.role_name(), action.privilege().name());
        let message = format!(
            "role {role:?} may not {verb} this record of {}: it is, or would become, outside of the scope of the role",
            template.full_name()
        );
        Error::new(Code::Forbidden, message)
            .hint("Ask an administrator which condition fails: SELECT keyed.explain_access(id, role).")
    }

    /// Requires the privilege to create templates in a project.
    pub fn require_define_in(&self, project: i32) -> Result<(), Error> {
        if self.is_admin || self.can_access_project(project) && permissions::may_define_in(self.role, project)
        {
            return Ok(());
        }
        Err(self.may_not_define())
    }

    /// Requires the privilege to change a template.
    pub fn require_define(&self, template: &Template) -> Result<(), Error> {
        if !self.can_access_project(template.project_id) {
            return Err(Error::not_found());
        }
        if self.is_admin || Permissions::of(self.role, template).has(Privilege::Define) {
            return Ok(());
        }
        Err(if self.is_hidden(template) { Error::not_found() } else { self.may_not_define() })
    }

    /// Requires `define` on any project or template, before a template is looked up.
    pub fn require_define_somewhere(&self) -> Result<(), Error> {
        if self.is_admin || permissions::may_define_somewhere(self.role) {
            Ok(())
        } else {
            Err(self.may_not_define())
        }
    }

    fn may_not_define(&self) -> Error {
        let role = self.role_name();
        Error::new(Code::Forbidden, format!("role {role:?} may not define templates")).hint(
            "Use a superuser, a member of keyed_admin, or a role with define on the project or the template.",
        )
    }

    fn role_name(&self) -> String {
        role::name(self.role).unwrap_or_default()
    }

    /// The role that the caller acts as.
    pub fn role(&self) -> Oid {
        self.role
    }

    /// Whether the caller is a superuser or a member of `keyed_admin`.
    pub fn is_admin(&self) -> bool {
        self.is_admin
    }

    /// Requires an administrator. `what` completes "role … may not".
    pub fn require_admin(&self, what: &str) -> Result<(), Error> {
        if self.is_admin {
            return Ok(());
        }
        let role = self.role_name();
        Err(Error::new(Code::Forbidden, format!("role {role:?} may not {what}"))
            .hint("Use a superuser or a member of keyed_admin."))
    }

    /// Rejects a key that is limited to projects, for operations on the whole database.
    pub fn require_all_projects(&self, what: &str) -> Result<(), Error> {
        if self.key_projects().is_none() {
            return Ok(());
        }
        Err(Error::new(Code::Forbidden, format!("an API key that is limited to projects may not {what}"))
            .hint("Use an API key that was issued for all projects."))
    }

    /// Requires an administrator or the proxy's own role, which does the housekeeping. Maintenance takes locks that the
    /// caller's transaction holds until its end.
    pub fn require_maintenance(&self, what: &str) -> Result<(), Error> {
        let is_proxy = self.principal.is_none() && role::find(role::PROXY) == Some(role::current());
        if is_proxy { Ok(()) } else { self.require_admin(what) }
    }

    /// The actor that the state records for grants, keys and configuration: the API key, or the login. Call it only
    /// while a function of keyed runs.
    pub fn actor() -> String {
        Caller::actor_and_source().0
    }

    /// The actor and the source that the history records. For keyed's functions, the actor is the API key; for direct
    /// SQL, it is the session's login, even if the transaction has authenticated a key.
    pub fn actor_and_source() -> (String, String) {
        match Principal::current().filter(|_| guard::is_own_work()) {
            Some(principal) => (principal.actor(), principal.source.clone()),
            None => (login_and_role(), "sql".to_owned()),
        }
    }
}

/// The actor of direct SQL. An application server may use one login and SET ROLE for each of its users, so the role is
/// included.
fn login_and_role() -> String {
    let login = role::name(role::session()).unwrap_or_default();
    match role::chosen() {
        chosen if chosen == role::session() => login,
        chosen => format!("{} (login {login})", role::name(chosen).unwrap_or_default()),
    }
}
