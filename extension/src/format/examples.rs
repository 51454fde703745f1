//! Example cells that show how candidate formats read a column.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

/// The maximum size of an example.
const MAX_BYTES: usize = 100;

/// Selects at most `most` distinct cells. Cells that distinguish more formats come first, then other cells with different
/// readings, then any others. `read` returns the reading of a format; `readings` is the number of formats with distinct
/// readings.
pub(super) fn examples<'c>(
    formats: usize,
    readings: usize,
    max: usize,
    cells: impl Iterator<Item = &'c str>,
    read: impl Fn(usize, &'c str) -> Option<Cow<'c, str>>,
) -> Vec<&'c str> {
    let (mut telling, mut different, mut similar) = (Vec::new(), Vec::new(), Vec::new());
    let mut known: HashSet<&str> = HashSet::new();
    // Formats that no cell has distinguished so far have the same group number.
    let mut group_of = vec![0; formats];
    let mut groups = 1;
    for cell in cells.filter(|cell| cell.len() <= MAX_BYTES) {
        if groups >= readings
            && telling.len() + different.len() + if readings > 1 { 0 } else { similar.len() } >= max
        {
            break;
        }
        if known.contains(cell) {
            continue;
        }
        let values: Vec<Option<Cow<str>>> = (0..formats).map(|format| read(format, cell)).collect();
        let together: Vec<(usize, Option<&str>)> =
            group_of.iter().zip(&values).map(|(group, value)| (*group, value.as_deref())).collect();
        let apart: BTreeSet<(usize, Option<&str>)> = together.iter().copied().collect();
        let list = if apart.len() > groups {
            groups = apart.len();
            group_of = together
                .iter()
                .map(|pair| apart.iter().position(|it| it == pair).unwrap_or_default())
                .collect();
            &mut telling
        } else if values.iter().any(|value| *value != values[0]) {
            &mut different
        } else {
            &mut similar
        };
        if list.len() < max {
            list.push(cell);
            known.insert(cell);
        }
    }
    telling.extend(different);
    telling.extend(similar);
    telling.truncate(max);
    telling
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A format here is the set of letters that it reads.
    fn shown<'c>(formats: &[&str], cells: &[&'c str]) -> Vec<&'c str> {
        let read = |format: usize, cell: &'c str| {
            Some(Cow::Owned(cell.chars().filter(|letter| formats[format].contains(*letter)).collect()))
        };
        examples(formats.len(), formats.len(), 10, cells.iter().copied(), read)
    }

    #[test]
    fn cell_that_distinguishes_formats_comes_first() {
        let mut cells = vec!["a"; 3];
        let many: Vec<String> = (0..20).map(|number| format!("a{number}")).collect();
        cells.extend(many.iter().map(String::as_str));
        cells.extend(["ab", "b", "c"]);
        let found = shown(&["a", "b", ""], &cells);
        assert_eq!((found.len(), &found[..3]), (10, ["a", "ab", "a0"].as_slice()));
    }

    #[test]
    fn cell_with_equal_readings_comes_last() {
        assert_eq!(shown(&["ab", "ac"], &["a", "xa", "b", "c"]), ["b", "c", "a", "xa"]);
        assert_eq!(shown(&["ab"], &["a", "a", "b"]), ["a", "b"]);
        assert_eq!(shown(&["a", "b"], &[&"a".repeat(MAX_BYTES + 1)]), [""; 0]);
    }
}
