//! Random bits from the operating system.

use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use pgrx::pg_sys;
use std::cell::RefCell;

thread_local! {
    /// Buffered random words: a system call for each would cost more than the rest of an id. A session never forks, so no two
    /// sessions share them.
    static RANDOM: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// 64 random bits.
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

/// Fills `bytes` with random bits.
pub fn fill(bytes: &mut [u8]) {
    // SAFETY: pointer and length belong to one slice.
    let filled = unsafe { pg_sys::pg_strong_random(bytes.as_mut_ptr().cast(), bytes.len()) };
    if !filled {
        Error::new(Code::Internal, "the operating system returned no random bytes").raise();
    }
}
