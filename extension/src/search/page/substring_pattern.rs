//! A pattern of `like` or `ilike`, compared in memory as far as bytes tell. Pure.
//!
//! PostgreSQL makes texts small by the rules of a language, letter by letter, which takes ten times as long as the
//! comparison. For letters of ASCII the rules are known, and outside of it only İ (U+0130) and the sign of Kelvin (U+212A) have
//! small forms in ASCII, `i` and `k`. So most texts need no rules.

use memchr::memmem::Finder;

/// Where in a text the part stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Anywhere,
    AtStart,
    AtEnd,
    Whole,
}

/// A pattern that asks for one part of a text.
pub struct TextPattern {
    place: Place,
    ignores_case: bool,
    /// The part; small if case is ignored.
    part: Finder<'static>,
    /// Its longest run of characters whose forms are all in ASCII, small if case is ignored. Every text that matches has it.
    run: Finder<'static>,
    /// Whether that is all of the part.
    is_plain: bool,
    /// Whether the part is in ASCII.
    is_ascii: bool,
    /// A text made small.
    small: Vec<u8>,
}

impl TextPattern {
    /// Reads a pattern; none where it has a wildcard within. Where case is ignored, the language must make the letters of
    /// ASCII small one by one.
    pub fn read(pattern: &str, ignores_case: bool) -> Option<TextPattern> {
        let (mut part, mut is_escaped) = (String::new(), false);
        let (mut is_open, mut is_closed) = (false, true);
        for (position, character) in pattern.char_indices() {
            match character {
                '\\' if !is_escaped => {
                    is_escaped = true;
                    continue;
                }
                '%' if !is_escaped && position == 0 => is_open = true,
                '%' if !is_escaped && position + 1 == pattern.len() => is_closed = false,
                '%' | '_' if !is_escaped => return None,
                other => part.push(other),
            }
            is_escaped = false;
        }
        let place = match (is_open, is_closed) {
            (true, false) => Place::Anywhere,
            (false, false) => Place::AtStart,
            (true, true) => Place::AtEnd,
            (false, true) => Place::Whole,
        };
        if ignores_case {
            part.make_ascii_lowercase();
        }
        let has_form = |letter: char| !letter.is_ascii() || matches!(letter, 'i' | 'k');
        let run = match ignores_case {
            true => part.split(has_form).max_by_key(|run| run.len()).unwrap_or_default(),
            false => &part,
        };
        Some(TextPattern {
            place,
            ignores_case,
            is_plain: run.len() == part.len(),
            is_ascii: part.is_ascii(),
            run: Finder::new(run).into_owned(),
            part: Finder::new(&part).into_owned(),
            small: Vec::new(),
        })
    }

    /// Whether a text matches; none where only the rules of its language tell.
    pub fn matches(&mut self, text: &[u8]) -> Option<bool> {
        if !self.ignores_case {
            return Some(self.is_in(text));
        }
        let mut small = std::mem::take(&mut self.small);
        small.clear();
        small.extend_from_slice(text);
        small.make_ascii_lowercase();
        let matches = match self.is_plain || self.is_ascii && text.is_ascii() {
            true => Some(self.is_in(&small)),
            false if self.run.find(&small).is_none() => Some(false),
            false => None,
        };
        self.small = small;
        matches
    }

    fn is_in(&self, text: &[u8]) -> bool {
        match self.place {
            Place::Anywhere => self.part.find(text).is_some(),
            Place::AtStart => text.starts_with(self.part.needle()),
            Place::AtEnd => text.ends_with(self.part.needle()),
            Place::Whole => text == self.part.needle(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::pattern::escaped;
    use proptest::prelude::*;

    fn matches(pattern: &str, ignores_case: bool, text: &str) -> Option<bool> {
        TextPattern::read(pattern, ignores_case).expect("one part").matches(text.as_bytes())
    }

    #[test]
    fn a_part_is_found_where_the_pattern_says() {
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
            assert!(TextPattern::read(pattern, true).is_none(), "{pattern}");
        }
    }

    #[test]
    fn letters_of_which_a_language_knows_other_forms_are_left_to_it() {
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
        fn it_tells_the_same_as_making_both_small(
            part in "[abikKüÄ%_\\\\ ]{1,4}", text in "[aABbiIkK\u{212a}İıüÜäÄ%_\\\\ ]{0,9}",
            before in prop::bool::ANY, after in prop::bool::ANY,
        ) {
            let pattern = format!("{}{}{}", if before { "%" } else { "" }, escaped(&part), if after { "%" } else { "" });
            // The rules of most languages: İ becomes an i, with or without a dot above, and the sign of Kelvin a k.
            let (small, part) = (text.to_lowercase().replace('\u{307}', ""), part.to_lowercase());
            let expected = match (before, after) {
                (true, true) => small.contains(&part),
                (false, true) => small.starts_with(&part),
                (true, false) => small.ends_with(&part),
                (false, false) => small == part,
            };
            if let Some(found) = matches(&pattern, true, &text) {
                prop_assert_eq!(found, expected, "{} in {}", pattern, text);
            }
        }
    }
}
