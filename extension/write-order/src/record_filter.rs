//! The records of waiting rows: later rows of these records wait too. A Bloom filter, so that its size does not grow with
//! the file. A false positive only delays a row until the end of the file.

use crate::rows::RecordHash;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The number of bits that a record sets.
const BITS_PER_HASH: u32 = 6;
/// The size for each record, up to the maximum: below it, one in a thousand other records is a false
/// positive.
const BITS_PER_RECORD: usize = 16;
const MIN_BITS: usize = 64;
/// With a million records, one in five others is a false positive.
const MAX_BITS: usize = 1 << 22;
/// The maximum number of bytes that are read.
const MAX_BYTES: usize = 1 << 28;

/// A set of records: bits, a power of two in number, or none if no row waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFilter {
    bits: Vec<u8>,
    count: usize,
}

impl RecordFilter {
    /// Parses the output of [`RecordFilter::to_text`]; `None` for other text.
    pub fn parse(text: &str) -> Option<RecordFilter> {
        let bits = STANDARD.decode(text).ok()?;
        let is_set = bits.is_empty() || bits.len().is_power_of_two() && bits.len() <= MAX_BYTES;
        is_set.then_some(RecordFilter { bits, count: 0 })
    }

    /// The bits in base64, empty without records.
    pub fn to_text(&self) -> String {
        STANDARD.encode(&self.bits)
    }

    /// Adds a record. `all` returns all records, including this one, to build a larger set.
    pub fn add(&mut self, record: RecordHash, all: impl FnOnce() -> Vec<RecordHash>) {
        self.count += 1;
        let size = (self.count * BITS_PER_RECORD).next_power_of_two().clamp(MIN_BITS, MAX_BITS);
        if size / 8 == self.bits.len() {
            return self.set(record);
        }
        self.bits = vec![0; size / 8];
        for record in all() {
            self.set(record);
        }
    }

    /// Whether the record is in the set, or a false positive.
    pub fn contains(&self, record: RecordHash) -> bool {
        !self.bits.is_empty()
            && self.bits_of(record).all(|bit| self.bits[(bit / 8) as usize] & 1 << (bit % 8) != 0)
    }

    fn set(&mut self, record: RecordHash) {
        for bit in self.bits_of(record) {
            self.bits[(bit / 8) as usize] |= 1 << (bit % 8);
        }
    }

    /// The positions of the bits of a record, in a set that has bits.
    fn bits_of(&self, record: RecordHash) -> impl Iterator<Item = u32> + use<> {
        let mask = (self.bits.len() * 8 - 1) as u32;
        let (first, step) = (record as u32, (record >> 32) as u32 | 1);
        (0..BITS_PER_HASH).map(move |number| first.wrapping_add(number.wrapping_mul(step)) & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{DefaultHasher, Hash, Hasher};

    #[test]
    fn set_round_trips() {
        let (mut filter, records) = (RecordFilter::default(), [1, 1 << 40, u64::MAX]);
        assert_eq!(filter.to_text(), "");
        for record in records {
            filter.add(record, || records.to_vec());
        }
        // Proxies of other versions read and write the same format.
        assert_eq!(filter.to_text(), "fwAAAAAAAPw=");
        let read = RecordFilter::parse("fwAAAAAAAPw=").expect("a set");
        assert!(records.iter().all(|record| read.contains(*record)));
        assert!(!read.contains(0x0123_4567_0000_0020));
        assert!(!RecordFilter::default().contains(1));
    }

    #[test]
    fn text_that_is_not_a_set_is_rejected() {
        for text in ["?", "AAAA", "AA"] {
            assert_eq!(RecordFilter::parse(text), None, "{text}");
        }
        assert_eq!(RecordFilter::parse(""), Some(RecordFilter::default()));
    }

    #[test]
    fn size_grows_with_the_records_up_to_a_maximum() {
        let (mut filter, mut records) = (RecordFilter::default(), Vec::new());
        for record in 0..1 << 19 {
            records.push(record);
            filter.add(record, || records.clone());
            assert!(filter.bits.len() * 8 >= MAX_BITS.min(records.len() * BITS_PER_RECORD));
        }
        assert_eq!(filter.bits.len() * 8, MAX_BITS);
    }

    /// A hash with the distribution of key hashes.
    fn hash(number: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        number.hash(&mut hasher);
        hasher.finish()
    }

    /// The false positive rate of a set of this size: one in this many.
    fn others_for_each_false_positive(count: u64) -> f64 {
        let mut filter = RecordFilter { count: count as usize - 1, ..RecordFilter::default() };
        filter.add(hash(0), || (0..count).map(hash).collect());
        assert!((0..count).all(|number| filter.contains(hash(number))));
        let tries = 10_000;
        tries as f64 / (count..count + tries).filter(|number| filter.contains(hash(*number))).count() as f64
    }

    #[test]
    fn false_positives_are_few_even_among_a_million_records() {
        assert!(others_for_each_false_positive(100_000) >= 1000.0);
        assert!((2.5..10.0).contains(&others_for_each_false_positive(1_000_000)));
    }
}
