//! TLS of the listener and of the connections to the database.

mod database;
mod listener;
