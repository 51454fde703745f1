//! The feed of changes beside writers.

mod mirror;
