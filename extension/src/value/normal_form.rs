//! Normal forms of Unicode: é is one character (NFC), or e and an accent (NFD). Filters and facets take both for the same text.

use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The text, and its composed and decomposed forms where they differ.
pub fn forms(text: &str) -> Vec<String> {
    let mut forms = vec![text.to_owned()];
    if !text.is_ascii() {
        for form in [text.nfc().collect(), text.nfd().collect()] {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// The composed form.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// The composed form of an expression in SQL.
pub fn composed_sql(text: &str) -> String {
    format!(
        "case when pg_catalog.octet_length({text}) = pg_catalog.char_length({text}) then {text} \
         else pg_catalog.normalize({text}, 'NFC') end"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn composed_and_decomposed_texts_have_the_same_forms() {
        assert_eq!(forms("Zurich"), ["Zurich"]);
        assert_eq!(forms("東京"), ["東京"]);
        assert_eq!(forms("Z\u{fc}rich"), ["Z\u{fc}rich", "Zu\u{308}rich"]);
        assert_eq!(forms("Zu\u{308}rich"), ["Zu\u{308}rich", "Z\u{fc}rich"]);
        // Composed in one place and decomposed in another; compatibility forms stay what they are.
        assert_eq!(forms("\u{e9}e\u{301}"), ["\u{e9}e\u{301}", "\u{e9}\u{e9}", "e\u{301}e\u{301}"]);
        assert_eq!(forms("ＡＢＣ ﬁ"), ["ＡＢＣ ﬁ"]);
        assert_eq!((composed("Zu\u{308}rich"), composed("x")), ("Zürich".into(), "x".into()));
    }

    proptest! {
        #[test]
        fn a_text_is_among_the_forms_of_each_of_its_forms(text in "\\PC{0,8}|[aeu\u{300}-\u{308}éü가각]{0,6}") {
            for form in [text.nfc().collect::<String>(), text.nfd().collect()] {
                prop_assert!(forms(&text).contains(&form));
                prop_assert_eq!(composed(&form), composed(&text));
            }
        }
    }
}
