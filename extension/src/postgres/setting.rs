//! Configuration parameters: limits and cache sizes.

use super::renamed_setting::{self, IDEMPOTENCY_SIZE, INBOUND_LOG_SIZE};
use super::superuser_setting::{self, Number, check_number};
use super::{direct_access, policy_paths};
use crate::limits;
use pgrx::pg_sys;
use std::ffi::CStr;
use std::sync::atomic::{AtomicI32, Ordering};

/// The maximum size of the stored responses of an API key, in MB.
static MAX_IDEMPOTENCY_SIZE: AtomicI32 = AtomicI32::new(1024);

/// The maximum size of the failed deliveries of an inbound endpoint, and of the payloads of successful ones, in MB.
static MAX_INBOUND_LOG_SIZE: AtomicI32 = AtomicI32::new(256);

/// The maximum size of a session's template cache, in MB.
static SESSION_MEMORY: AtomicI32 = AtomicI32::new(32);

/// The number of records that a search samples to choose an access path.
static SAMPLE_SIZE: AtomicI32 = AtomicI32::new(200);

/// Registers the settings; called once when the library is loaded.
pub fn register() {
    let size = |name, variable, summary, details| {
        let (range, flags) = ((1, 1 << 30), pg_sys::GUC_UNIT_MB);
        Number { name, variable, range, flags, summary, details, check: check_number, assign: None }.define();
    };
    size(
        c"keyed.max_idempotency_size",
        &MAX_IDEMPOTENCY_SIZE,
        c"Maximum size of the stored responses of an API key.",
        c"Beyond it, requests with a new Idempotency-Key are rejected until stored responses expire after a day.",
    );
    size(
        c"keyed.session_memory",
        &SESSION_MEMORY,
        c"Maximum memory of a session for cached templates: definitions, statements, conditions.",
        c"Beyond it, the least recently used entries are evicted.",
    );
    size(
        c"keyed.max_inbound_log_size",
        &MAX_INBOUND_LOG_SIZE,
        c"Maximum size of the failed deliveries of an inbound endpoint, and separately of the payloads of \
        successful ones.",
        c"Beyond it, a delivery that fails is not stored, and the oldest payloads of successful ones are deleted.",
    );
    renamed_setting::register();
    register_limits();
    direct_access::register();
    policy_paths::register_setting();
}

/// Called once after all settings are registered.
pub fn finish() {
    superuser_setting::finish();
}

/// Registers the limits.
fn register_limits() {
    let limit = |name: &'static CStr,
                 variable: &'static AtomicI32,
                 maximum,
                 flags: u32,
                 summary: &'static CStr,
                 details: &'static CStr| {
        Number {
            name,
            variable,
            range: (1, maximum),
            flags,
            summary,
            details,
            check: check_number,
            assign: None,
        }
        .define();
    };
    limit(
        c"keyed.max_operations_per_batch",
        &limits::OPERATIONS_PER_BATCH,
        10_000,
        0,
        c"Maximum number of operations of a batch.",
        c"A batch holds its locks until its end, so several small batches block others less than a large one.",
    );
    limit(
        c"keyed.max_attributes_per_template",
        &limits::ATTRIBUTES_PER_TEMPLATE,
        // PostgreSQL allows 1600 columns in a table, including dropped ones.
        1500,
        0,
        c"Maximum number of attributes of a template.",
        c"A row must fit in a page of 8 kB; a long value takes 18 bytes of it.",
    );
    limit(
        c"keyed.max_text_size",
        &limits::TEXT_SIZE,
        16 << 10,
        pg_sys::GUC_UNIT_KB,
        c"Maximum size of a text, or of all texts of a list.",
        c"Each text is stored twice: as it is, and in the search document.",
    );
    limit(
        c"keyed.sample_size",
        &SAMPLE_SIZE,
        1 << 20,
        // For tests, which have few records.
        pg_sys::GUC_NO_SHOW_ALL | pg_sys::GUC_NOT_IN_SAMPLE,
        c"Number of records that a search samples before it chooses between the index of its order and those of its \
        conditions.",
        c"For tests and diagnosis: changes no result.",
    );
}

/// The number of records that a search samples to choose an access path.
pub fn sample_size() -> u64 {
    SAMPLE_SIZE.load(Ordering::Relaxed).unsigned_abs().into()
}

/// The maximum size of the stored responses of an API key, in bytes.
pub fn max_idempotency_size() -> i64 {
    i64::from(IDEMPOTENCY_SIZE.or_new(MAX_IDEMPOTENCY_SIZE.load(Ordering::Relaxed))) << 20
}

/// The maximum size of the failed deliveries of an endpoint, and of the payloads of successful ones, in bytes.
pub fn max_inbound_log_size() -> i64 {
    i64::from(INBOUND_LOG_SIZE.or_new(MAX_INBOUND_LOG_SIZE.load(Ordering::Relaxed))) << 20
}

/// The maximum size of a session's template cache, in bytes.
pub fn session_memory() -> usize {
    usize::try_from(SESSION_MEMORY.load(Ordering::Relaxed)).unwrap_or(1) << 20
}

/// Sets a setting, also a superuser-only one, until the transaction ends.
pub fn set_until_commit(name: &CStr, value: &CStr) {
    // SAFETY: both strings are NUL-terminated and copied. GUC_ACTION_LOCAL reverts the change at the end of the transaction.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_LOCAL,
            true,
            0,
            false,
        );
    }
}
