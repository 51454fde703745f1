//! A reporting login with read access to one region tries every feature of SQL, and never gets another row.

mod identity;
mod leaks;
mod owner;
mod plans;
mod reach;
mod replaced;
mod role_change;
mod scoped;
mod settings;
mod shadowing;
