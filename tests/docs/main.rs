//! The documentation does what it says: its blocks are run, its tables are held against the code.

mod answer;
mod links;
mod monitoring;
mod page;
mod pages;
mod reference;
mod service;
