//! The documentation is correct: its code blocks are run, and its tables are compared with the code.

mod links;
mod monitoring;
mod output;
mod page;
mod pages;
mod reference;
mod service;
