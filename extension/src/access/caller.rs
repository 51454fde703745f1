//! The caller of a function: a role, and the key it came with.

use super::principal::Principal;
use crate::error::{Code, Error};
use crate::postgres::role::{self, TableRight};
use crate::template::Template;
use pgrx::pg_sys::Oid;
use std::rc::Rc;

/// What a caller may do with the records of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// See records.
    Read,
    /// Bring records into existence.
    Create,
    /// Change records, and restore deleted ones.
    Update,
    /// Delete records.
    Delete,
}

impl Right {
    /// The table privilege that stands for it: what PostgreSQL grants is what the functions obey.
    fn on_table(self) -> TableRight {
        match self {
            Right::Read => TableRight::Select,
            Right::Create => TableRight::Insert,
            Right::Update => TableRight::Update,
            Right::Delete => TableRight::Delete,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Right::Read => "read",
            Right::Create => "create",
            Right::Update => "update",
            Right::Delete => "delete",
        }
    }
}

/// Who is asking: the role of the presented key, or without one the effective role of the session.
#[derive(Clone, Debug)]
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
        let is_admin = role::is_superuser(role)
            || role::find(role::ADMIN).is_some_and(|admin| role::has_rights_of(role, admin));
        Caller { role, is_admin, principal }
    }

    /// The project in which names of templates are looked up, when one was chosen.
    pub fn project(&self) -> Option<i32> {
        self.principal.as_ref().and_then(|principal| principal.project)
    }

    /// Whether the caller's key is bound to this project, and the request chose no other.
    pub fn sees_project(&self, project: i32) -> bool {
        self.principal.as_ref().is_none_or(|principal| {
            principal.sees_project(project) && principal.project.is_none_or(|chosen| chosen == project)
        })
    }

    /// Refuses a caller without the right; a template of a project out of sight is as good as missing.
    pub fn require(&self, right: Right, template: &Template) -> Result<(), Error> {
        if !self.sees_project(template.project_id) {
            return Err(Error::not_found());
        }
        if self.is_admin || role::has_table_right(self.role, template.table, right.on_table()) {
            return Ok(());
        }
        let role = role::name(self.role).unwrap_or_default();
        Err(Error::new(
            Code::Forbidden,
            format!("role {role:?} may not {} records of {}", right.name(), template.full_name()),
        )
        .hint(format!("an administrator can grant {} on {}", right.name(), template.full_name())))
    }

    /// Whether the caller may do everything in the workspace.
    pub fn is_admin(&self) -> bool {
        self.is_admin
    }

    /// Refuses a caller who is neither superuser nor member of `keyed_admin`.
    pub fn require_admin(&self, what: &str) -> Result<(), Error> {
        if self.is_admin {
            return Ok(());
        }
        let role = role::name(self.role).unwrap_or_default();
        Err(Error::new(Code::Forbidden, format!("role {role:?} may not {what}"))
            .hint("this needs a member of keyed_admin, or a superuser"))
    }

    /// The name that history gives to whoever wrote, and the door it came through.
    pub fn actor_and_source() -> (String, String) {
        match Principal::current() {
            Some(principal) => (principal.actor(), principal.source.clone()),
            None => (role::name(role::session()).unwrap_or_default(), "sql".to_owned()),
        }
    }
}
