//! A pattern of `like` or `ilike`, compared bytewise in memory where possible. Pure.
//!
//! PostgreSQL lowercases text by the rules of a locale, letter by letter, which takes ten times as long as the comparison.
//! For ASCII letters, these rules are known. Of other letters, only İ (U+0130) and the Kelvin sign (U+212A) have ASCII
//! lowercase forms, `i` and `k`. So most text can be compared without the locale.

use memchr::memmem::Finder;

/// The position of the substring in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Anywhere,
    AtStart,
    AtEnd,
    Whole,
}

/// A pattern with one substring.
pub struct SubstringPattern {
    position: Position,
    ignores_case: bool,
    /// The substring; in lowercase if the match is case-insensitive.
    substring: Finder<'static>,
    /// Its longest run of characters whose case forms are all in ASCII, in lowercase if the match is case-insensitive. Every
    /// match contains it.
    run: Finder<'static>,
    /// Whether the run is the whole substring.
    is_plain: bool,
    /// Whether the substring is in ASCII.
    is_ascii: bool,
    /// The text in lowercase; a buffer.
    lowercase: Vec<u8>,
}

impl SubstringPattern {
    /// Parses a pattern; `None` if it has an inner wildcard. For a case-insensitive match, the locale must lowercase ASCII
    /// letters one by one.
    pub fn read(pattern: &str, ignores_case: bool) -> Option<SubstringPattern> {
        let (mut part, mut is_escaped) = (String::new(), false);
        let (mut is_open, mut is_closed) = (false, true);
        for (at, character) in pattern.char_indices() {
            match character {
                '\\' if !is_escaped => {
                    is_escaped = true;
                    continue;
                }
                '%' if !is_escaped && at == 0 => is_open = true,
                '%' if !is_escaped && at + 1 == pattern.len() => is_closed = false,
                '%' | '_' if !is_escaped => return None,
                other => part.push(other),
            }
            is_escaped = false;
        }
        let position = match (is_open, is_closed) {
            (true, false) => Position::Anywhere,
            (false, false) => Position::AtStart,
            (true, true) => Position::AtEnd,
            (false, true) => Position::Whole,
        };
        if ignores_case {
            part.make_ascii_lowercase();
        }
        let has_form = |letter: char| !letter.is_ascii() || matches!(letter, 'i' | 'k');
        let run = match ignores_case {
            true => part.split(has_form).max_by_key(|run| run.len()).unwrap_or_default(),
            false => &part,
        };
        Some(SubstringPattern {
            position,
            ignores_case,
            is_plain: run.len() == part.len(),
            is_ascii: part.is_ascii(),
            run: Finder::new(run).into_owned(),
            substring: Finder::new(&part).into_owned(),
            lowercase: Vec::new(),
        })
    }

    /// Whether a string matches; `None` if the locale decides.
    pub fn matches(&mut self, text: &[u8]) -> Option<bool> {
        if !self.ignores_case {
            return Some(self.is_in(text));
        }
        let mut lowercase = std::mem::take(&mut self.lowercase);
        lowercase.clear();
        lowercase.extend_from_slice(text);
        lowercase.make_ascii_lowercase();
        let matches = match self.is_plain || self.is_ascii && text.is_ascii() {
            true => Some(self.is_in(&lowercase)),
            false if self.run.find(&lowercase).is_none() => Some(false),
            false => None,
        };
        self.lowercase = lowercase;
        matches
    }

    fn is_in(&self, text: &[u8]) -> bool {
        match self.position {
            Position::Anywhere => self.substring.find(text).is_some(),
            Position::AtStart => text.starts_with(self.substring.needle()),
            Position::AtEnd => text.ends_with(self.substring.needle()),
            Position::Whole => text == self.substring.needle(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::pattern::escaped;
    use proptest::prelude::*;

    fn matches(pattern: &str, ignores_case: bool, text: &str) -> Option<bool> {
        SubstringPattern::read(pattern, ignores_case).expect("one substring").matches(text.as_bytes())
    }

    #[test]
    fn substring_is_found_at_the_position_of_the_pattern() {
        for (pattern, text, expected) in [
            ("%ab%", "xABx", true),
            ("%ab%", "a b", false),
            ("ab%", "Abc", true),
            ("ab%", "cab", false),
            ("%ab", "cAB", true),
            ("%ab", "abc", false),
            ("ab", "AB", true),
            ("ab", "abc", false),
            ("%", "anything", true),
            (r"%50\%\_\\%", r"it is 50%_\ of it", true),
            (r"%50\%%", "it is 500", false),
            (r"%\%", "100%", true),
            (r"\%%", "%x", true),
            ("%müller%", "MÜLLER", false),
        ] {
            let found = matches(pattern, true, text);
            assert_eq!(found.unwrap_or(false), expected, "{pattern} in {text}");
        }
        assert_eq!(matches("%Ab%", false, "xab"), Some(false));
        assert_eq!(matches("%Ab%", false, "xAb"), Some(true));
        for pattern in ["%a%b%", "a_b", "%%a", "_"] {
            assert!(SubstringPattern::read(pattern, true).is_none(), "{pattern}");
        }
    }

    #[test]
    fn letters_with_forms_of_a_language_are_undecided() {
        for (pattern, text, expected) in [
            ("%rarely%", "Über RARELY", Some(true)),
            ("%rarely%", "Über rare", Some(false)),
            ("%king%", "the King", Some(true)),
            ("%king%", "the Kıng", None),
            ("%king%", "das Küchen", Some(false)),
            ("%müller%", "MÜLLER", None),
            ("%müller%", "Miller", None),
            ("%müller%", "Mill", Some(false)),
        ] {
            assert_eq!(matches(pattern, true, text), expected, "{pattern} in {text}");
        }
    }

    proptest! {
        #[test]
        fn result_agrees_with_lowercasing_both(
            part in "[abikKüÄ%_\\\\ ]{1,4}", text in "[aABbiIkK\u{212a}İıüÜäÄ%_\\\\ ]{0,9}",
            before in prop::bool::ANY, after in prop::bool::ANY,
        ) {
            let pattern = format!("{}{}{}", if before { "%" } else { "" }, escaped(&part), if after { "%" } else { "" });
            // The rules of most locales: İ becomes an i, with or without a dot above, and the Kelvin sign a k.
            let (lowercase, part) = (text.to_lowercase().replace('\u{307}', ""), part.to_lowercase());
            let expected = match (before, after) {
                (true, true) => lowercase.contains(&part),
                (false, true) => lowercase.starts_with(&part),
                (true, false) => lowercase.ends_with(&part),
                (false, false) => lowercase == part,
            };
            if let Some(found) = matches(&pattern, true, &text) {
                prop_assert_eq!(found, expected, "{} in {}", pattern, text);
            }
        }
    }
}
