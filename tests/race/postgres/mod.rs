//! Errors that another session causes in the middle of a call.

mod guard;
