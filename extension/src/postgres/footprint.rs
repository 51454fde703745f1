//! The memory of cached values.

use super::spi::Plan;
use pgrx::pg_sys;

/// What PostgreSQL allocated in a context and those below it.
///
/// # Safety
/// The context exists.
pub(super) unsafe fn allocated(context: pg_sys::MemoryContext) -> usize {
    // SAFETY: the caller's.
    unsafe { pg_sys::MemoryContextMemAllocated(context, true) as usize }
}

impl Plan {
    /// What the statement takes: its text, how it was understood, and how it is carried out. Before it has run, the last is
    /// taken to be as much as the second: one that runs only once is never measured again.
    pub fn bytes(&self) -> usize {
        // SAFETY: the plan is kept, so its sources and their contexts live as long as it does.
        unsafe {
            let sources = pg_sys::SPI_plan_get_plan_sources(self.pointer());
            (0..pg_sys::list_length(sources))
                .map(|number| {
                    let source = pg_sys::list_nth(sources, number).cast::<pg_sys::CachedPlanSource>();
                    let (plan, query) = ((*source).gplan, (*source).query_context);
                    let planned = if plan.is_null() { query } else { (*plan).context };
                    allocated((*source).context) + if planned.is_null() { 0 } else { allocated(planned) }
                })
                .sum()
        }
    }
}
