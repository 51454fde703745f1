//! The privileges that can be granted, and the actions that need them.

/// What a grant allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// See records.
    Read,
    /// Bring records into existence.
    Create,
    /// Change records, and restore deleted ones.
    Update,
    /// Delete records.
    Delete,
    /// Make and change templates.
    Define,
}

impl Privilege {
    /// All privileges, in the order of responses.
    pub const ALL: [Privilege; 5] =
        [Privilege::Read, Privilege::Create, Privilege::Update, Privilege::Delete, Privilege::Define];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Privilege::Read => "read",
            Privilege::Create => "create",
            Privilege::Update => "update",
            Privilege::Delete => "delete",
            Privilege::Define => "define",
        }
    }

    /// The privilege of that name.
    pub fn parse(name: &str) -> Option<Privilege> {
        Privilege::ALL.into_iter().find(|privilege| privilege.name() == name)
    }
}

/// What a caller may do with the records of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// See records.
    Read,
    /// Bring records into existence.
    Create,
    /// Change records, and restore deleted ones.
    Update,
    /// Delete records.
    Delete,
}

impl Action {
    /// The privilege that has to be granted for it.
    pub fn privilege(self) -> Privilege {
        match self {
            Action::Read => Privilege::Read,
            Action::Create => Privilege::Create,
            Action::Update => Privilege::Update,
            Action::Delete => Privilege::Delete,
        }
    }
}
