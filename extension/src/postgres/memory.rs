//! Memory contexts: where PostgreSQL allocates, and which of our own are freed.
//!
//! An error unwinds with the memory context in which it arose as the current one. Code that frees a context during
//! unwinding must not have it current: a guard switches back, and is declared after the value that frees the context,
//! because values are dropped in reverse order.

use pgrx::pg_sys::{self, MemoryContext};
use std::ffi::CStr;

/// Memory that is current until this is dropped, also when an error unwinds; then what was current before is again.
pub(super) struct Current {
    before: MemoryContext,
}

impl Current {
    /// Allocates from here on from this memory.
    ///
    /// # Safety
    /// The memory outlives the guard, and what is current now does, too.
    pub(super) unsafe fn switch_to(memory: MemoryContext) -> Current {
        // SAFETY: the caller's.
        Current { before: unsafe { pg_sys::MemoryContextSwitchTo(memory) } }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        // SAFETY: it was current when the guard was made, and lives on.
        unsafe { pg_sys::MemoryContextSwitchTo(self.before) };
    }
}

/// Memory of our own, freed when this is dropped, and with it whatever was made below it.
pub(super) struct Owned(MemoryContext);

impl Owned {
    /// Memory below another, at whose end it must have been freed.
    pub(super) fn below(parent: MemoryContext, name: &'static CStr) -> Owned {
        // SAFETY: the name stays, as PostgreSQL asks for.
        Owned(unsafe {
            pg_sys::AllocSetContextCreateExtended(
                parent,
                name.as_ptr(),
                pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            )
        })
    }

    /// As PostgreSQL knows it.
    pub(super) fn context(&self) -> MemoryContext {
        self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it was made by `below`, and nothing of it is in use any more: see the head of this file.
        unsafe { pg_sys::MemoryContextDelete(self.0) };
    }
}

/// Runs `body` with memory of its own, which is freed at its end. What it gives back must be Rust's own.
pub fn in_scratch<R: 'static>(body: impl FnOnce() -> R) -> R {
    // SAFETY: reads a variable of the session.
    let scratch = Owned::below(unsafe { pg_sys::CurrentMemoryContext }, c"keyed scratch");
    // SAFETY: the scratch was made before, so it is dropped after. Nothing that PostgreSQL allocated can be part of the
    // result of this type, unless as an address.
    let _current = unsafe { Current::switch_to(scratch.context()) };
    body()
}
