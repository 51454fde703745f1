//! The order of writes that reference each other. A write is an operation of a batch, or a row of a file: in a chunk
//! that the extension imports, or among the rows that the proxy holds back until their targets exist. Pure.

pub mod cycles;
pub mod dependents;
pub mod record_filter;
pub mod rows;
