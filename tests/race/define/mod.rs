//! Definitions that change while others use them.

mod alter;
mod creation;
mod enforcement;
mod isolation;
mod migration;
mod revocation;
mod scope_change;
