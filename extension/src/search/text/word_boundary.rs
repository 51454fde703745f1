//! Word boundaries: strings that are not within a longer word, in memory and as an SQL regular expression. In scripts
//! without spaces between words (Han, kana, Hangul, Thai, Lao, Burmese and Khmer), a word can begin at any letter, and a
//! term may have two characters. Pure.

use memchr::memmem::Finder;

/// The letters and digits of folded text, except those of scripts in which a word can begin at any character. Symbols
/// and document markers separate words.
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

/// Whether a string begins or ends with a letter or digit, so that a word boundary is required
/// there.
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

/// A string to find in memory.
pub struct BoundedText<'t> {
    finder: Finder<'t>,
    ends: Ends,
}

impl<'t> BoundedText<'t> {
    /// Prepares a string.
    pub fn new(text: &'t str) -> BoundedText<'t> {
        BoundedText { finder: Finder::new(text), ends: Ends::of(text) }
    }

    /// Whether a document contains it, not within a longer word.
    pub fn is_in(&self, document: &[u8]) -> bool {
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
            // No word begins before this one ends, so each is read only once, however often it repeats the
            // string.
            let next = match self.ends.is_bounded_before {
                true => length_of_word(&document[start + place..]),
                false => 0,
            };
            start += place + next.max(1);
        }
        false
    }
}

/// The number of bytes of letters and digits at the start of a string.
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

/// The same as a PostgreSQL regular expression.
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

/// Whether a character is a letter or sign of a script without spaces. Digits of such scripts are not.
pub fn is_written_without_spaces(character: char) -> bool {
    matches!(u32::from(character),
        // Thai, Lao
        0xe01..=0xe2e | 0xe30..=0xe3a | 0xe40..=0xe4e | 0xe81..=0xecf | 0xedc..=0xedf
        // Burmese, Khmer
        | 0x1000..=0x103f | 0x1050..=0x108f | 0x109a..=0x109d | 0xa9e0..=0xa9ef | 0xa9fa..=0xa9fe | 0xaa60..=0xaa7f
        | 0x1780..=0x17d3 | 0x17d7 | 0x17dc..=0x17dd
        // Han, kana, Hangul
        | 0x3005..=0x3007 | 0x3041..=0x30ff | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0x20000..=0x3fffd)
}

/// Whether a character is a vowel, a tone or another sign of such a script that only follows a letter, so that no word
/// begins with it.
pub fn is_dependent(character: char) -> bool {
    matches!(u32::from(character),
        // Thai, Lao. Vowels that are written before a consonant can begin words.
        0xe30..=0xe3a | 0xe45..=0xe4e | 0xeb0..=0xebc | 0xec6..=0xecf
        // Burmese, Khmer
        | 0x102b..=0x103e | 0x1056..=0x1059 | 0x105e..=0x1060 | 0x1062..=0x1064 | 0x1067..=0x106d | 0x1071..=0x1074
        | 0x1082..=0x108d | 0x108f | 0x109a..=0x109d | 0xa9e5..=0xa9e6 | 0xaa7b..=0xaa7d
        | 0x17b4..=0x17d3 | 0x17d7 | 0x17dd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substring_of_a_longer_word_is_not_found() {
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
            assert_eq!(BoundedText::new(text).is_in(document.as_bytes()), expected, "{text} in {document}");
        }
    }

    #[test]
    fn pattern_escapes_punctuation() {
        assert_eq!(pattern("§ .*"), r"§ \.\*");
        assert!(pattern("-(x").starts_with(r"\-\(x(?![\U00000030-\U00000039"));
    }

    #[test]
    fn words_of_scripts_without_spaces_begin_at_letters() {
        for text in ["東京都庁", "カタカナ", "한국어", "ร้านขายยา", "ຮ້ານຂາຍຢາ", "ဆေးဆိုင်", "ឱសថស្ថាន"]
        {
            assert!(text.chars().all(is_written_without_spaces), "{text}");
            assert!(text.chars().next().is_some_and(|it| !is_dependent(it)), "{text}");
        }
        for character in
            ['e', 'é', 'ß', 'я', 'ع', 'ש', 'क', 'ा', 'த', 'ა', 'አ', '7', '๗', '၇', '៧', ' ', '-', '฿', '។']
        {
            assert!(!is_written_without_spaces(character), "{character}");
        }
        for character in ['า', 'ิ', '่', 'ະ', '້', 'ာ', '့', '်', 'ា', '្'] {
            assert!(is_dependent(character) && is_written_without_spaces(character), "{character}");
        }
        for character in ['เ', 'ไ', 'ก', 'ເ', 'က', 'ក', '一', 'あ'] {
            assert!(!is_dependent(character), "{character}");
        }
    }
}
