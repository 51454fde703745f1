//! PostgreSQL's own text search: the lexemes that a configuration makes of a text.

use super::datum;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CString;

/// The text-search configuration of this name; of `simple` where it is gone.
pub fn configuration(name: &str) -> Oid {
    find(name).or_else(|| find("simple")).unwrap_or(Oid::INVALID)
}

fn find(name: &str) -> Option<Oid> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is NUL-terminated; what is missing yields InvalidOid. The first column of the catalog is its oid.
    let configuration = unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::TSCONFIGNAMENSP as i32,
            1,
            Datum::from(name.as_ptr()),
            Datum::from(pg_sys::PG_CATALOG_NAMESPACE as usize),
            Datum::from(0usize),
            Datum::from(0usize),
        )
    };
    (configuration != Oid::INVALID).then_some(configuration)
}

/// What the configuration makes of a text, as `to_tsvector` does, without the places.
pub fn lexemes(configuration: Oid, text: &str) -> Vec<String> {
    super::in_scratch_memory(|| {
        let arguments = [Some(Datum::from(configuration)), datum::text(text)];
        // SAFETY: both functions take what they are given and need nothing of the call but its arguments.
        let array = unsafe {
            let vector = pgrx::direct_function_call_as_datum(pg_sys::to_tsvector_byid, &arguments);
            pgrx::direct_function_call_as_datum(pg_sys::tsvector_to_array, &[vector])
        };
        array.and_then(datum::read_text_array).unwrap_or_default()
    })
}
