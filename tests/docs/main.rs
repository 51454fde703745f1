//! The documentation does what it says: its blocks are run, its tables are held against the code.

mod errors;
mod page;
mod quickstart;
mod reader;
