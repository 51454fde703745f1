//! PostgreSQL's full-text search: the lexemes of a string under a configuration.

use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CString;

/// The text search configuration with this name, or `simple` if it was dropped.
pub fn configuration(name: &str) -> Oid {
    find(name).or_else(|| find("simple")).unwrap_or(Oid::INVALID)
}

fn find(name: &str) -> Option<Oid> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is NUL-terminated; a missing configuration yields InvalidOid. The first column of the catalog is
    // its OID.
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

/// Passes the lexemes of a string to `take`, as `to_tsvector` finds them, without positions. A lexeme can occur repeatedly.
pub fn lexemes(configuration: Oid, text: &str, mut take: impl FnMut(&str)) {
    // An estimate of six bytes for each word. The parser enlarges the array if needed.
    let capacity = (text.len() / 6).max(2);
    // SAFETY: the array has the stated capacity, and the parser reallocates it. The parser reads only `length` bytes, and
    // returns `curwords` words in the database encoding, which is UTF-8. The array and each word are separate allocations.
    unsafe {
        let mut parsed = pg_sys::ParsedText {
            words: pg_sys::palloc(capacity * size_of::<pg_sys::ParsedWord>()).cast(),
            lenwords: capacity as i32,
            curwords: 0,
            pos: 0,
        };
        // The parser takes a mutable pointer but does not change the text.
        pg_sys::parsetext(configuration, &mut parsed, text.as_ptr().cast_mut().cast(), text.len() as i32);
        for word in std::slice::from_raw_parts(parsed.words, parsed.curwords as usize) {
            let bytes = std::slice::from_raw_parts(word.word.cast::<u8>(), usize::from(word.len));
            take(std::str::from_utf8_unchecked(bytes));
            pg_sys::pfree(word.word.cast());
        }
        pg_sys::pfree(parsed.words.cast());
    }
}
