//! Writes that fail with others: a write cannot happen if no other write creates the record that it references.

use std::collections::HashMap;
use std::hash::Hash;

/// A reference of a write, by the positions of the write and of the attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The write.
    pub write: usize,
    /// The attribute.
    pub attribute: usize,
}

/// The writes of each record, and the references to it.
pub struct Dependents<R> {
    writers: HashMap<R, usize>,
    references: HashMap<R, Vec<Reference>>,
}

impl<R> Default for Dependents<R> {
    fn default() -> Dependents<R> {
        Dependents { writers: HashMap::new(), references: HashMap::new() }
    }
}

impl<R: Eq + Hash> Dependents<R> {
    /// Adds a write of a record.
    pub fn add_writer(&mut self, record: R) {
        *self.writers.entry(record).or_default() += 1;
    }

    /// Adds the only relevant write of a record.
    pub fn set_writer(&mut self, record: R) {
        self.writers.insert(record, 1);
    }

    /// Whether a write writes the record.
    pub fn is_written(&self, record: &R) -> bool {
        self.writers.contains_key(record)
    }

    /// Adds a reference to a record.
    pub fn add_reference(&mut self, record: R, reference: Reference) {
        self.references.entry(record).or_default().push(reference);
    }

    /// Propagates lost writes: calls `lose` for each reference whose record is lost with its last write. If `lose`
    /// returns that the referencing write is lost for the first time, propagates that one too.
    pub fn follow<I: IntoIterator<Item = R>>(
        mut self,
        mut lost: Vec<usize>,
        records: impl Fn(usize) -> I,
        mut lose: impl FnMut(Reference, &R) -> bool,
    ) {
        while let Some(write) = lost.pop() {
            for record in records(write) {
                let Some(writers) = self.writers.get_mut(&record) else { continue };
                *writers = writers.saturating_sub(1);
                if *writers == 0 {
                    let references = self.references.remove(&record).unwrap_or_default();
                    let references = references.into_iter().filter(|it| lose(*it, &record));
                    lost.extend(references.map(|it| it.write));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The writes that are lost with this one. Each write creates the record with its number, and references
    /// others.
    fn lost_with(lost: usize, writes: &[(&str, &[&str])]) -> Vec<usize> {
        let mut dependents = Dependents::default();
        for (write, (record, targets)) in writes.iter().enumerate() {
            dependents.add_writer(*record);
            for (attribute, target) in targets.iter().enumerate() {
                dependents.add_reference(*target, Reference { write, attribute });
            }
        }
        let mut all = vec![lost];
        dependents.follow(
            vec![lost],
            |write| [writes[write].0],
            |reference, _| {
                let is_new = !all.contains(&reference.write);
                if is_new {
                    all.push(reference.write);
                }
                is_new
            },
        );
        all.sort_unstable();
        all
    }

    #[test]
    fn dependents_are_lost_directly_and_through_others() {
        let writes: [(&str, &[&str]); 5] =
            [("a", &["b"]), ("b", &["c"]), ("c", &[]), ("d", &["e", "c"]), ("e", &[])];
        assert_eq!(lost_with(2, &writes), [0, 1, 2, 3]);
        assert_eq!(lost_with(4, &writes), [3, 4]);
        assert_eq!(lost_with(0, &writes), [0]);
    }

    #[test]
    fn all_writes_of_a_cycle_are_lost() {
        assert_eq!(lost_with(1, &[("a", &["b"]), ("b", &["c"]), ("c", &["a"])]), [0, 1, 2]);
    }

    #[test]
    fn record_with_another_write_is_not_lost() {
        assert_eq!(lost_with(0, &[("a", &[]), ("a", &[]), ("b", &["a"])]), [0]);
    }
}
