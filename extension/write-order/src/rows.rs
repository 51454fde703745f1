//! The order of rows: each follows the rows that it references, and earlier rows of the same record.

use crate::cycles::{Dependency, search};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A hash of the key, id or text that identifies a record, the same in every session. A collision only delays a row.
pub type RecordHash = u64;

/// The record of a row that creates one without an identifier.
const UNNAMED: RecordHash = 0;
/// No row.
const NO_ROW: u32 = u32::MAX;

/// Rows by position, with the records that they write and reference.
#[derive(Default)]
pub struct Rows {
    /// The record of each row.
    records: Vec<RecordHash>,
    /// The strings by which rows reference others, with the referenced rows.
    texts: Vec<(RecordHash, u32)>,
    /// The references, and the end offset of those of each row.
    targets: Vec<RecordHash>,
    ends: Vec<u32>,
}

/// A row, and whether it may be separated from the previous one: the rows of a cycle are written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The row.
    pub row: u32,
    /// Whether a chunk may begin with it.
    pub is_separable: bool,
}

/// Rows by the length of the longest chain of rows that they depend on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// The rows without a dependency, those that depend only on these, and so on.
    pub levels: Vec<Vec<u32>>,
    /// Rows in cycles, rows of longer chains, and rows that depend on these.
    pub rest: Vec<u32>,
}

impl Rows {
    /// Adds a row: its record, the strings by which others may reference it, and what it references.
    pub fn push(&mut self, record: Option<RecordHash>, texts: &[RecordHash], targets: &[RecordHash]) {
        let row = self.records.len() as u32;
        self.texts.extend(texts.iter().map(|text| (*text, row)));
        self.records.push(record.unwrap_or(UNNAMED));
        self.targets.extend_from_slice(targets);
        self.ends.push(self.targets.len() as u32);
    }

    /// The records of all rows that name one.
    pub fn records(&self) -> Vec<RecordHash> {
        self.records.iter().copied().filter(|record| *record != UNNAMED).collect()
    }

    /// The number of rows, strings and references.
    pub fn size(&self) -> usize {
        self.records.len() + self.texts.len() + self.targets.len()
    }

    /// The order. Rows without dependencies, and the rows of a cycle, keep the order of the file.
    pub fn order(self) -> Vec<Next> {
        let count = self.records.len();
        let dependencies = self.dependencies();
        let mut order = Vec::with_capacity(count);
        search(
            0..count as u32,
            count,
            |row, number| dependencies.get(row, number),
            |cycle| {
                cycle.sort_unstable();
                let next = |(place, row): (usize, &u32)| Next { row: *row, is_separable: place == 0 };
                order.extend(cycle.iter().enumerate().map(next));
            },
        );
        order
    }

    /// The rows in levels, at most this many. Each level has the order of the file.
    pub fn levels(self, max: usize) -> Levels {
        let count = self.records.len();
        let dependencies = self.dependencies();
        let mut found = Levels::default();
        let mut level_of = vec![usize::MAX; count];
        search(
            0..count as u32,
            count,
            |row, number| dependencies.get(row, number),
            |cycle| {
                // A row of a cycle depends on one whose level is not known yet.
                let level = match cycle {
                    [row] => {
                        let levels = dependencies.of(*row).map(|it| level_of[it as usize].saturating_add(1));
                        levels.max().unwrap_or(0)
                    }
                    _ => usize::MAX,
                };
                if level >= max {
                    found.rest.extend_from_slice(cycle);
                    return;
                }
                level_of[cycle[0] as usize] = level;
                if found.levels.len() <= level {
                    found.levels.resize_with(level + 1, Vec::new);
                }
                found.levels[level].extend_from_slice(cycle);
            },
        );
        found.levels.iter_mut().for_each(|level| level.sort_unstable());
        found.rest.sort_unstable();
        found
    }

    /// A reference depends on the first row of its record, and each later row of a record on the previous one.
    fn dependencies(self) -> Dependencies {
        let Rows { records, texts, mut targets, ends } = self;
        let mut first: HashMap<RecordHash, u32> = HashMap::with_capacity(records.len());
        let mut last: HashMap<RecordHash, u32> = HashMap::new();
        let mut previous = vec![NO_ROW; records.len()];
        for (row, record) in records.into_iter().enumerate().filter(|(_, record)| *record != UNNAMED) {
            match first.entry(record) {
                Entry::Vacant(vacant) => {
                    vacant.insert(row as u32);
                }
                Entry::Occupied(occupied) => {
                    previous[row] = last.insert(record, row as u32).unwrap_or(*occupied.get());
                }
            }
        }
        for (text, row) in texts {
            first.entry(text).or_insert(row);
        }
        for target in &mut targets {
            *target = first.get(target).copied().unwrap_or(NO_ROW).into();
        }
        Dependencies { targets, ends, previous }
    }
}

struct Dependencies {
    /// The referenced rows. Reuses the memory of the hashes.
    targets: Vec<u64>,
    ends: Vec<u32>,
    /// The previous row of the same record.
    previous: Vec<u32>,
}

impl Dependencies {
    /// All dependencies of a row.
    fn of(&self, row: u32) -> impl Iterator<Item = u32> {
        let all = (0..).map(move |number| self.get(row, number)).take_while(|it| *it != Dependency::End);
        all.filter_map(|it| if let Dependency::On(other) = it { Some(other) } else { None })
    }

    /// The dependency of a row under a number.
    fn get(&self, row: u32, number: usize) -> Dependency {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before as usize]) as usize;
        let other = match number.checked_sub(1) {
            None => Some(self.previous[row as usize]),
            Some(number) => {
                let end = self.ends[row as usize] as usize;
                self.targets[begin..end].get(number).map(|target| *target as u32)
            }
        };
        match other {
            None => Dependency::End,
            Some(NO_ROW) => Dependency::None,
            Some(other) => Dependency::On(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(rows: &[(u64, &[u64])]) -> Rows {
        let mut all = Rows::default();
        for (record, targets) in rows {
            all.push((*record != UNNAMED).then_some(*record), &[], targets);
        }
        all
    }

    fn order(all: &[(u64, &[u64])]) -> Vec<(u32, bool)> {
        rows(all).order().into_iter().map(|next| (next.row, next.is_separable)).collect()
    }

    #[test]
    fn row_follows_rows_that_it_references() {
        let chain = order(&[(1, &[2]), (2, &[3]), (3, &[4]), (0, &[1])]);
        assert_eq!(chain, [(2, true), (1, true), (0, true), (3, true)]);
        assert_eq!(order(&[(1, &[]), (0, &[]), (0, &[9]), (2, &[2])]).len(), 4);
    }

    #[test]
    fn row_follows_rows_that_it_references_by_text() {
        let mut rows = Rows::default();
        rows.push(Some(1), &[101], &[102]);
        rows.push(None, &[102, 103], &[104]);
        rows.push(Some(3), &[104], &[109]);
        rows.push(Some(4), &[104], &[]);
        assert_eq!(rows.size(), 12);
        let rows: Vec<u32> = rows.order().into_iter().map(|next| next.row).collect();
        assert_eq!(rows, [2, 1, 0, 3]);
    }

    #[test]
    fn row_follows_previous_rows_of_its_record() {
        let rows = order(&[(1, &[3]), (1, &[]), (2, &[1]), (1, &[]), (3, &[])]);
        assert_eq!(rows, [(4, true), (0, true), (1, true), (2, true), (3, true)]);
    }

    #[test]
    fn rows_of_a_cycle_keep_the_order_of_the_file() {
        let rows = order(&[(1, &[2]), (9, &[8]), (2, &[3, 9]), (8, &[]), (3, &[1])]);
        assert_eq!(rows, [(3, true), (1, true), (0, true), (2, false), (4, false)]);
    }

    #[test]
    fn chain_may_be_as_long_as_the_file() {
        let mut long = Rows::default();
        for row in 1..=300_000 {
            long.push(Some(row), &[], &[row + 1]);
        }
        let order = long.order();
        let mut descending = order.iter().zip((0..300_000).rev());
        assert!(descending.all(|(next, row)| next.row == row && next.is_separable));
    }

    #[test]
    fn level_is_the_length_of_the_longest_chain() {
        // 0 → 1 → 2, 3 → 0 and 2, 4 and 5 write one record.
        let all = rows(&[(1, &[2]), (2, &[3]), (3, &[]), (4, &[1, 3]), (5, &[]), (5, &[])]);
        let levels = all.levels(9);
        assert_eq!(levels.levels, [vec![2, 4], vec![1, 5], vec![0], vec![3]]);
        assert_eq!(levels.rest, Vec::<u32>::new());
    }

    #[test]
    fn remaining_rows_are_cycles_long_chains_and_their_dependents() {
        let all: [(u64, &[u64]); 7] =
            [(1, &[2]), (2, &[1]), (3, &[1]), (4, &[4]), (5, &[6]), (6, &[7]), (7, &[])];
        let levels = rows(&all).levels(2);
        assert_eq!((levels.levels, levels.rest), (vec![vec![6], vec![5]], vec![0, 1, 2, 3, 4]));
        assert_eq!(rows(&all).levels(usize::MAX).rest, [0, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn each_row_comes_once_and_after_its_references_outside_of_its_cycle(
            all in prop::collection::vec((0_u64..9, prop::collection::vec(1_u64..12, 0..3)), 0..40),
        ) {
            let mut it = Rows::default();
            let mut same = Rows::default();
            for (record, targets) in &all {
                let record = (*record != UNNAMED).then_some(*record);
                it.push(record, &[], targets);
                same.push(record, &[], targets);
            }
            let order = it.order();
            let mut sorted: Vec<u32> = order.iter().map(|next| next.row).collect();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..all.len() as u32).collect::<Vec<_>>());
            let mut cycle_of = vec![0; all.len()];
            let mut cycle = 0;
            for next in &order {
                cycle += usize::from(next.is_separable);
                cycle_of[next.row as usize] = cycle;
            }
            let Levels { levels, rest } = same.levels(4);
            let level_of = |row: usize| levels.iter().position(|level| level.contains(&(row as u32)));
            for (row, (_, targets)) in all.iter().enumerate() {
                prop_assert_eq!(rest.contains(&(row as u32)), level_of(row).is_none());
                for target in targets {
                    if let Some(first) = all.iter().position(|(record, _)| record == target) {
                        prop_assert!(cycle_of[first] <= cycle_of[row]);
                        prop_assert!(level_of(row).is_none_or(|level| level_of(first).is_some_and(|it| it < level)));
                    }
                }
            }
        }
    }
}
