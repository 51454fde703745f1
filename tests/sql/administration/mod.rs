//! Functions for administrators.

mod checksums;
