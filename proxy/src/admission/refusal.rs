//! The responses to exceeded limits.

use crate::problem::{Excess, Problem};

pub(super) fn too_many_requests(excess: Excess) -> Problem {
    Problem::rate_limited("this API key has sent too many requests", "KEYED_KEY_RATE", excess)
}

pub(super) fn too_many_failures(excess: Excess) -> Problem {
    Problem::rate_limited(
        "too many requests with a wrong key came from this address",
        "KEYED_AUTH_FAILURES",
        excess,
    )
}

pub(super) fn too_many_at_once(limit: usize, detail: &'static str, setting: &'static str) -> Problem {
    Problem::rate_limited(detail, setting, Excess::at_once(limit))
}
