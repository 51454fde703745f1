//! The records of waiting rows, which the database gets with every portion, because later rows of these records must
//! wait too. A Bloom filter, so that the size does not grow with the file. A false positive only makes a row wait
//! until the end of the file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The number of hash bits of a record. The database tests them, `extension/src/import/held.rs`.
const BITS_OF_NAME: u32 = 6;
/// Bits for each record, up to the maximum size: then one record in a thousand is a false positive.
const ROOM_OF_NAME: usize = 16;
const LEAST_BITS: usize = 64;
/// With a million records, one in five is a false positive.
const MOST_BITS: usize = 1 << 22;

/// A set of names.
#[derive(Default)]
pub(crate) struct Held {
    bits: Vec<u8>,
    count: usize,
}

impl Held {
    /// Adds a record; `all` returns all of them, including this one.
    pub(crate) fn add(&mut self, name: u64, all: impl FnOnce() -> Vec<u64>) {
        self.count += 1;
        let room = (self.count * ROOM_OF_NAME).next_power_of_two().clamp(LEAST_BITS, MOST_BITS);
        if room / 8 == self.bits.len() {
            return self.set(name);
        }
        self.bits = vec![0; room / 8];
        for name in all() {
            self.set(name);
        }
    }

    fn set(&mut self, name: u64) {
        for bit in self.bits_of(name) {
            self.bits[(bit / 8) as usize] |= 1 << (bit % 8);
        }
    }

    /// The bits of a record.
    fn bits_of(&self, name: u64) -> impl Iterator<Item = u32> + use<> {
        let mask = (self.bits.len() * 8 - 1) as u32;
        let (first, step) = (name as u32, (name >> 32) as u32 | 1);
        (0..BITS_OF_NAME).map(move |number| first.wrapping_add(number.wrapping_mul(step)) & mask)
    }

    /// In the format of the database; empty without records.
    pub(crate) fn to_text(&self) -> String {
        STANDARD.encode(&self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{DefaultHasher, Hash, Hasher};

    #[test]
    fn a_set_is_written_as_the_database_reads_it() {
        let (mut held, names) = (Held::default(), [1, 1 << 40, u64::MAX]);
        assert_eq!(held.to_text(), "");
        for name in names {
            held.add(name, || names.to_vec());
        }
        assert_eq!(held.to_text(), "fwAAAAAAAPw=");
    }

    #[test]
    fn a_set_grows_with_its_names_up_to_a_bound() {
        let (mut held, mut names) = (Held::default(), Vec::new());
        for name in 0..1 << 19 {
            names.push(name);
            held.add(name, || names.clone());
            assert!(held.bits.len() * 8 >= MOST_BITS.min(names.len() * ROOM_OF_NAME));
        }
        assert_eq!(held.bits.len() * 8, MOST_BITS);
    }

    /// A name like those that the database makes of keys, by their number.
    fn hash(number: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        number.hash(&mut hasher);
        hasher.finish()
    }

    /// One in how many other names is taken for one of so many.
    fn in_vain(names: u64) -> f64 {
        let mut held = Held { count: names as usize - 1, ..Held::default() };
        held.add(hash(0), || (0..names).map(hash).collect());
        let is_taken = |number: &u64| {
            held.bits_of(hash(*number)).all(|bit| held.bits[(bit / 8) as usize] & 1 << (bit % 8) != 0)
        };
        assert!((0..names).all(|number| is_taken(&number)));
        let tries = 10_000;
        tries as f64 / (names..names + tries).filter(is_taken).count() as f64
    }

    #[test]
    fn few_names_are_taken_for_others_and_of_a_million_not_nearly_all() {
        assert!(in_vain(100_000) >= 1000.0);
        assert!((2.5..10.0).contains(&in_vain(1_000_000)));
    }
}
