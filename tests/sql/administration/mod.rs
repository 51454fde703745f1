//! What administrators do.

mod checksums;
