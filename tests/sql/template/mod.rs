//! The template cache of a session.

mod sessions;
