//! How much of documents a request reads for words: pure.

use std::cell::Cell;

/// So many bytes of documents are read for one list of texts, and for all of a request.
const MOST_OF_LIST: usize = 8 << 20;
const MOST_OF_REQUEST: usize = 64 << 20;

/// The bytes that a request may still read. Those of records in sight are counted by themselves, so that what is answered
/// depends on these alone.
#[derive(Debug, Default)]
pub struct Budget {
    /// Of all documents that are read, whether the caller sees their records or not.
    pub looked_at: Bytes,
    /// Of documents of records that the caller sees.
    pub in_sight: Bytes,
    /// Of texts in which spellings are looked up.
    pub spelled: Bytes,
}

/// A number of bytes that may still be read.
#[derive(Debug)]
pub struct Bytes(Cell<usize>);

impl Default for Bytes {
    fn default() -> Self {
        Bytes(Cell::new(MOST_OF_REQUEST))
    }
}

impl Bytes {
    /// What may be read for one list of texts.
    pub fn list(&self) -> List<'_> {
        List { all: self, left: Cell::new(self.most()) }
    }

    /// Takes as many bytes as a list has, unless it would end before.
    pub fn take_all(&self, bytes: usize) -> bool {
        let fits = bytes < self.most();
        if fits {
            self.0.set(self.0.get() - bytes);
        }
        fits
    }

    fn most(&self) -> usize {
        self.0.get().min(MOST_OF_LIST)
    }
}

/// What may be read for one list of texts.
#[derive(Debug)]
pub struct List<'a> {
    all: &'a Bytes,
    left: Cell<usize>,
}

impl List<'_> {
    /// Counts a document, as long as it is in memory, not where it is stored. Tells whether another may be read.
    pub fn take(&self, bytes: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(bytes));
        self.all.0.set(self.all.0.get().saturating_sub(bytes));
        !self.is_spent()
    }

    /// Whether nothing more may be read.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many documents of a length are read for a list.
    fn read(bytes: &Bytes, length: usize) -> usize {
        let list = bytes.list();
        let mut documents = 0;
        while !list.is_spent() {
            list.take(length);
            documents += 1;
        }
        documents
    }

    #[test]
    fn a_request_reads_no_more_than_its_bytes() {
        let bytes = Bytes::default();
        let lists: Vec<usize> = (0..10).map(|_| read(&bytes, 1 << 20)).collect();
        assert_eq!(lists, [8, 8, 8, 8, 8, 8, 8, 8, 0, 0]);
        assert_eq!(read(&Bytes::default(), 1 << 30), 1, "a document that is longer is read");
    }

    #[test]
    fn what_was_read_another_way_counts_as_much() {
        for length in [MOST_OF_LIST / 2 - 1, MOST_OF_LIST / 2, MOST_OF_LIST] {
            let (one, other) = (Bytes::default(), Bytes::default());
            let list = one.list();
            let is_whole = [length, length].map(|length| list.take(length))[1];
            assert_eq!(other.take_all(2 * length), is_whole, "{length}");
            assert!(!is_whole || one.0 == other.0);
        }
    }
}
