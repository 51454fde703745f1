//! The words of documents: words with a given prefix, and words that differ from another in one letter. Pure.

use super::folded::continues;
use crate::search::text::document::WHOLE;
use crate::search::text::document::{FIELD, START, STEM, VALUE};
use crate::search::text::word_boundary::is_written_without_spaces;
use std::ops::Range;

/// The maximum number of characters of a suggestion.
const MAX_LENGTH: usize = 40;
/// Punctuation that may be inside a suggestion.
const INNER_SIGNS: &str = "-'._@&";
/// Punctuation that ends a word or a sentence.
const CLOSING_SIGNS: &str = ".,;:!?…)]}>\"'’”“»«";
/// The minimum number of letters of a word that may have a typo.
pub const MIN_LETTERS: usize = 5;
/// The maximum number of letters of such a word.
const MAX_LETTERS: usize = 64;

/// Passes the words of a document that begin with a folded text, which is not empty, to `take`.
pub fn beginning_with<'d>(document: &'d str, beginning: &str, mut take: impl FnMut(&'d str)) {
    let requested = format!(" {beginning}");
    let finder = memchr::memmem::Finder::new(&requested);
    for texts in fields(document) {
        for at in finder.find_iter(texts.as_bytes()) {
            if let Some(word) = word_of(&texts[at + 1..], beginning.len()) {
                take(word);
            }
        }
    }
}

/// Passes the words of a document that consist of letters to `take`.
pub fn of_letters<'d>(document: &'d str, mut take: impl FnMut(&'d str)) {
    for texts in fields(document) {
        let values = texts.split(START).next().unwrap_or_default();
        values.split(|it| !is_of_word(it)).filter(|word| is_fit(word)).for_each(&mut take);
    }
}

/// The values of each field, and the repeated words, without the field's code, stems and name
/// fingerprint.
fn fields(document: &str) -> impl Iterator<Item = &str> {
    document.split(FIELD).filter_map(|field| {
        let texts = &field[field.find(VALUE)?..];
        Some(texts.split([STEM, WHOLE]).next().unwrap_or_default())
    })
}

/// The word at the start of a string. Its first `least` bytes belong to it. `None` if it is too long or ends with closing
/// punctuation.
fn word_of(text: &str, least: usize) -> Option<&str> {
    let mut end = least;
    let mut is_behind_sign = !text[..least].ends_with(is_of_word);
    let mut characters = text[least..].chars().peekable();
    while let Some(character) = characters.next() {
        let is_inner = INNER_SIGNS.contains(character) && characters.peek().is_some_and(|it| is_of_word(*it));
        // For example C++, where the user typed a symbol.
        let is_repeated = is_behind_sign && is_sign(character) && !CLOSING_SIGNS.contains(character);
        if !is_of_word(character) && !is_inner && !is_repeated {
            break;
        }
        is_behind_sign = is_repeated;
        end += character.len_utf8();
    }
    let word = &text[..end];
    let is_word = word.chars().nth(MAX_LENGTH).is_none() && !word.ends_with(|it| CLOSING_SIGNS.contains(it));
    is_word.then_some(word)
}

fn is_sign(character: char) -> bool {
    !is_of_word(character) && !character.is_whitespace() && !character.is_control()
}

/// The range of a word without surrounding punctuation.
pub fn trimmed(word: &str) -> Range<usize> {
    let start = word.find(is_of_word).unwrap_or(word.len());
    start..word[start..].trim_end_matches(|it| !is_of_word(it)).len() + start
}

/// The range of the last word of a string without spaces: after the last punctuation that cannot be inside a
/// word.
pub fn last_of(text: &str) -> Range<usize> {
    let whole = trimmed(text);
    let separates = |it: char| !is_of_word(it) && !INNER_SIGNS.contains(it);
    let start = text[whole.clone()].rfind(separates).map_or(whole.start, |at| whole.start + at);
    let last = trimmed(&text[start..whole.end]);
    start + last.start..start + last.end
}

/// Whether a character is a letter, a digit or a combining mark.
pub fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || continues(character)
}

/// Whether a folded word may have a typo, or correct one: it has only letters.
pub fn is_fit(word: &str) -> bool {
    if word.is_ascii() {
        let fits = (MIN_LETTERS - 1..=MAX_LETTERS).contains(&word.len());
        return fits && word.bytes().all(|it| it.is_ascii_alphabetic());
    }
    let is_letter = |it: char| (it.is_alphabetic() || continues(it)) && !is_written_without_spaces(it);
    let count = word.chars().take(MAX_LETTERS + 1).count();
    (MIN_LETTERS - 1..=MAX_LETTERS).contains(&count) && word.chars().all(is_letter)
}

/// Whether one insertion, deletion, substitution or swap of adjacent letters turns one word into the
/// other.
pub fn is_near(one: &str, other: &str) -> bool {
    if one.len().abs_diff(other.len()) > 4 {
        return false;
    }
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let same = one.floor_char_boundary(same);
    let (one, other) = (&one[same..], &other[same..]);
    let (mut ones, mut others) = (one.chars(), other.chars());
    match (ones.next(), others.next()) {
        (Some(a), Some(b)) => {
            let (one_rest, other_rest) = (ones.as_str(), others.as_str());
            one_rest == other_rest
                || one_rest == other
                || one == other_rest
                || ones.next() == Some(b) && others.next() == Some(a) && ones.as_str() == others.as_str()
        }
        (Some(_), None) => ones.as_str().is_empty(),
        (None, Some(_)) => others.as_str().is_empty(),
        (None, None) => false,
    }
}

/// The number of letters at the start or the end of a word that are assumed to be correct.
const UNCHANGED_LETTERS: usize = 4;

/// Lists of substrings. The document of each word that [`is_near`] this one contains a substring of one list. In documents,
/// a space precedes each word.
///
/// If the typo is after the first four letters, these are correct; if it is before the last four, those are. Short words
/// can have it in between: then each possible word of Latin letters is looked up.
pub fn looked_up(word: &str) -> Vec<Vec<String>> {
    let letters: Vec<char> = word.chars().collect();
    let text = |letters: &[char]| letters.iter().collect::<String>();
    let count = letters.len();
    let (first, last) = match count / 2 {
        half @ UNCHANGED_LETTERS.. => (half, half),
        _ => (UNCHANGED_LETTERS.min(count), count.saturating_sub(UNCHANGED_LETTERS)),
    };
    let mut lists = vec![vec![format!(" {}", text(&letters[..first]))], vec![text(&letters[last..])]];
    let mut between = Vec::new();
    for place in last.saturating_sub(1)..first {
        if place + 1 < count {
            let mut swapped = letters.clone();
            swapped.swap(place, place + 1);
            between.push(swapped);
        }
        if place >= last {
            between.push([&letters[..place], &letters[place + 1..]].concat());
            for letter in 'a'..='z' {
                between.push([&letters[..place], &[letter], &letters[place + 1..]].concat());
                between.push([&letters[..place], &[letter], &letters[place..]].concat());
            }
        }
    }
    lists.push(between.iter().map(|letters| format!(" {}", text(letters))).collect());
    if !word.is_ascii() {
        let half = count / 2;
        lists.push(vec![format!(" {}", text(&letters[..half])), text(&letters[half..])]);
    }
    lists
}

#[cfg(test)]
mod tests;
