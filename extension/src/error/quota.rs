//! The quotas, as an error names them.

/// What can be bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Records that are not deleted.
    LiveRecords,
    /// Templates.
    Templates,
    /// Attributes of each template.
    AttributesPerTemplate,
    /// Lines in the history of a day.
    WritesPerDay,
}

impl Name {
    /// All of them, as they are listed.
    pub const ALL: [Name; 4] =
        [Name::LiveRecords, Name::Templates, Name::AttributesPerTemplate, Name::WritesPerDay];

    /// As it is written.
    pub const fn text(self) -> &'static str {
        match self {
            Name::LiveRecords => "live_records",
            Name::Templates => "templates",
            Name::AttributesPerTemplate => "attributes_per_template",
            Name::WritesPerDay => "writes_per_day",
        }
    }

    /// The quota of that name.
    pub fn parse(name: &str) -> Option<Name> {
        Name::ALL.into_iter().find(|candidate| candidate.text() == name)
    }

    /// Whether it is counted in slots.
    pub const fn has_slots(self) -> bool {
        matches!(self, Name::LiveRecords | Name::WritesPerDay)
    }
}

/// A reached quota, as part of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Which.
    pub name: Name,
    /// The maximum.
    pub maximum: i64,
    /// The present usage; not shown to every caller.
    pub used: Option<i64>,
    /// How many more were wanted at once.
    pub wanted: i64,
}
