//! How large things may be. A superuser sets these for a server, a database or a role
//! (`ALTER DATABASE … SET keyed.max_text_size = '4MB'`); each is a setting of PostgreSQL, registered in
//! [`crate::postgres::setting`].

use pgrx::guc::GucSetting;

/// `keyed.max_operations_per_batch`.
pub static OPERATIONS_PER_BATCH: GucSetting<i32> = GucSetting::<i32>::new(1000);

/// `keyed.max_attributes_per_template`.
pub static ATTRIBUTES_PER_TEMPLATE: GucSetting<i32> = GucSetting::<i32>::new(500);

/// `keyed.max_text_size`, in kB.
pub static TEXT_SIZE: GucSetting<i32> = GucSetting::<i32>::new(1024);

/// How many operations a batch may have.
pub fn operations_per_batch() -> usize {
    at_least_none(OPERATIONS_PER_BATCH.get())
}

/// How many attributes a template may have.
pub fn attributes_per_template() -> usize {
    at_least_none(ATTRIBUTES_PER_TEMPLATE.get())
}

/// How many bytes a text, or all texts of a list together, may have.
pub fn text_bytes() -> usize {
    at_least_none(TEXT_SIZE.get()) << 10
}

fn at_least_none(setting: i32) -> usize {
    usize::try_from(setting).unwrap_or_default()
}
