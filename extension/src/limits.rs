//! Limits. A superuser sets these for a server, a database or a role (`ALTER DATABASE … SET keyed.max_text_size =
//! '4MB'`); each is a setting of PostgreSQL, registered in [`crate::postgres::setting`].

use std::sync::atomic::{AtomicI32, Ordering};

/// `keyed.max_operations_per_batch`.
pub static OPERATIONS_PER_BATCH: AtomicI32 = AtomicI32::new(1000);

/// `keyed.max_attributes_per_template`.
pub static ATTRIBUTES_PER_TEMPLATE: AtomicI32 = AtomicI32::new(500);

/// `keyed.max_text_size`, in kB.
pub static TEXT_SIZE: AtomicI32 = AtomicI32::new(1024);

/// How many operations a batch may have.
pub fn operations_per_batch() -> usize {
    value(&OPERATIONS_PER_BATCH)
}

/// How many attributes a template may have.
pub fn attributes_per_template() -> usize {
    value(&ATTRIBUTES_PER_TEMPLATE)
}

/// How many bytes a text, or all texts of a list together, may have.
pub fn text_bytes() -> usize {
    value(&TEXT_SIZE) << 10
}

fn value(setting: &AtomicI32) -> usize {
    usize::try_from(setting.load(Ordering::Relaxed)).unwrap_or_default()
}
