//! Predicts the size of a key's next response from its earlier ones. Pure.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Responses up to this size do not count towards the memory limit.
pub(super) const SMALL: usize = 64 << 10;

/// The expected size of the first read of a key.
const FIRST: usize = 4 << 20;

/// The kind of statement that a response belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseKind {
    /// A read of one record.
    Lookup,
    Read,
    /// A write, which is completed when its response arrives.
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

    /// Whether the next response is expected to be small.
    pub(super) fn is_small(&self, kind: ResponseKind) -> bool {
        self.next(kind) <= SMALL
    }

    /// Records the size of a response. The expectation rises immediately, and falls slowly.
    pub(super) fn record(&self, kind: ResponseKind, bytes: usize) {
        let before = self.next(kind);
        self.of(kind).store(bytes.max(before - before / 8), Ordering::Relaxed);
    }

    /// Lowers the expectation after there was no capacity for it. Otherwise, a key whose responses have become small
    /// could be rejected forever.
    pub(super) fn lower(&self, kind: ResponseKind) {
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
        expected.record(Read, 8 * MIB);
        assert_eq!((expected.next(Read), expected.next(Write)), (8 * MIB, 0));
        expected.record(Read, 100);
        assert_eq!(expected.next(Read), 7 * MIB);
        for _ in 0..200 {
            expected.record(Read, 100);
        }
        assert_eq!(expected.next(Read), 100);
    }

    #[test]
    fn repeated_rejections_lower_the_expected_size() {
        let expected = Expectations::default();
        expected.record(Read, 512 * MIB);
        let rejections = (0..100).take_while(|_| {
            expected.lower(Read);
            !expected.is_small(Read)
        });
        assert_eq!(rejections.count(), 31);
    }
}
