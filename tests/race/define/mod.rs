//! Definitions that change while others use them.

mod alter;
mod creation;
mod enforcement;
mod revocation;
mod scope_change;
