//! A login of a report, with read access to one region and every trick of SQL: never a row more.

mod identity;
mod leaks;
mod owner;
mod plans;
mod planted;
mod reach;
mod replaced;
mod scoped;
mod settings;
mod switched;
