//! PostgreSQL's own text search: the lexemes that a configuration makes of a text.

use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CString;

/// The text-search configuration with this name; `simple` if it was dropped.
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

/// What the configuration makes of a text, as `to_tsvector` does, without the places; the same lexeme may come twice.
/// Hands each to `take`.
pub fn lexemes(configuration: Oid, text: &str, mut take: impl FnMut(&str)) {
    // Words have six letters or so; the parser makes more room where they have less.
    let room = (text.len() / 6).max(2);
    // SAFETY: the list has the room that it states, and the parser lets it grow. The parser reads no more than the
    // length says, and leaves `curwords` words behind, of the database's encoding, which is UTF-8. Words and list were
    // allocated one by one.
    unsafe {
        let mut parsed = pg_sys::ParsedText {
            words: pg_sys::palloc(room * size_of::<pg_sys::ParsedWord>()).cast(),
            lenwords: room as i32,
            curwords: 0,
            pos: 0,
        };
        // The parser takes the text for one that it may change, and does not.
        pg_sys::parsetext(configuration, &mut parsed, text.as_ptr().cast_mut().cast(), text.len() as i32);
        for word in std::slice::from_raw_parts(parsed.words, parsed.curwords as usize) {
            let bytes = std::slice::from_raw_parts(word.word.cast::<u8>(), usize::from(word.len));
            take(std::str::from_utf8_unchecked(bytes));
            pg_sys::pfree(word.word.cast());
        }
        pg_sys::pfree(parsed.words.cast());
    }
}
