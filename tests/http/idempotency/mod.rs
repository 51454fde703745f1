//! The header Idempotency-Key.

mod capacity;
mod replays;
