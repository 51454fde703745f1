//! The order of waiting rows: each after those it refers to and after earlier rows of the same record, so that one
//! pass writes them all, however long their chains are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Stands for the record of a row that makes one without a key.
const NAMELESS: u64 = 0;
/// A row that was not looked at yet.
const UNSEEN: u32 = u32::MAX;

/// Rows by position, with their dependencies.
#[derive(Default)]
pub(crate) struct Order {
    /// The record hash of each row.
    names: Vec<u64>,
    /// The hashes of texts by which others refer to rows, and these rows.
    texts: Vec<(u64, u32)>,
    /// The hashes of references, and the end of those of each row.
    targets: Vec<u64>,
    ends: Vec<u32>,
}

/// A row, and whether it may be separated from the previous one: rows of a cycle are written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) row: u32,
    pub(crate) is_free: bool,
}

impl Order {
    pub(crate) fn push(&mut self, name: Option<u64>, texts: &[u64], targets: &[u64]) {
        let row = self.names.len() as u32;
        self.texts.extend(texts.iter().map(|text| (*text, row)));
        self.names.push(name.unwrap_or(NAMELESS));
        self.targets.extend_from_slice(targets);
        self.ends.push(self.targets.len() as u32);
    }

    /// The names of all rows that have one.
    pub(crate) fn names(&self) -> Vec<u64> {
        self.names.iter().copied().filter(|name| *name != NAMELESS).collect()
    }

    /// The number of rows and references.
    pub(crate) fn size(&self) -> usize {
        self.names.len() + self.texts.len() + self.targets.len()
    }

    /// The order. Rows without dependencies keep the order of the file.
    pub(crate) fn settle(self) -> Vec<Next> {
        let count = self.names.len();
        let before = self.before();
        let mut search = Search {
            numbers: vec![UNSEEN; count],
            lowest: vec![0; count],
            is_open: vec![false; count],
            open: Vec::new(),
            order: Vec::with_capacity(count),
            next: 0,
        };
        for row in 0..count as u32 {
            if search.numbers[row as usize] == UNSEEN {
                search.run(row, &before);
            }
        }
        search.order
    }

    /// The dependencies of each row.
    fn before(self) -> Before {
        let Order { names, texts, mut targets, ends } = self;
        let mut first: HashMap<u64, u32> = HashMap::with_capacity(names.len());
        let mut last: HashMap<u64, u32> = HashMap::new();
        let mut earlier = vec![UNSEEN; names.len()];
        for (row, name) in names.into_iter().enumerate().filter(|(_, name)| *name != NAMELESS) {
            match first.entry(name) {
                Entry::Vacant(vacant) => {
                    vacant.insert(row as u32);
                }
                Entry::Occupied(occupied) => {
                    earlier[row] = last.insert(name, row as u32).unwrap_or(*occupied.get());
                }
            }
        }
        for (text, row) in texts {
            first.entry(text).or_insert(row);
        }
        for target in &mut targets {
            *target = first.get(target).copied().unwrap_or(UNSEEN).into();
        }
        Before { targets, ends, earlier }
    }
}

struct Before {
    /// Referenced rows, if any.
    targets: Vec<u64>,
    ends: Vec<u32>,
    /// The row of the same record before each row.
    earlier: Vec<u32>,
}

impl Before {
    /// The dependency of a row, by number.
    fn get(&self, row: u32, number: usize) -> Option<u32> {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before as usize]) as usize;
        match number.checked_sub(1) {
            None => Some(self.earlier[row as usize]),
            Some(number) => {
                let end = self.ends[row as usize] as usize;
                self.targets[begin..end].get(number).map(|target| *target as u32)
            }
        }
    }
}

/// Tarjan's search for cycles, which gives out each cycle after all that it refers to; without recursion.
struct Search {
    numbers: Vec<u32>,
    lowest: Vec<u32>,
    is_open: Vec<bool>,
    /// Rows of which it is not known yet whether they are a part of a cycle.
    open: Vec<u32>,
    order: Vec<Next>,
    next: u32,
}

impl Search {
    fn run(&mut self, root: u32, before: &Before) {
        let mut path = vec![(self.enter(root), 0)];
        while let Some((row, number)) = path.last_mut() {
            let row = *row;
            match before.get(row, *number) {
                Some(UNSEEN) => *number += 1,
                Some(other) => {
                    *number += 1;
                    let place = other as usize;
                    if self.numbers[place] == UNSEEN {
                        path.push((self.enter(other), 0));
                    } else if self.is_open[place] {
                        self.lower(row, self.numbers[place]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((outer, _)) = path.last() {
                        self.lower(*outer, self.lowest[row as usize]);
                    }
                    if self.lowest[row as usize] == self.numbers[row as usize] {
                        self.close(row);
                    }
                }
            }
        }
    }

    fn enter(&mut self, row: u32) -> u32 {
        let place = row as usize;
        (self.numbers[place], self.lowest[place], self.is_open[place]) = (self.next, self.next, true);
        self.next += 1;
        self.open.push(row);
        row
    }

    fn lower(&mut self, row: u32, number: u32) {
        let lowest = &mut self.lowest[row as usize];
        *lowest = number.min(*lowest);
    }

    /// Gives out a cycle, or a row that is in none, in the order of the file.
    fn close(&mut self, row: u32) {
        let begin = self.open.iter().rposition(|it| *it == row).unwrap_or_default();
        let mut cycle = self.open.split_off(begin);
        cycle.sort_unstable();
        for (place, row) in cycle.into_iter().enumerate() {
            self.is_open[row as usize] = false;
            self.order.push(Next { row, is_free: place == 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(rows: &[(u64, &[u64])]) -> Vec<(u32, bool)> {
        let mut order = Order::default();
        for (name, targets) in rows {
            order.push((*name != NAMELESS).then_some(*name), &[], targets);
        }
        order.settle().into_iter().map(|next| (next.row, next.is_free)).collect()
    }

    #[test]
    fn a_row_comes_after_those_it_refers_to() {
        let chain = order(&[(1, &[2]), (2, &[3]), (3, &[4]), (0, &[1])]);
        assert_eq!(chain, [(2, true), (1, true), (0, true), (3, true)]);
        assert_eq!(order(&[(1, &[]), (0, &[]), (0, &[9]), (2, &[2])]).len(), 4);
    }

    #[test]
    fn a_row_comes_after_those_whose_text_it_refers_to() {
        let mut order = Order::default();
        order.push(Some(1), &[101], &[102]);
        order.push(None, &[102, 103], &[104]);
        order.push(Some(3), &[104], &[109]);
        order.push(Some(4), &[104], &[]);
        assert_eq!(order.size(), 12);
        let rows: Vec<u32> = order.settle().into_iter().map(|next| next.row).collect();
        assert_eq!(rows, [2, 1, 0, 3]);
    }

    #[test]
    fn a_row_comes_after_those_of_its_record_before_it() {
        let rows = order(&[(1, &[3]), (1, &[]), (2, &[1]), (1, &[]), (3, &[])]);
        assert_eq!(rows, [(4, true), (0, true), (1, true), (2, true), (3, true)]);
    }

    #[test]
    fn rows_in_a_cycle_stand_together_in_the_order_of_the_file() {
        let rows = order(&[(1, &[2]), (9, &[8]), (2, &[3, 9]), (8, &[]), (3, &[1])]);
        assert_eq!(rows, [(3, true), (1, true), (0, true), (2, false), (4, false)]);
    }

    #[test]
    fn a_chain_may_be_as_long_as_the_file() {
        let mut long = Order::default();
        for row in 1..=300_000 {
            long.push(Some(row), &[], &[row + 1]);
        }
        let settled = long.settle();
        assert!(settled.iter().zip((0..300_000).rev()).all(|(next, row)| next.row == row && next.is_free));
    }

    proptest! {
        #[test]
        fn every_row_is_given_out_once_and_after_what_it_refers_to_unless_they_are_in_a_cycle(
            rows in prop::collection::vec((0_u64..9, prop::collection::vec(1_u64..12, 0..3)), 0..40),
        ) {
            let mut it = Order::default();
            for (name, targets) in &rows {
                it.push((*name != NAMELESS).then_some(*name), &[], targets);
            }
            let settled = it.settle();
            let mut sorted: Vec<u32> = settled.iter().map(|next| next.row).collect();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..rows.len() as u32).collect::<Vec<_>>());
            let mut cycle_of = vec![0; rows.len()];
            let mut cycle = 0;
            for next in &settled {
                cycle += usize::from(next.is_free);
                cycle_of[next.row as usize] = cycle;
            }
            for (row, (_, targets)) in rows.iter().enumerate() {
                for target in targets {
                    if let Some(first) = rows.iter().position(|(name, _)| name == target) {
                        prop_assert!(cycle_of[first] <= cycle_of[row]);
                    }
                }
            }
        }
    }
}
