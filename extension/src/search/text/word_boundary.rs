//! Texts that stand in a document as they are, and not within a longer word: in memory, and as a pattern of SQL. Pure.

use memchr::memmem::Finder;

/// The letters and digits of folded texts, but for those of scripts in which a word can begin at any character. Signs,
/// pictures and marks of documents are between.
const WORD_CHARACTERS: [(char, char); 20] = [
    ('0', '9'),
    ('A', 'Z'),
    ('a', 'z'),
    ('\u{c0}', '\u{dff}'),
    ('\u{e50}', '\u{e59}'),
    ('\u{ed0}', '\u{ed9}'),
    ('\u{f00}', '\u{fff}'),
    ('\u{1040}', '\u{1049}'),
    ('\u{1090}', '\u{1099}'),
    ('\u{10a0}', '\u{177f}'),
    ('\u{17e0}', '\u{1fff}'),
    ('\u{2c00}', '\u{2dff}'),
    ('\u{3100}', '\u{31ef}'),
    ('\u{a000}', '\u{a9df}'),
    ('\u{a9f0}', '\u{a9f9}'),
    ('\u{aa00}', '\u{aa5f}'),
    ('\u{aa80}', '\u{abff}'),
    ('\u{fb00}', '\u{fdff}'),
    ('\u{fe70}', '\u{fefe}'),
    ('\u{10000}', '\u{1efff}'),
];

fn is_word_character(character: char) -> bool {
    WORD_CHARACTERS.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

/// Where a text has letters or digits at its ends, none may stand beside them.
#[derive(Clone, Copy)]
struct Ends {
    is_bounded_before: bool,
    is_bounded_behind: bool,
}

impl Ends {
    fn of(text: &str) -> Ends {
        Ends {
            is_bounded_before: text.chars().next().is_some_and(is_word_character),
            is_bounded_behind: text.chars().next_back().is_some_and(is_word_character),
        }
    }
}

/// A text that is looked for in memory.
pub struct BoundedText<'t> {
    finder: Finder<'t>,
    ends: Ends,
}

impl<'t> BoundedText<'t> {
    /// Of a text.
    pub fn new(text: &'t str) -> BoundedText<'t> {
        BoundedText { finder: Finder::new(text), ends: Ends::of(text) }
    }

    /// Whether it stands in a document, not within a longer word.
    pub fn stands_in(&self, document: &[u8]) -> bool {
        let length = self.finder.needle().len();
        let mut start = 0;
        while let Some(place) = self.finder.find(&document[start..]) {
            let (before, behind) = (&document[..start + place], &document[start + place + length..]);
            let is_free = |character: Option<char>| !character.is_some_and(is_word_character);
            if (!self.ends.is_bounded_before || is_free(last_character(before)))
                && (!self.ends.is_bounded_behind || is_free(first_character(behind)))
            {
                return true;
            }
            // No word begins before this one ends, so each is read once, however often the text is repeated in it.
            let next = match self.ends.is_bounded_before {
                true => length_of_word(&document[start + place..]),
                false => 0,
            };
            start += place + next.max(1);
        }
        false
    }
}

/// How many bytes letters and digits take at the beginning of a text.
fn length_of_word(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some(character) = first_character(&text[length..]).filter(|it| is_word_character(*it)) {
        length += character.len_utf8();
    }
    length
}

fn first_character(text: &[u8]) -> Option<char> {
    text[..text.len().min(4)].utf8_chunks().next()?.valid().chars().next()
}

fn last_character(text: &[u8]) -> Option<char> {
    let start = text.iter().rposition(|byte| !(0x80..0xc0).contains(byte))?;
    first_character(&text[start..])
}

/// The same as a regular expression of PostgreSQL.
pub fn pattern(text: &str) -> String {
    let class: String = WORD_CHARACTERS
        .iter()
        .map(|(first, last)| format!("\\U{:08X}-\\U{:08X}", u32::from(*first), u32::from(*last)))
        .collect();
    let Ends { is_bounded_before, is_bounded_behind } = Ends::of(text);
    let mut pattern = String::new();
    if is_bounded_before {
        pattern.push_str(&format!("(?<![{class}])"));
    }
    for character in text.chars() {
        if character.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    if is_bounded_behind {
        pattern.push_str(&format!("(?![{class}])"));
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_within_a_longer_word_does_not_stand_there() {
        for (text, document, expected) in [
            ("part 1", "a part 1", true),
            ("part 1", "a part 10", false),
            ("part 1", "a part 10, part 1.", true),
            ("part 1", "\u{1e} part 1\u{1d}X", true),
            ("part 1", "apart 1", false),
            ("to be", "into been", false),
            ("aba", "ababa aba", true),
            ("aba", "ababa", false),
            ("a", "aaaa aa", false),
            ("ä b", "ää b", false),
            ("ä b", "ää b, ä b", true),
            ("ähre", "fährte", false),
            ("fähr", "fähre", false),
            ("-1", "before-1", true),
            ("50%", "50%x", true),
            ("50%", "150%", false),
            ("京都", "東京都内", true),
            ("ยา", "ร้านขายยาแก้ปวด", true),
            ("abc", "東abc都", true),
            ("party", "party🎉", true),
            ("day", "“day”", true),
        ] {
            assert_eq!(
                BoundedText::new(text).stands_in(document.as_bytes()),
                expected,
                "{text} in {document}"
            );
        }
    }

    #[test]
    fn a_pattern_takes_every_sign_as_it_is() {
        assert_eq!(pattern("§ .*"), r"§ \.\*");
        assert!(pattern("-(x").starts_with(r"\-\(x(?![\U00000030-\U00000039"));
    }
}
