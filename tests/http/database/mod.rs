//! Connections to the database.

mod shared;
