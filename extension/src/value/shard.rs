//! Shards and the ranges of their ids. Pure.
//!
//! A database that is one of several shards takes its ids from a range of its own, so an id identifies the shard that
//! assigned it. A range is a power of two, and the shard is the upper bits of the id: 7 of 24 bits of a template's id,
//! which every record id contains, 7 of 31 bits of other integer ids, 7 of 53 bits of bigint ids (the integers that
//! JavaScript represents exactly).

use super::record_id::MAX_TEMPLATE;
use std::ops::RangeInclusive;

/// The greatest shard; the first is 0.
pub const MAX_SHARD: i32 = 127;

/// The kinds of ids, which differ in the size of their ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    /// Ids of templates.
    Template,
    /// Other ids of type integer: projects, attributes, API keys, grants, endpoints, views.
    Integer,
    /// Ids of type bigint: entries of logs and queues.
    Bigint,
}

impl IdKind {
    /// The bits of an id below those of the shard.
    const fn bits(self) -> u32 {
        match self {
            IdKind::Template => 17,
            IdKind::Integer => 24,
            IdKind::Bigint => 46,
        }
    }

    /// The ids that a shard assigns.
    pub fn range(self, shard: i32) -> RangeInclusive<i64> {
        let first = i64::from(shard) << self.bits();
        first.max(1)..=first + (1 << self.bits()) - 1
    }
}

/// The shard that assigned the id of a template.
pub fn of_template(id: i32) -> i32 {
    (id & MAX_TEMPLATE) >> IdKind::Template.bits()
}

/// The shard that assigned an integer id other than that of a template.
pub fn of_integer(id: i32) -> i32 {
    id >> IdKind::Integer.bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_shards_are_adjacent_and_fit_their_types() {
        for (kind, greatest) in [
            (IdKind::Template, i64::from(MAX_TEMPLATE)),
            (IdKind::Integer, i64::from(i32::MAX)),
            (IdKind::Bigint, (1 << 53) - 1),
        ] {
            assert_eq!(*kind.range(0).start(), 1, "{kind:?}");
            assert_eq!(*kind.range(MAX_SHARD).end(), greatest, "{kind:?}");
            for shard in 0..MAX_SHARD {
                assert_eq!(kind.range(shard).end() + 1, *kind.range(shard + 1).start(), "{kind:?} {shard}");
            }
        }
    }

    #[test]
    fn id_identifies_its_shard() {
        for shard in [0, 1, 3, MAX_SHARD] {
            for (kind, shard_of) in
                [(IdKind::Template, of_template as fn(i32) -> i32), (IdKind::Integer, of_integer)]
            {
                let range = kind.range(shard);
                for id in [*range.start(), *range.end()] {
                    assert_eq!(shard_of(i32::try_from(id).expect("an integer")), shard, "{kind:?} {id}");
                }
            }
        }
    }
}
