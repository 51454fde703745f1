//! The byte budget of a request for words. Pure.

use std::cell::Cell;

/// The maximum number of bytes that are read for one substring query, and for a request.
const MAX_OF_LIST: usize = 8 << 20;
const MAX_OF_REQUEST: usize = 64 << 20;

/// The bytes that a request may still read. The bytes of visible records are counted separately, so that the response
/// depends only on visible records.
#[derive(Debug, Default)]
pub struct Budget {
    /// Of all documents, visible or not.
    pub read: Bytes,
    /// Of documents of visible records.
    pub visible: Bytes,
    /// Of records whose spellings are looked up.
    pub spelled: Bytes,
}

/// The number of bytes that may still be read.
#[derive(Debug)]
pub struct Bytes(Cell<usize>);

impl Default for Bytes {
    fn default() -> Self {
        Bytes(Cell::new(MAX_OF_REQUEST))
    }
}

impl Bytes {
    /// The bytes that may be read for one substring query.
    pub fn list(&self) -> List<'_> {
        List { all: self, left: Cell::new(self.maximum()) }
    }

    fn maximum(&self) -> usize {
        self.0.get().min(MAX_OF_LIST)
    }
}

/// The bytes that may be read for one substring query.
#[derive(Debug)]
pub struct List<'a> {
    all: &'a Bytes,
    left: Cell<usize>,
}

impl List<'_> {
    /// Counts a document by its length in memory. Returns whether another one may be read.
    pub fn take(&self, bytes: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(bytes));
        self.all.0.set(self.all.0.get().saturating_sub(bytes));
        !self.is_spent()
    }

    /// Whether the budget is exhausted.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of documents of a length that are read for one substring query.
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
    fn request_reads_no_more_than_its_bytes() {
        let bytes = Bytes::default();
        let lists: Vec<usize> = (0..10).map(|_| read(&bytes, 1 << 20)).collect();
        assert_eq!(lists, [8, 8, 8, 8, 8, 8, 8, 8, 0, 0]);
        assert_eq!(read(&Bytes::default(), 1 << 30), 1, "a document that is longer is read");
    }
}
