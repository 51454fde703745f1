//! The errors for exceeded limits.

use crate::problem::{Excess, Problem, Reason};

pub(super) fn too_many_requests(excess: Excess) -> Problem {
    let detail = "this API key has sent too many requests";
    Problem::rate_limited(Reason::KeyRate, detail, "KEYED_KEY_RATE", excess)
}

pub(super) fn too_many_failures(excess: Excess) -> Problem {
    Problem::rate_limited(
        Reason::AuthFailures,
        "this address has sent too many requests with an invalid key",
        "KEYED_AUTH_FAILURES",
        excess,
    )
}

pub(super) fn too_many_lookups() -> Problem {
    Problem::unavailable("too many unknown keys are being verified", "no permit for a key lookup".to_owned())
        .with_reason(Reason::KeyLookups)
}

pub(super) fn response_memory_exhausted() -> Problem {
    Problem::unavailable(
        "the responses in flight have reached the memory limit",
        "KEYED_RESPONSE_BUDGET is used up".to_owned(),
    )
    .with_reason(Reason::ResponseBudget)
    .with_hint(
        "Read the responses, request fewer records at a time, or retry after the seconds in Retry-After.",
    )
}

pub(super) fn too_many_concurrent(
    reason: Reason,
    limit: usize,
    detail: &'static str,
    setting: &'static str,
) -> Problem {
    Problem::rate_limited(reason, detail, setting, Excess::of_concurrent(limit))
}
