//! Folded text with the offsets of its characters in the original. Pure.

use crate::search::text::fold::fold;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The number of bytes, or characters of one word, after which interrupts are checked.
const PAUSED: usize = 16 << 10;

/// A string as [`fold`] returns it, with the offsets of the original.
pub struct Folded {
    /// The folded text.
    pub text: String,
    pieces: Vec<FoldedPiece>,
}

/// Characters that are folded together.
struct FoldedPiece {
    /// Where they begin in the folded text.
    folded: usize,
    /// Where they are in the original.
    original: Range<usize>,
    /// Whether the folded text has the same byte offsets as the original.
    is_plain: bool,
}

impl Folded {
    /// Folds a string. `pause` is called repeatedly during long input.
    pub fn new(original: &str, mut pause: impl FnMut()) -> Folded {
        let mut folded = Folded { text: String::with_capacity(original.len()), pieces: Vec::new() };
        let (mut rest, mut next) = (0, PAUSED);
        for word in original.split(separates) {
            if rest + word.len() >= next {
                pause();
                next = rest + word.len() + PAUSED;
            }
            folded.push_word(word, rest, &mut pause);
            rest += word.len() + original[rest + word.len()..].chars().next().map_or(0, char::len_utf8);
        }
        folded
    }

    /// The range in the original for a non-empty range of the folded text that neither begins nor ends with a space.
    pub fn original(&self, part: Range<usize>) -> Range<usize> {
        let piece = |place: usize| &self.pieces[self.pieces.partition_point(|it| it.folded <= place) - 1];
        let (first, last) = (piece(part.start), piece(part.end - 1));
        let start = match first.is_plain {
            true => first.original.start + (part.start - first.folded),
            false => first.original.start,
        };
        let end = match last.is_plain {
            true => last.original.start + (part.end - last.folded),
            false => last.original.end,
        };
        start..end
    }

    fn push_word(&mut self, word: &str, at: usize, pause: &mut dyn FnMut()) {
        let whole = fold(word);
        if whole.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        if word.is_ascii() {
            self.pieces.push(FoldedPiece {
                folded: self.text.len(),
                original: at..at + word.len(),
                is_plain: true,
            });
            self.text.push_str(&whole);
            return;
        }
        let (text, pieces) = (self.text.len(), self.pieces.len());
        for (number, cluster) in clusters(word).enumerate() {
            if number % PAUSED == PAUSED - 1 {
                pause();
            }
            let (folded, part) = (self.text.len(), &word[cluster.clone()]);
            let original = at + cluster.start..at + cluster.end;
            let is_plain = part.is_ascii();
            match is_plain {
                true => self.text.push(char::from(part.as_bytes()[0]).to_ascii_lowercase()),
                false => self.text.push_str(&fold(part)),
            }
            match self.pieces.last_mut() {
                Some(last)
                    if last.is_plain && is_plain && last.original.end == original.start && folded > text =>
                {
                    last.original.end = original.end;
                }
                _ => self.pieces.push(FoldedPiece { folded, original, is_plain }),
            }
        }
        // Characters that interact over a distance form one piece.
        if self.text[text..] != whole {
            self.text.truncate(text);
            self.pieces.truncate(pieces);
            self.pieces.push(FoldedPiece { folded: text, original: at..at + word.len(), is_plain: false });
            self.text.push_str(&whole);
        }
    }
}

/// Whether a character becomes a space when it is folded.
pub fn separates(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// The characters of a word, each with its combining marks.
fn clusters(word: &str) -> impl Iterator<Item = Range<usize>> {
    let mut characters = word.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = characters.next()?;
        let mut end = start + first.len_utf8();
        while let Some((_, next)) = characters.next_if(|(_, next)| continues(*next)) {
            end += next.len_utf8();
        }
        Some(start..end)
    })
}

/// Whether a character belongs to the one before it.
pub fn continues(character: char) -> bool {
    !character.is_ascii()
        && (matches!(u32::from(character), 0x1160..=0x11ff | 0xad | 0x200b..=0x200f | 0x2060..=0x206f)
            || std::iter::once(character).nfkd().next().is_some_and(is_combining_mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The ranges of a text whose folded form has a substring.
    fn found(text: &str, part: &str) -> Vec<String> {
        let folded = Folded::new(text, || {});
        let places = folded.text.match_indices(part).map(|(start, it)| start..start + it.len());
        places.map(|place| text[folded.original(place)].to_owned()).collect()
    }

    #[test]
    fn folded_substring_has_a_range_in_the_original() {
        for (text, part, expected) in [
            ("Old  Maps", "old maps", &["Old  Maps"] as &[&str]),
            ("Zürich, ZU\u{308}RICH", "zurich", &["Zürich", "ZU\u{308}RICH"]),
            ("Zürich", "ri", &["ri"]),
            ("Straße", "s", &["S", "ß", "ß"]),
            ("Straße", "ras", &["raß"]),
            ("co\u{ad}op", "oop", &["o\u{ad}op"]),
            ("ﬁne", "ine", &["ﬁne"]),
            ("한국어 ガ\u{ff76}\u{ff9e}", "ガ", &["ガ", "\u{ff76}\u{ff9e}"]),
            ("Ærø", "ero", &["Ærø"]),
            ("a\u{0}b", "a b", &["a\u{0}b"]),
            ("\u{301} x", "x", &["x"]),
        ] {
            assert_eq!(found(text, part), expected, "{text:?} {part:?}");
        }
    }

    #[test]
    fn long_text_can_be_interrupted() {
        for text in ["é ".repeat(PAUSED), "é".repeat(4 * PAUSED), "ab ".repeat(2 * PAUSED)] {
            let mut pauses = 0;
            Folded::new(&text, || pauses += 1);
            assert!((2..=8).contains(&pauses), "{pauses}");
        }
    }

    proptest! {
        #[test]
        fn folded_text_equals_fold(
            text in prop_oneof![any::<String>(), "[a-cA-CäÄß \u{301}\u{3099}\u{ff9e}か\u{ff76}\u{1100}\u{1161}\u{11a8}\u{a8}\u{b4}\u{ad}\u{0}Æé-]{0,30}"],
        ) {
            prop_assert_eq!(Folded::new(&text, || {}).text, fold(&text));
        }

        #[test]
        fn range_of_each_substring_folds_to_it(
            text in prop_oneof![any::<String>(), "[a-cA-CäÄß \u{301}\u{3099}か\u{ad}Æé-]{0,20}"],
            from in 0usize..30,
            length in 1usize..9,
        ) {
            let folded = Folded::new(&text, || {});
            let part: String = folded.text.chars().skip(from).take(length).collect();
            prop_assume!(!part.is_empty() && part.trim() == part);
            let start: usize = folded.text.chars().take(from).map(char::len_utf8).sum();
            let place = folded.original(start..start + part.len());
            prop_assert!(text.is_char_boundary(place.start) && text.is_char_boundary(place.end));
            prop_assert!(fold(&text[place.clone()]).contains(&part), "{text:?}: {part:?} at {place:?}");
        }
    }
}
