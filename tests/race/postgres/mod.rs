//! Errors and waits that other sessions cause during a call.

mod guard;
mod table_lock;
