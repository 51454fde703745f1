//! Parties: the keys or tokens that share a limit. Pure.

use crate::observation::Identity;

/// A party: all keys of a role, or all tokens of a project.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PartyName {
    Role(String),
    /// The inbound endpoints of a project.
    Project(String),
    /// A key whose owner is unknown.
    Key(u64),
}

impl PartyName {
    pub(super) fn of(identity: Option<&Identity>, key: u64) -> PartyName {
        match identity {
            Some(Identity::Key { role: Some(role), .. }) => PartyName::Role(role.clone()),
            Some(Identity::Endpoint { project: Some(project), .. }) => PartyName::Project(project.clone()),
            _ => PartyName::Key(key),
        }
    }
}
