//! Names of quotas, and the details of a reached quota.

/// The name of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Records that are not deleted.
    LiveRecords,
    /// Templates.
    Templates,
    /// Attributes of each template.
    AttributesPerTemplate,
    /// History entries of a day.
    WritesPerDay,
}

impl Name {
    /// All quotas, in display order.
    pub const ALL: [Name; 4] =
        [Name::LiveRecords, Name::Templates, Name::AttributesPerTemplate, Name::WritesPerDay];

    /// The text form.
    pub const fn text(self) -> &'static str {
        match self {
            Name::LiveRecords => "live_records",
            Name::Templates => "templates",
            Name::AttributesPerTemplate => "attributes_per_template",
            Name::WritesPerDay => "writes_per_day",
        }
    }

    /// Parses the text form.
    pub fn parse(name: &str) -> Option<Name> {
        Name::ALL.into_iter().find(|candidate| candidate.text() == name)
    }

    /// Whether it is counted in slots.
    pub const fn has_slots(self) -> bool {
        matches!(self, Name::LiveRecords | Name::WritesPerDay)
    }
}

/// A reached quota, in an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The quota.
    pub name: Name,
    /// The limit.
    pub maximum: i64,
    /// The current usage; `None` if the caller may not see it.
    pub used: Option<i64>,
    /// The requested increase.
    pub requested: i64,
}
