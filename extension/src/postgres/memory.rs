//! Memory contexts, and guards that switch to them and free them.
//!
//! During unwinding, the current memory context is the one in which the error was raised. The current context must not be
//! freed. So declare the guard that switches back after the owner of the context: values are dropped in reverse order.

use pgrx::pg_sys::{self, MemoryContext};
use std::ffi::CStr;

/// Makes a memory context current. Dropping this, also during unwinding, restores the previous one.
pub(super) struct Current {
    before: MemoryContext,
}

impl Current {
    /// Switches to a memory context.
    ///
    /// # Safety
    /// This context and the current one outlive the guard.
    pub(super) unsafe fn switch_to(memory: MemoryContext) -> Current {
        // SAFETY: the caller's.
        Current { before: unsafe { pg_sys::MemoryContextSwitchTo(memory) } }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        // SAFETY: it was current when the guard was created, and still exists.
        unsafe { pg_sys::MemoryContextSwitchTo(self.before) };
    }
}

/// An owned memory context. Dropping this deletes it with its children.
pub(super) struct Owned(MemoryContext);

impl Owned {
    /// Creates a child of a memory context. The child must be dropped before its parent ends.
    pub(super) fn below(parent: MemoryContext, name: &'static CStr) -> Owned {
        // SAFETY: the name is static, as PostgreSQL requires.
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

    pub(super) fn context(&self) -> MemoryContext {
        self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `below` created it, and it is not in use: see the module comment.
        unsafe { pg_sys::MemoryContextDelete(self.0) };
    }
}

/// Runs `body` in a temporary memory context. The result must be allocated by Rust.
pub fn in_scratch<R: 'static>(body: impl FnOnce() -> R) -> R {
    // SAFETY: reads a session variable.
    let scratch = Owned::below(unsafe { pg_sys::CurrentMemoryContext }, c"keyed scratch");
    // SAFETY: `scratch` is declared before the guard, so it is dropped after it. A `'static` result cannot borrow from the
    // context.
    let _current = unsafe { Current::switch_to(scratch.context()) };
    body()
}

/// The memory that is allocated in a context and its children.
///
/// # Safety
/// The context exists.
pub(super) unsafe fn allocated(context: MemoryContext) -> usize {
    // SAFETY: the caller's.
    unsafe { pg_sys::MemoryContextMemAllocated(context, true) as usize }
}
