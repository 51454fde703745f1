//! The documentation does what it says: its blocks are run, its tables are held against the code.

mod links;
mod monitoring;
mod output;
mod page;
mod pages;
mod reference;
mod service;
