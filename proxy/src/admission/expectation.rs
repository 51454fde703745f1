//! How large the next responses of a key may be, by its earlier ones. Pure.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Responses up to this size do not count.
pub(super) const SMALL: usize = 64 << 10;

/// What a read is expected to return before anything is known of its key's.
const FIRST: usize = 4 << 20;

/// What a response is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseKind {
    /// A read of one record.
    Lookup,
    Read,
    /// A write, which is done when its response comes.
    Write,
}

/// The expected size of the next response of each kind, in bytes.
pub(super) struct Expectations([AtomicUsize; 3]);

impl Default for Expectations {
    fn default() -> Expectations {
        Expectations([0, FIRST, 0].map(AtomicUsize::new))
    }
}

impl Expectations {
    pub(super) fn next(&self, kind: ResponseKind) -> usize {
        self.of(kind).load(Ordering::Relaxed)
    }

    /// Whether the next response is expected not to count.
    pub(super) fn is_small(&self, kind: ResponseKind) -> bool {
        self.next(kind) <= SMALL
    }

    /// A response had this many bytes. The expectation rises at once, and falls slowly.
    pub(super) fn learn(&self, kind: ResponseKind, bytes: usize) {
        let before = self.next(kind);
        self.of(kind).store(bytes.max(before - before / 8), Ordering::Relaxed);
    }

    /// There was no capacity for the expected size. It falls, so that a key is admitted after some errors: a small response
    /// does not wait for the capacity of a large one for ever.
    pub(super) fn doubt(&self, kind: ResponseKind) {
        let before = self.next(kind);
        self.of(kind).store(before - before / 4, Ordering::Relaxed);
    }

    fn of(&self, kind: ResponseKind) -> &AtomicUsize {
        &self.0[kind as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::ResponseKind::{Read, Write};
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn expected_size_rises_at_once_and_falls_slowly() {
        let expected = Expectations::default();
        expected.learn(Read, 8 * MIB);
        assert_eq!((expected.next(Read), expected.next(Write)), (8 * MIB, 0));
        expected.learn(Read, 100);
        assert_eq!(expected.next(Read), 7 * MIB);
        for _ in 0..200 {
            expected.learn(Read, 100);
        }
        assert_eq!(expected.next(Read), 100);
    }

    #[test]
    fn repeated_rejections_lower_the_expected_size() {
        let expected = Expectations::default();
        expected.learn(Read, 512 * MIB);
        let refusals = (0..100).take_while(|_| {
            expected.doubt(Read);
            !expected.is_small(Read)
        });
        assert_eq!(refusals.count(), 31);
    }
}
