//! Folds case and accents, so that similar strings compare equal. Pure.

use unicode_normalization::UnicodeNormalization;

/// The folded form of a string: without case, accents, invisible characters, repeated spaces and control characters, which
/// documents use as markers. Folding is idempotent.
///
/// The steps: compatibility decomposition (NFKD), no accents, full case folding, composition (NFC). Combining marks that
/// form another letter are kept: vowels of Indic scripts, voicing marks of kana.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    if text.is_ascii() {
        push_ascii_words(&mut folded, text);
    } else {
        // Punctuation is normalized before decomposition, which turns some of it into spaces, and after it, which
        // creates some.
        let plain = text.chars().map(plain_mark).nfkd().map(plain_mark);
        let letters = plain.filter(|c| !is_dropped(*c)).flat_map(fold_case).flat_map(base_letters);
        push_words(&mut folded, letters.nfc());
    }
    folded
}

/// [`push_words`] for ASCII.
fn push_ascii_words(out: &mut String, text: &str) {
    for word in text.split(|it: char| it == ' ' || it.is_ascii_control()).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        let start = out.len();
        out.push_str(word);
        out[start..].make_ascii_lowercase();
    }
}

/// Appends characters, with one space for every run of spaces and control characters, and no space at either
/// end.
fn push_words(out: &mut String, characters: impl Iterator<Item = char>) {
    let mut is_apart = false;
    for character in characters {
        if character.is_whitespace() || character.is_control() {
            is_apart = !out.is_empty();
            continue;
        }
        if is_apart {
            out.push(' ');
            is_apart = false;
        }
        out.push(character);
    }
}

/// Maps quotation marks, apostrophes and hyphens to one form, because keyboards and word processors write them
/// differently.
fn plain_mark(character: char) -> char {
    match character {
        '\u{2018}'..='\u{201b}' | '\u{2b9}'..='\u{2bd}' | '\u{2032}' | '\u{b4}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2033}' | '\u{ff02}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    }
}

/// Accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic, and invisible characters.
fn is_dropped(character: char) -> bool {
    matches!(u32::from(character),
        0x300..=0x36f | 0x483..=0x489 | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f
        | 0x591..=0x5bd | 0x5bf | 0x5c1..=0x5c2 | 0x5c4..=0x5c5 | 0x5c7
        | 0x610..=0x61a | 0x64b..=0x65f | 0x670 | 0x6d6..=0x6dc | 0x6df..=0x6e4 | 0x6e7..=0x6e8 | 0x6ea..=0x6ed
        | 0xad | 0x61c | 0x180b..=0x180f | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f
        | 0xfe00..=0xfe0f | 0xfeff | 0xe0100..=0xe01ef)
}

/// Full case folding through uppercase, so that ß becomes ss and both forms of sigma become one.
fn fold_case(character: char) -> impl Iterator<Item = char> {
    // The uppercase of ẞ is ẞ, so it is lowercased first.
    character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// ASCII spellings of letters that Unicode does not decompose.
fn base_letters(character: char) -> impl Iterator<Item = char> {
    let letters: [Option<char>; 2] = match character {
        'ø' => [Some('o'), None],
        'ł' => [Some('l'), None],
        'đ' | 'ð' => [Some('d'), None],
        'ħ' => [Some('h'), None],
        'ŧ' => [Some('t'), None],
        'æ' => [Some('a'), Some('e')],
        'œ' => [Some('o'), Some('e')],
        'þ' => [Some('t'), Some('h')],
        other => [Some(other), None],
    };
    letters.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn similar_texts_fold_to_the_same() {
        for (text, folded) in [
            ("Zürich", "zurich"),
            ("ZU\u{308}RICH", "zurich"),
            ("Straße", "strasse"),
            ("STRAẞE", "strasse"),
            ("Łódź Sørensen Þór", "lodz sorensen thor"),
            ("œuvre Ærø", "oeuvre aero"),
            ("ΣΊΣΥΦΟΣ Σίσυφος", "σισυφοσ σισυφοσ"),
            ("İstanbul ISPARTA ısı", "istanbul isparta isi"),
            ("ﬁne ＡＢＣ １２", "fine abc 12"),
            ("O’Brien’s “x” – y", "o'brien's \"x\" - y"),
            ("Ёлка й", "елка и"),
            ("한국어 テスト が", "한국어 テスト が"),
            ("हिन्दी", "हिन्दी"),
            ("مُحَمَّد", "محمد"),
            (" \t a\u{a0}\u{3000}b \n\r c\u{0}\u{1f}d ", "a b c d"),
            ("co\u{ad}op\u{200b}erate", "cooperate"),
            ("", ""),
            ("\u{301}", ""),
        ] {
            assert_eq!(fold(text), folded, "{text:?}");
        }
    }

    #[test]
    fn folding_a_character_again_changes_nothing() {
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let once = fold(&character.to_string());
            assert_eq!(fold(&once), once, "{character:?} U+{:04X}", u32::from(character));
            assert!(!once.contains(char::is_control), "{character:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_again_changes_nothing(text in any::<String>()) {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once.clone());
            prop_assert!(!once.contains(char::is_control) && !once.contains("  "));
            prop_assert_eq!(once.trim(), once.as_str());
        }

        #[test]
        fn ascii_is_folded_as_all_characters_are(text in "[\\x00-\\x7f]{0,40}") {
            let mut folded = String::new();
            push_words(&mut folded, text.chars().map(|c| c.to_ascii_lowercase()));
            prop_assert_eq!(fold(&text), folded);
        }

        #[test]
        fn case_does_not_matter(text in "[a-zA-ZäöüßÉéèñçøłΑ-Ωα-ωА-Яа-я .'\"-]{0,40}") {
            prop_assert_eq!(fold(&text.to_uppercase()), fold(&text));
            prop_assert_eq!(fold(&text.to_lowercase()), fold(&text));
        }
    }
}
