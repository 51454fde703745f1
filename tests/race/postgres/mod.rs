//! Errors and waits that other sessions cause in the middle of a call.

mod guard;
mod table_lock;
