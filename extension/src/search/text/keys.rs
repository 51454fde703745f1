//! The keys of the index of documents: trigrams, and words of names. Pure.
//!
//! In addition to the trigrams of [`super::trigram`], a document has a key for each lexeme of the external key and of its
//! first attribute, which usually is the name of the record. So a frequent word that is rare in names is found there without
//! reading the many documents that contain it elsewhere. A lexeme with a digit has no key: it is rare, and nearly every
//! record would have such a key.
//!
//! Indexes store the keys: **their contents must never change** without a rebuild of these indexes.

use super::document::{FIELD, STEM, VALUE};
use super::trigram::{self, Key, lowercase};
use std::collections::TryReserveError;

/// The strategy number of a search for words of names, for which there is no SQL operator.
pub const IN_NAME: u16 = 64;

/// The maximum length of a lexeme with a key, in bytes.
const MAX_LENGTH: usize = 64;
/// This bit distinguishes keys of lexemes from trigrams.
const OF_NAME: u64 = 1 << 30;
/// The number of keys for lexemes. Rare lexemes share a key, so a lookup reads some additional documents. A separate index
/// entry for each lexeme would cost more with every new record.
const KEYS: u64 = 1 << 12;

/// The keys of a document, in their order, each once.
pub fn of_document(document: &str, pause: impl FnMut()) -> Result<Vec<Key>, TryReserveError> {
    let mut keys = trigram::of_document(document, pause)?;
    let before = keys.len();
    for (code, field) in named(document) {
        let lexemes = field.split(STEM).skip(1).filter(|lexeme| is_word(lexeme));
        for lexeme in lexemes {
            keys.try_reserve(1)?;
            keys.push(of_name(code, lexeme));
        }
    }
    if keys.len() > before {
        keys.sort_unstable();
        keys.dedup();
    }
    Ok(keys)
}

/// The query of [`IN_NAME`]: one of these lexemes in the attribute with this code, or in the external key.
pub fn query_of_name(code: &str, lexemes: &[String]) -> String {
    lexemes.iter().fold(code.to_owned(), |query, lexeme| format!("{query}{VALUE}{lexeme}"))
}

/// The keys of [`query_of_name`]. A matching document has at least one of them.
pub fn of_name_query(query: &str) -> Vec<Key> {
    let mut parts = query.split(VALUE);
    let code = parts.next().unwrap_or_default();
    let mut keys: Vec<Key> = parts.flat_map(|lexeme| [of_name(code, lexeme), of_name("", lexeme)]).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Whether a lexeme in a name has a key.
pub fn is_word(lexeme: &str) -> bool {
    let is_part = |byte: u8| !byte.is_ascii_control() && !byte.is_ascii_digit();
    (1..=MAX_LENGTH).contains(&lexeme.len()) && lexeme.bytes().all(is_part)
}

/// The fields of the external key and of the attribute with the lowest number, each with its code, if they exist.
fn named(document: &str) -> impl Iterator<Item = (&str, &str)> {
    let (mut key, mut name) = (None, None);
    for field in document.split(FIELD).skip(1) {
        let Some((code, values)) = field.split_once(VALUE) else { continue };
        let place = |code: &str| (code.len(), code.to_owned());
        if code.is_empty() {
            key = key.or(Some((code, values)));
        } else if name.is_none_or(|(other, _): (&str, &str)| place(code) < place(other)) {
            name = Some((code, values));
        }
    }
    key.into_iter().chain(name)
}

fn of_name(code: &str, lexeme: &str) -> Key {
    ((hash(code, lexeme) % KEYS) | OF_NAME) as Key
}

/// A hash that must never change: FNV-1a. A collision only means that a document without a match is
/// read.
fn hash(code: &str, lexeme: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |part: u32| hash = (hash ^ u64::from(part)).wrapping_mul(0x100_0000_01b3);
    code.chars().for_each(|it| add(u32::from(it)));
    add(u32::from(VALUE));
    lexeme.chars().for_each(|it| add(lowercase(u32::from(it))));
    // Mixes the upper bits into the lower ones.
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::super::document::{Field, code, write_field};
    use super::*;
    use std::collections::BTreeSet;

    fn of_document(text: &str) -> BTreeSet<Key> {
        super::of_document(text, || {}).expect("there is memory for a few keys").into_iter().collect()
    }

    /// A document of notes, a key and a name. The stems of a text are its words.
    fn document(texts: [&str; 3]) -> String {
        let mut out = String::new();
        for (attribute, value) in [Some(700), None, Some(65)].into_iter().zip(texts) {
            write_field(
                &mut out,
                &Field { attribute, values: vec![value], is_title: attribute != Some(700) },
                &mut |text| text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            );
        }
        out
    }

    fn has(document: &BTreeSet<Key>, attribute: i32, lexeme: &str) -> bool {
        let query = query_of_name(&code(Some(attribute)), &[lexeme.to_owned()]);
        of_name_query(&query).iter().any(|key| document.contains(key))
    }

    #[test]
    fn keys_never_change() {
        let document = document(["", "key", "ma é"]);
        let before: BTreeSet<Key> =
            trigram::of_document(&document, || {}).expect("memory").into_iter().collect();
        let keys: Vec<Key> = of_document(&document).difference(&before).copied().collect();
        assert_eq!(keys, [1_073_742_688, 1_073_744_458, 1_073_745_438]);
        assert!(before.is_subset(&of_document(&document)));
    }

    #[test]
    fn words_of_key_and_first_attribute_have_keys() {
        let all = of_document(&document(["town", "key", "old map k7"]));
        for (lexeme, is_found) in
            [("OLD", true), ("map", true), ("KEY", true), ("TOWN", false), ("K7", false)]
        {
            assert_eq!(has(&all, 65, lexeme), is_found, "{lexeme}");
        }
        assert!(!has(&all, 700, "OLD") && !has(&all, 700, "TOWN") && has(&all, 700, "KEY"));
        // Without a name, the words of the next attribute have keys.
        assert!(has(&of_document(&document(["town", "key", ""])), 700, "TOWN"));
        assert!(of_document("").is_empty() && !of_document("\u{1f}\u{1f}\u{1d}a").is_empty());
    }

    #[test]
    fn lexeme_with_a_digit_or_marker_has_no_key() {
        assert!(is_word("MAP") && is_word("É-B") && !is_word("B2") && !is_word("") && !is_word("A\u{1e}"));
        assert!(!is_word(&"A".repeat(MAX_LENGTH + 1)));
    }
}
