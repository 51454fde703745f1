//! The number of a shard, and the shard that assigned an id. Pure.
//!
//! A shard takes its ids from a range of its own: the upper bits of an id are the shard.

use std::fmt::{self, Display};

use uuid::Uuid;

/// The bits of an id below those of the shard: of templates, and of projects, API keys and endpoints.
const TEMPLATE_BITS: u32 = 17;
const INTEGER_BITS: u32 = 24;

/// The number of a shard, from 0 to 127.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Shard(u8);

impl Shard {
    /// The greatest number.
    pub const MAX: u8 = 127;

    /// The shard with this number.
    pub fn new(number: u64) -> Option<Shard> {
        u8::try_from(number).ok().filter(|number| *number <= Shard::MAX).map(Shard)
    }

    /// The shard that assigned the id of a template.
    pub(crate) fn of_template(id: u64) -> Option<Shard> {
        Shard::new(id >> TEMPLATE_BITS)
    }

    /// The shard that assigned the id of a project, an API key or an endpoint.
    pub(crate) fn of_integer(id: u64) -> Option<Shard> {
        Shard::new(id >> INTEGER_BITS)
    }
}

impl Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The id of the template in the id of a record: 24 bits of a UUID of version 8.
pub(crate) fn template_of_record(id: Uuid) -> Option<u64> {
    (id.get_version_num() == 8 && id.get_variant() == uuid::Variant::RFC4122)
        .then(|| ((id.as_u128() >> 38) & 0xff_ffff) as u64)
        .filter(|template| *template > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_identifies_its_shard() {
        for (id, shard) in [(1, 0), (131_071, 0), (131_072, 1), (3 << 17, 3), ((1 << 24) - 1, 127)] {
            assert_eq!(Shard::of_template(id), Shard::new(shard), "{id}");
        }
        for (id, shard) in [(1, 0), ((1 << 24) - 1, 0), (1 << 24, 1), (50_331_649, 3), (2_147_483_647, 127)] {
            assert_eq!(Shard::of_integer(id), Shard::new(shard), "{id}");
        }
        assert_eq!(Shard::of_integer(u64::MAX), None);
        assert_eq!(Shard::new(128), None);
    }

    #[test]
    fn record_id_contains_its_template() {
        let id = |template: u128| Uuid::from_u128(0x8000_u128 << 64 | 0b10 << 126 >> 64 | template << 38);
        assert_eq!(template_of_record(id(393_217)), Some(393_217));
        assert_eq!(template_of_record(id(0)), None);
        assert_eq!(
            template_of_record(Uuid::from_u128(id(7).as_u128() ^ 0xc000_u128 << 64)),
            None,
            "version 4"
        );
        assert_eq!(template_of_record(Uuid::nil()), None);
    }
}
