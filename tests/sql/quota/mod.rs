//! Quotas: what counts, and what a full one refuses.

mod days;
mod maximum;
