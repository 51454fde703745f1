//! The member names of a `jsonb` object. Pure. The values, which can be long, are not read.

use super::layout::{IS_END, IS_OBJECT, NUMBER, SIZE};

/// The names in an object, in stored order; none for other values.
pub fn names(content: &[u8]) -> Vec<&str> {
    let number = |position: usize| {
        let bytes = content.get(position..position + SIZE)?;
        bytes.try_into().ok().map(u32::from_ne_bytes)
    };
    let Some(header) = number(0).filter(|header| header & IS_OBJECT != 0) else { return Vec::new() };
    let count = (header & NUMBER) as usize;
    let first = SIZE + 2 * count * SIZE;
    let mut begin = 0;
    let read = |index: usize| {
        let entry = number(SIZE + index * SIZE)?;
        let length = (entry & NUMBER) as usize;
        let end = if entry & IS_END != 0 { length } else { begin + length };
        let name = content.get(first + begin..first + end)?;
        begin = end;
        std::str::from_utf8(name).ok()
    };
    (0..count).map_while(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object as PostgreSQL stores it, without values. The entries at these indexes are end
    /// offsets.
    fn object(names: &[&str], ends: &[usize]) -> Vec<u8> {
        let mut bytes = (names.len() as u32 | IS_OBJECT).to_ne_bytes().to_vec();
        let mut end = 0;
        for (index, name) in names.iter().enumerate() {
            end += name.len() as u32;
            let entry = if ends.contains(&index) { end | IS_END } else { name.len() as u32 };
            bytes.extend(entry.to_ne_bytes());
        }
        // The values are null, which takes no space.
        bytes.extend(std::iter::repeat_n(0x4000_0000_u32.to_ne_bytes(), names.len()).flatten());
        bytes.extend(names.concat().bytes());
        bytes
    }

    #[test]
    fn names_are_found_by_lengths_and_by_ends() {
        let stored = ["a", "né", "a_longer_name", "z"];
        for ends in [&[][..], &[0], &[2, 3], &[0, 1, 2, 3]] {
            assert_eq!(names(&object(&stored, ends)), stored);
        }
        assert!(names(&object(&[], &[])).is_empty());
    }

    #[test]
    fn names_of_other_values_are_empty() {
        let whole = object(&["one", "two"], &[]);
        for length in 0..whole.len() {
            assert!(names(&whole[..length]).len() < 2);
        }
        assert!(names(&0x4000_0001_u32.to_ne_bytes()).is_empty());
    }
}
