//! The modes of an upsert, and the privileges that they need.

use crate::access::visibility::{UpsertScopes, WriteScope};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::template::Template;

/// The modes of an upsert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Create or update.
    #[default]
    Upsert,
    /// Create only. An existing key is a conflict.
    Create,
    /// Update only. An unknown key is not found.
    Update,
}

impl Mode {
    /// The mode with this name; the default is upsert.
    pub fn parse(name: Option<&str>) -> Result<Mode, Error> {
        match name {
            None | Some("upsert") => Ok(Mode::Upsert),
            Some("create") => Ok(Mode::Create),
            Some("update") => Ok(Mode::Update),
            Some(other) => Err(Error::at(Code::InvalidValue, "/mode", format!("{other:?} is not a mode"))
                .hint("Use one of the modes upsert, create and update.")),
        }
    }

    /// Requires the privileges of the mode.
    pub fn require_privileges(self, caller: &Caller, template: &Template) -> Result<(), Error> {
        if self != Mode::Update {
            caller.require(Action::Create, template)?;
        }
        if self != Mode::Create {
            caller.require(Action::Update, template)?;
        }
        Ok(())
    }

    /// The write scopes of an upsert.
    pub fn write_scopes(self, caller: &Caller, template: &Template) -> UpsertScopes {
        let of = |action, is_needed| {
            if is_needed { WriteScope::of(caller, action, template) } else { WriteScope::default() }
        };
        UpsertScopes {
            create: of(Action::Create, self != Mode::Update),
            update: of(Action::Update, self != Mode::Create),
        }
    }
}
