//! Unicode normalization forms. The letter é is one character in NFC, and e with a combining accent in NFD. Filters and facets
//! treat both as the same text. Pure.

use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The text and its NFC and NFD forms, if they differ from it.
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

/// The NFC form.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// An SQL expression for the NFC form of an expression.
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
    fn nfc_and_nfd_texts_have_the_same_forms() {
        assert_eq!(forms("Zurich"), ["Zurich"]);
        assert_eq!(forms("東京"), ["東京"]);
        assert_eq!(forms("Z\u{fc}rich"), ["Z\u{fc}rich", "Zu\u{308}rich"]);
        assert_eq!(forms("Zu\u{308}rich"), ["Zu\u{308}rich", "Z\u{fc}rich"]);
        // A mixture of both forms. Compatibility characters do not change.
        assert_eq!(forms("\u{e9}e\u{301}"), ["\u{e9}e\u{301}", "\u{e9}\u{e9}", "e\u{301}e\u{301}"]);
        assert_eq!(forms("ＡＢＣ ﬁ"), ["ＡＢＣ ﬁ"]);
        assert_eq!((composed("Zu\u{308}rich"), composed("x")), ("Zürich".into(), "x".into()));
    }

    proptest! {
        #[test]
        fn forms_of_a_form_contain_the_form(text in "\\PC{0,8}|[aeu\u{300}-\u{308}éü가각]{0,6}") {
            for form in [text.nfc().collect::<String>(), text.nfd().collect()] {
                prop_assert!(forms(&text).contains(&form));
                prop_assert_eq!(composed(&form), composed(&text));
            }
        }
    }
}
