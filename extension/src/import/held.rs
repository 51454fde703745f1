//! The records of waiting rows, which the proxy sends with every portion: a Bloom filter, whose size does not grow
//! with the file. A false positive only makes a row wait until the end of the file. Pure.

use super::RecordHash;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The number of hash bits of a record. The proxy sets them, `proxy/src/import/held.rs`.
const BITS_OF_NAME: u32 = 6;

/// A set of record hashes: its bits, a power of two in number, or none if no row waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held(Vec<u8>);

impl Held {
    /// Reads the bits, in base64; none if they are no such set.
    pub fn parse(text: &str) -> Option<Held> {
        let bytes = STANDARD.decode(text).ok()?;
        (bytes.is_empty() || bytes.len().is_power_of_two() && bytes.len() <= 1 << 28).then_some(Held(bytes))
    }

    /// Whether a name is one of them.
    pub fn contains(&self, name: RecordHash) -> bool {
        let Some(mask) = (self.0.len() as u32 * 8).checked_sub(1) else { return false };
        let (first, step) = (name as u32, (name >> 32) as u32 | 1);
        (0..BITS_OF_NAME).all(|number| {
            let bit = first.wrapping_add(number.wrapping_mul(step)) & mask;
            self.0[(bit / 8) as usize] & 1 << (bit % 8) != 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the proxy makes of the names 1, 2 to the 40th and the largest: its test says the same.
    const THREE: &str = "fwAAAAAAAPw=";

    #[test]
    fn names_are_found_in_what_the_proxy_made_of_them() {
        let held = Held::parse(THREE).expect("a set");
        for name in [1, 1 << 40, u64::MAX] {
            assert!(held.contains(name), "{name}");
        }
        assert!(!held.contains(0x0123_4567_0000_0020));
        assert!(!Held::default().contains(1));
    }

    #[test]
    fn an_invalid_set_is_detected() {
        for text in ["?", "AAAA", "AA"] {
            assert_eq!(Held::parse(text), None, "{text}");
        }
        assert_eq!(Held::parse(""), Some(Held::default()));
    }
}
