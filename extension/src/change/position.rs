//! Positions in the feed. Pure.
//!
//! A position consists of a generation (15 bits) and a transaction id (48 bits). Rows with equal positions are ordered by
//! template, record and version.

use std::fmt;
use uuid::Uuid;

/// The number of bits of a transaction id.
const TRANSACTION_BITS: u32 = 48;

/// The lowest position of a generation.
pub const fn first_of(generation: i64) -> i64 {
    generation << TRANSACTION_BITS
}

/// The sort key of a history row in the feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPosition {
    /// The position.
    pub position: i64,
    /// The template id.
    pub template: i32,
    /// The record.
    pub record: Uuid,
    /// The version of the record.
    pub version: i32,
    /// The last record written among those that the change made visible or invisible; `None` if all
    /// were written.
    pub derived: Option<Derived>,
}

/// A record that was written because a record that it references changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Derived {
    /// Its template id.
    pub template: i32,
    /// The record.
    pub record: Uuid,
}

/// `position/template/record/version`, and with derived records `/template/record`.
impl fmt::Display for FeedPosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}/{}/{}", self.position, self.template, self.record, self.version)?;
        match &self.derived {
            Some(derived) => write!(out, "/{}/{}", derived.template, derived.record),
            None => Ok(()),
        }
    }
}

impl FeedPosition {
    /// Parses the output of [`fmt::Display`].
    pub fn parse(text: &str) -> Option<FeedPosition> {
        let mut parts = text.split('/');
        let position = parts.next()?.parse().ok()?;
        let template = parts.next()?.parse().ok()?;
        let record = parts.next()?.parse().ok()?;
        let version = parts.next()?.parse().ok()?;
        let derived = match parts.next() {
            Some(template) => {
                Some(Derived { template: template.parse().ok()?, record: parts.next()?.parse().ok()? })
            }
            None => None,
        };
        parts.next().is_none().then_some(FeedPosition { position, template, record, version, derived })
    }

    /// Before every row with this position or a greater one.
    pub const fn before(position: i64) -> FeedPosition {
        FeedPosition { position, template: 0, record: Uuid::nil(), version: 0, derived: None }
    }

    /// The lowest position of which no row was read up to here.
    pub fn end(&self) -> i64 {
        if *self == FeedPosition::before(self.position) { self.position } else { self.position + 1 }
    }

    /// Before the first row.
    pub const START: FeedPosition = FeedPosition::before(0);

    /// The lower bound for the rows of a template: position, record and version, exclusive.
    pub fn within(&self, template: i32) -> (i64, Uuid, i32) {
        match template.cmp(&self.template) {
            std::cmp::Ordering::Less => (self.position, Uuid::max(), i32::MAX),
            std::cmp::Ordering::Equal => (self.position, self.record, self.version),
            std::cmp::Ordering::Greater => (self.position, Uuid::nil(), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_round_trips_through_its_text() {
        let record = Uuid::from_u128(7);
        let derived = Derived { template: 4, record: Uuid::max() };
        for feed_position in [
            FeedPosition::START,
            FeedPosition::before(i64::MAX),
            FeedPosition { position: 40, template: 3, record, version: 2, derived: None },
            FeedPosition { position: 40, template: 3, record, version: 2, derived: Some(derived) },
        ] {
            assert_eq!(
                FeedPosition::parse(&feed_position.to_string()),
                Some(feed_position),
                "{feed_position}"
            );
        }
        let nil = Uuid::nil();
        for text in ["", "1", "1/2/3/4", &format!("1/2/{nil}/4/5"), &format!("1/2/{nil}/4/5/{nil}/6")] {
            assert_eq!(FeedPosition::parse(text), None, "{text}");
        }
    }

    #[test]
    fn end_follows_every_row_that_was_read() {
        assert_eq!(FeedPosition::before(7).end(), 7);
        let row = FeedPosition { template: 3, ..FeedPosition::before(7) };
        assert_eq!(row.end(), 8);
    }

    #[test]
    fn later_generation_follows_all_earlier_transactions() {
        assert!(first_of(2) > first_of(1) + (1 << TRANSACTION_BITS) - 1);
        assert!(first_of(i64::from(i16::MAX)) > 0);
    }

    #[test]
    fn place_bounds_the_rows_of_each_template() {
        let record = Uuid::from_u128(7);
        let feed_position = FeedPosition { position: 40, template: 3, record, version: 2, derived: None };
        let is_behind = |template, position, record, version| {
            (position, record, version) > feed_position.within(template)
                && FeedPosition { position, template, record, version, derived: None } > feed_position
        };
        let is_before = |template, position, record, version| {
            (position, record, version) <= feed_position.within(template)
                && FeedPosition { position, template, record, version, derived: None } <= feed_position
        };
        assert!(is_behind(3, 40, record, 3) && is_behind(3, 41, Uuid::from_u128(1), 1));
        assert!(is_behind(4, 40, Uuid::from_u128(1), 1) && is_behind(2, 41, Uuid::from_u128(1), 1));
        assert!(is_before(3, 40, record, 2) && is_before(2, 40, Uuid::from_u128(9), 9));
        assert!(is_before(4, 39, Uuid::from_u128(9), 9));
    }
}
