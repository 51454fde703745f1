//! Random bits from the operating system's generator.

use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use pgrx::pg_sys;
use std::cell::RefCell;

thread_local! {
    /// Random words not yet given out: asking the operating system for each would cost more than making an id.
    /// A session never forks, so no two sessions can hold the same ones.
    static RANDOM: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// 64 random bits from the operating system's generator.
pub fn next_u64() -> u64 {
    RANDOM.with_borrow_mut(|words| {
        if words.is_empty() {
            let mut bytes = [0u8; 512];
            fill(&mut bytes);
            words.extend(
                bytes
                    .chunks_exact(8)
                    .map(|chunk| chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))),
            );
        }
        words.pop().unwrap_or_default()
    })
}

/// Fills `bytes` from the operating system's generator; PostgreSQL's own wrapper is safe across fork.
pub fn fill(bytes: &mut [u8]) {
    // SAFETY: the pointer and the length are of one slice.
    let filled = unsafe { pg_sys::pg_strong_random(bytes.as_mut_ptr().cast(), bytes.len()) };
    if !filled {
        Error::new(Code::Internal, "the operating system returned no random bytes").raise();
    }
}
