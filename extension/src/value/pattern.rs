//! Patterns of `like` and `ilike`. Pure.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Escapes a string for use in a pattern.
pub fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// A coarser pattern that is compared case-insensitively in ASCII. It matches each text that the given pattern matches under
/// any collation. Returns `None` if it would match every text.
///
/// A character outside ASCII can fold to several characters, so it becomes `%`. The letters i and k have non-ASCII capitals,
/// İ and the Kelvin sign, so they become `_`.
pub fn in_ascii(pattern: &str) -> Option<String> {
    let mut coarse = String::with_capacity(pattern.len());
    let mut is_escaped = false;
    let mut has_literal = false;
    for character in pattern.chars() {
        let is_literal = std::mem::take(&mut is_escaped);
        match character {
            '\\' if !is_literal => is_escaped = true,
            '\\' | '%' | '_' if is_literal => {
                coarse.push('\\');
                coarse.push(character);
                has_literal = true;
            }
            'i' | 'I' | 'k' | 'K' => coarse.push('_'),
            '%' | '\u{80}'.. if coarse.ends_with('%') && !coarse.ends_with("\\%") => {}
            '%' | '\u{80}'.. => coarse.push('%'),
            other => {
                coarse.push(other);
                has_literal = true;
            }
        }
    }
    has_literal.then_some(coarse)
}

/// Like [`in_ascii`], for all normalization forms of a pattern. A letter with combining marks becomes `%`.
pub fn in_ascii_of_forms(pattern: &str) -> Option<String> {
    let mut plain = String::with_capacity(pattern.len());
    let mut characters = pattern.nfd().peekable();
    while let Some(mut character) = characters.next() {
        let is_escaped = character == '\\';
        if is_escaped {
            character = characters.next().unwrap_or(character);
        }
        let is_marked = characters.peek().is_some_and(|next| is_combining_mark(*next));
        match character {
            _ if is_marked => plain.push('\u{80}'),
            // The Greek question mark and the Greek varia normalize to these characters.
            ';' | '`' => plain.push('_'),
            _ if is_escaped => plain.extend(['\\', character]),
            _ => plain.push(character),
        }
    }
    in_ascii(&plain)
}

/// Whether a trigram index can find the matches: the pattern has three consecutive letters or digits. The start of a word
/// counts as two more characters, its end as one.
pub fn has_trigram(pattern: &str) -> bool {
    !words(pattern).is_empty()
}

/// The words of a pattern that have a trigram, and parts of words, as separate patterns. A trigram index finds the strings that
/// match all of them.
pub fn words(pattern: &str) -> Vec<String> {
    let mut words = Vec::new();
    // The current word, its length with padding, and its prefix: nothing, a wildcard, or a wildcard and a character.
    let (mut word, mut count) = (String::new(), 0);
    let mut before = String::new();
    let mut is_escaped = false;
    let mut end = |word: &mut String, count: &mut usize, before: &str, after: &str| {
        let closed = usize::from(!after.starts_with('%'));
        if *count > 0 && *count + closed >= 3 {
            words.push(format!("{before}{word}{after}"));
        }
        (*word, *count) = (String::new(), 0);
    };
    for character in pattern.chars() {
        let is_literal = std::mem::take(&mut is_escaped);
        match character {
            '\\' if !is_literal => is_escaped = true,
            '%' | '_' if !is_literal => {
                end(&mut word, &mut count, &before, "%");
                before = "%".to_owned();
            }
            letter if letter.is_alphanumeric() => {
                count += if count == 0 && before != "%" { 3 } else { 1 };
                word.push(letter);
            }
            other => {
                let other = escaped(other.encode_utf8(&mut [0; 4]));
                end(&mut word, &mut count, &before, &format!("{other}%"));
                before = format!("%{other}");
            }
        }
    }
    end(&mut word, &mut count, &before, "");
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn trigram_needs_three_letters_or_the_start_of_a_word() {
        for pattern in ["%abc%", "a%", "%ab", "%ab cd%", r"%\%a%", r"%a\_b%", "%東京都%", "%x1y%", "% a%"]
        {
            assert!(has_trigram(pattern), "{pattern}");
        }
        assert_eq!(words("%ab cd ef%"), ["%ab %", "% cd %", "% ef%"]);
        assert_eq!(words(r"a\%b_c%xyz"), [r"a\%%", r"%\%b%", "%xyz"]);
        for pattern in ["", "%", "%ab%", "%a_b%", r"%\%\_%", "%a %", "%#%", "%東京%", "%a"] {
            assert!(!has_trigram(pattern), "{pattern}");
        }
    }

    /// LIKE by its definition.
    fn is_like(text: &[char], pattern: &[char]) -> bool {
        match (pattern, text) {
            ([], rest) => rest.is_empty(),
            (['%', additional @ ..], _) => {
                (0..=text.len()).any(|skipped| is_like(&text[skipped..], additional))
            }
            (['\\', plain, additional @ ..], [first, rest @ ..]) => {
                plain == first && is_like(rest, additional)
            }
            (['_', additional @ ..], [_, rest @ ..]) => is_like(rest, additional),
            ([plain, additional @ ..], [first, rest @ ..]) => plain == first && is_like(rest, additional),
            _ => false,
        }
    }

    fn matches(text: &str, pattern: &str) -> bool {
        let characters = |text: &str| text.chars().collect::<Vec<char>>();
        is_like(&characters(text), &characters(pattern))
    }

    #[test]
    fn coarse_pattern_keeps_unambiguous_characters() {
        for (pattern, coarse) in [
            ("%abc%", Some("%abc%")),
            ("%Müller%", Some("%M%ller%")),
            ("%İzmir Köln%", Some("%zm_r _%ln%")),
            (r"%50\%\_\\x%", Some(r"%50\%\_\\x%")),
            (r"%\%é%", Some(r"%\%%")),
            ("%kiKI%", None),
            ("%東京%", None),
            ("%%", None),
        ] {
            assert_eq!(in_ascii(pattern).as_deref(), coarse, "{pattern}");
        }
    }

    #[test]
    fn coarse_pattern_covers_all_normalization_forms() {
        for (pattern, coarse) in [
            ("%M\u{fc}ller%", Some("%M%ller%")),
            ("%Mu\u{308}ller%", Some("%M%ller%")),
            ("%gr\u{fc}ße 5%", Some("%gr%e 5%")),
            ("%x\u{302}y%", Some("%y%")),
            (r"%50\%\_\\é%", Some(r"%50\%\_\\%%")),
            ("%50\\%\u{308}x%", Some("%50%x%")),
            ("%a;b`c%", Some("%a_b_c%")),
            ("%\u{212b}\u{fc}%", None),
        ] {
            assert_eq!(in_ascii_of_forms(pattern).as_deref(), coarse, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn coarse_pattern_matches_every_normalization_form(text in "[a-c;`%_\\\\eu\u{300}\u{308}éüİK\u{212a}\u{37e}한가]{0,8}") {
            let coarse = in_ascii_of_forms(&format!("%{}%", escaped(&text)));
            for form in [text.clone(), text.nfc().collect(), text.nfd().collect()] {
                prop_assert!(coarse.as_deref().is_none_or(|coarse| matches(&form, coarse)), "{form:?} {coarse:?}");
            }
        }

        #[test]
        fn escaped_text_matches_only_itself(text in "[a%_\\\\é]{0,6}", other in "[a%_\\\\é]{0,6}") {
            prop_assert!(matches(&text, &escaped(&text)));
            prop_assert_eq!(matches(&other, &escaped(&text)), other == text);
        }

        #[test]
        fn coarse_pattern_matches_every_text_in_any_case(before in "[a-cİK]{0,3}", text in "[A-Ca-cIiıİKkKÄäẞß%_\\\\]{0,6}", after in "[a-c]{0,3}", forms in prop::collection::vec(0..4_usize, 6)) {
            // The same text, with each letter in one of its case forms in some language.
            let written: String = text.chars().zip(forms).map(|(character, form)| match character.to_ascii_lowercase() {
                'i' | 'ı' | 'İ' => ["i", "I", "ı", "İ"][form],
                'k' | '\u{212a}' => ["k", "K", "\u{212a}", "k"][form],
                'ä' | 'Ä' => ["ä", "Ä", "ä", "Ä"][form],
                'ß' | 'ẞ' => ["ß", "ẞ", "ß", "ẞ"][form],
                small => return if form < 2 { small } else { small.to_ascii_uppercase() }.to_string(),
            }.to_owned()).collect();
            let pattern = format!("%{}%", escaped(&text));
            if let Some(coarse) = in_ascii(&pattern) {
                let seen = format!("{before}{written}{after}").to_ascii_lowercase();
                prop_assert!(matches(&seen, &coarse.to_ascii_lowercase()), "{coarse} in {seen}");
            }
        }
    }
}
