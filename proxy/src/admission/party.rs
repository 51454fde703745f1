//! Whose keys or tokens share the limits of a party. Pure.

use crate::observation::Identity;

/// Whose keys or tokens share a limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PartyName {
    Role(String),
    /// The inbound endpoints of a project.
    Project(String),
    /// A key of which no more is known.
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
