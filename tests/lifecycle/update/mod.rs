//! Versions of library, extension and proxy that meet.

mod library;
mod proxy;
