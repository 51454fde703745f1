//! Tarjan's algorithm for strongly connected components: each write follows its dependencies, and the writes of a cycle
//! are emitted together. It is iterative, because a chain may be as long as a file.

/// A write that was not visited yet.
const UNVISITED: u32 = u32::MAX;

/// The dependencies of a write, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// This write.
    On(u32),
    /// There is no dependency with this number.
    None,
    /// There is no dependency with this number or a higher one.
    End,
}

/// Calls `emit` for each cycle, and for each write outside of cycles, after its dependencies. The search begins with the
/// writes of `base`; writes without dependencies keep this order. Within a cycle, a write follows its dependencies,
/// except for those through which the search reached it.
pub fn search(
    base: impl IntoIterator<Item = u32>,
    count: usize,
    dependency: impl Fn(u32, usize) -> Dependency,
    emit: impl FnMut(&mut [u32]),
) {
    let mut search = Search {
        numbers: vec![UNVISITED; count],
        lowest: vec![0; count],
        is_open: vec![false; count],
        finished: Vec::new(),
        next: 0,
        dependency,
        emit,
    };
    for write in base {
        if search.numbers[write as usize] == UNVISITED {
            search.run(write);
        }
    }
}

struct Search<D, E> {
    /// The visiting order of each write.
    numbers: Vec<u32>,
    /// The lowest number of an open write that can be reached from each write.
    lowest: Vec<u32>,
    /// Whether a write may still belong to a cycle.
    is_open: Vec<bool>,
    /// Writes whose dependencies were all visited, and whose cycle is not complete.
    finished: Vec<u32>,
    next: u32,
    dependency: D,
    emit: E,
}

/// A write on the path of the search.
struct Step {
    write: u32,
    /// The number of its next dependency.
    next: usize,
    /// The number of writes that were finished when the search reached it.
    finished: usize,
}

impl<D: Fn(u32, usize) -> Dependency, E: FnMut(&mut [u32])> Search<D, E> {
    fn run(&mut self, root: u32) {
        let mut path = vec![self.enter(root)];
        while let Some(step) = path.last_mut() {
            let (write, number) = (step.write, step.next);
            step.next += 1;
            match (self.dependency)(write, number) {
                Dependency::None => {}
                Dependency::On(other) if self.numbers[other as usize] == UNVISITED => {
                    path.push(self.enter(other));
                }
                Dependency::On(other) if self.is_open[other as usize] => {
                    self.lower(write, self.numbers[other as usize]);
                }
                Dependency::On(_) => {}
                Dependency::End => {
                    let finished = step.finished;
                    path.pop();
                    self.finished.push(write);
                    if let Some(outer) = path.last() {
                        self.lower(outer.write, self.lowest[write as usize]);
                    }
                    if self.lowest[write as usize] == self.numbers[write as usize] {
                        self.close(finished);
                    }
                }
            }
        }
    }

    fn enter(&mut self, write: u32) -> Step {
        let place = write as usize;
        (self.numbers[place], self.lowest[place], self.is_open[place]) = (self.next, self.next, true);
        self.next += 1;
        Step { write, next: 0, finished: self.finished.len() }
    }

    fn lower(&mut self, write: u32, number: u32) {
        let lowest = &mut self.lowest[write as usize];
        *lowest = number.min(*lowest);
    }

    /// Emits the writes that were finished from this position on.
    fn close(&mut self, from: usize) {
        for write in &self.finished[from..] {
            self.is_open[*write as usize] = false;
        }
        (self.emit)(&mut self.finished[from..]);
        self.finished.truncate(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cycles(base: &[u32], needs: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        let dependency = |write: u32, number: usize| match needs[write as usize].get(number) {
            Some(other) => Dependency::On(*other),
            None => Dependency::End,
        };
        search(base.iter().copied(), needs.len(), dependency, |cycle| found.push(cycle.to_vec()));
        found
    }

    #[test]
    fn writes_without_dependencies_keep_the_base_order() {
        assert_eq!(cycles(&[2, 0, 1], &[vec![], vec![], vec![]]), [[2], [0], [1]]);
    }

    #[test]
    fn write_follows_its_dependency() {
        assert_eq!(cycles(&[0, 1, 2], &[vec![1], vec![2], vec![]]), [[2], [1], [0]]);
    }

    #[test]
    fn writes_of_a_cycle_come_together_after_its_dependencies() {
        assert_eq!(cycles(&[0, 1], &[vec![1], vec![0]]), [[1, 0]]);
        assert_eq!(cycles(&[0], &[vec![0]]), [[0]]);
        let needs = [vec![2], vec![3], vec![4, 1], vec![], vec![0]];
        assert_eq!(cycles(&[0, 1, 2, 3, 4], &needs), [vec![3], vec![1], vec![4, 2, 0]]);
    }

    proptest! {
        #[test]
        fn each_write_comes_once_and_after_its_dependencies_outside_of_its_cycle(
            edges in prop::collection::vec((0..20_u32, 0..20_u32), 0..60),
            base in Just((0..20).collect::<Vec<u32>>()).prop_shuffle(),
        ) {
            let mut needs = vec![Vec::new(); 20];
            for (from, to) in edges {
                needs[from as usize].push(to);
            }
            let found = cycles(&base, &needs);
            let mut all = found.concat();
            let mut cycle_of = [0; 20];
            for (number, cycle) in found.iter().enumerate() {
                cycle.iter().for_each(|write| cycle_of[*write as usize] = number);
            }
            for (write, needs) in needs.iter().enumerate() {
                prop_assert!(needs.iter().all(|other| cycle_of[*other as usize] <= cycle_of[write]));
            }
            // Writes of a cycle reach each other, and no others reach each other.
            let reaches = |from: u32, to: u32| {
                let (mut open, mut seen) = (vec![from], vec![false; 20]);
                while let Some(write) = open.pop() {
                    if std::mem::replace(&mut seen[write as usize], true) {
                        continue;
                    }
                    open.extend(&needs[write as usize]);
                }
                seen[to as usize]
            };
            for (one, other) in (0..20_u32).flat_map(|one| (0..20_u32).map(move |other| (one, other))) {
                let is_cycle = reaches(one, other) && reaches(other, one);
                prop_assert_eq!(cycle_of[one as usize] == cycle_of[other as usize], is_cycle);
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..20).collect::<Vec<_>>());
        }
    }
}
