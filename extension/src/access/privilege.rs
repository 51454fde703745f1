//! The privileges that can be granted, and the actions that need them.

/// A privilege of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// Read records.
    Read,
    /// Create records.
    Create,
    /// Change records, and restore deleted ones.
    Update,
    /// Delete records.
    Delete,
    /// Create and change templates.
    Define,
}

impl Privilege {
    /// All privileges, in the order of responses.
    pub const ALL: [Privilege; 5] =
        [Privilege::Read, Privilege::Create, Privilege::Update, Privilege::Delete, Privilege::Define];

    /// Its name in requests and responses.
    pub fn name(self) -> &'static str {
        match self {
            Privilege::Read => "read",
            Privilege::Create => "create",
            Privilege::Update => "update",
            Privilege::Delete => "delete",
            Privilege::Define => "define",
        }
    }

    /// The privilege with this name.
    pub fn parse(name: &str) -> Option<Privilege> {
        Privilege::ALL.into_iter().find(|privilege| privilege.name() == name)
    }
}

/// An action on the records of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read records.
    Read,
    /// Create records.
    Create,
    /// Change records, and restore deleted ones.
    Update,
    /// Delete records.
    Delete,
}

impl Action {
    /// The privilege that it requires.
    pub fn privilege(self) -> Privilege {
        match self {
            Action::Read => Privilege::Read,
            Action::Create => Privilege::Create,
            Action::Update => Privilege::Update,
            Action::Delete => Privilege::Delete,
        }
    }
}
