//! Changes of definitions that are in use.

mod alter;
mod creation;
mod enforcement;
mod isolation;
mod migration;
mod revocation;
mod scope_change;
