//! The privileges that can be granted.

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
