//! POST /entities/template/{template}/import.

mod chains;
mod faults;
pub(crate) mod files;
