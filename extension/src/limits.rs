//! Limits. Each is a PostgreSQL setting that superusers can change (`ALTER DATABASE … SET keyed.max_text_size = '4MB'`),
//! registered in [`crate::postgres::setting`].

use std::sync::atomic::{AtomicI32, Ordering};

/// `keyed.max_operations_per_batch`.
pub static OPERATIONS_PER_BATCH: AtomicI32 = AtomicI32::new(1000);

/// `keyed.max_attributes_per_template`.
pub static ATTRIBUTES_PER_TEMPLATE: AtomicI32 = AtomicI32::new(500);

/// `keyed.max_text_size`, in kB.
pub static TEXT_SIZE: AtomicI32 = AtomicI32::new(1024);

/// The maximum number of operations of a batch.
pub fn operations_per_batch() -> usize {
    value(&OPERATIONS_PER_BATCH)
}

/// The maximum number of attributes of a template.
pub fn attributes_per_template() -> usize {
    value(&ATTRIBUTES_PER_TEMPLATE)
}

/// The maximum size of a string, or of all strings of a list, in bytes.
pub fn text_bytes() -> usize {
    value(&TEXT_SIZE) << 10
}

fn value(setting: &AtomicI32) -> usize {
    usize::try_from(setting.load(Ordering::Relaxed)).unwrap_or_default()
}
