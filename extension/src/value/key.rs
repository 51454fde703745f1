//! The rules of external keys (docs/reference/values.md), for all entry points. Pure.

use crate::error::{Code, Error};

/// The maximum number of characters (Unicode scalar values) of a key after trimming.
pub const MAX_CHARACTERS: usize = 255;

/// The stored form of a key: leading and trailing spaces (U+0020 only) are removed.
///
/// Rejects a key that is empty after trimming, is longer than 255 characters, or contains a control character (category Cc:
/// U+0000–U+001F, U+007F–U+009F). Keys are opaque: other white space, letter case and normalization form are kept.
pub fn normalize(key: &str) -> Result<&str, Error> {
    let trimmed = key.trim_matches(' ');
    if trimmed.is_empty() {
        return Err(reject(
            "external_key must not be empty",
            "Send 1 to 255 characters, or null for no key.",
        ));
    }
    // Checked before the length, because this error is more helpful if both apply.
    if let Some(control) = trimmed.chars().find(|c| c.is_control()) {
        return Err(reject(
            format!("external_key must not contain control characters: found U+{:04X}", u32::from(control)),
            "Remove tabs, line breaks and other control characters from the key.",
        ));
    }
    // A character has at least one byte, so a short text needs no count.
    if trimmed.len() > MAX_CHARACTERS {
        let count = trimmed.chars().count();
        if count > MAX_CHARACTERS {
            return Err(reject(
                format!("external_key has {count} characters: at most {MAX_CHARACTERS} are allowed"),
                "Shorten the key, for example to a hash of the longer identifier.",
            ));
        }
    }
    Ok(trimmed)
}

fn reject(message: impl Into<String>, hint: &str) -> Error {
    Error::at(Code::InvalidExternalKey, "/external_key", message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_outer_spaces_are_trimmed() {
        assert_eq!(normalize("  A:1/é x  ").ok(), Some("A:1/é x"));
        for kept in ["\u{a0}a", "a\u{3000}", "\u{200b}a", "a\u{202e}", "\u{feff}a"] {
            assert_eq!(normalize(kept).ok(), Some(kept));
        }
    }

    #[test]
    fn length_counts_characters_after_trimming() {
        let longest = "😀".repeat(255);
        assert_eq!(normalize(&format!("{0}{longest}{0}", " ".repeat(20))).ok(), Some(longest.as_str()));
        assert!(normalize(&"😀".repeat(256)).is_err());
        assert!(normalize(&"a".repeat(256)).is_err());
        assert!(normalize("").is_err() && normalize("   ").is_err());
    }

    #[test]
    fn control_character_is_rejected_at_any_position() {
        for code in (0..=0x1f).chain(0x7f..=0x9f) {
            let control = char::from_u32(code).expect("a scalar value");
            for key in [format!("{control}ab"), format!("a{control}b"), format!("ab{control}")] {
                assert!(normalize(&key).is_err(), "U+{code:04X} passed");
            }
        }
    }

    proptest! {
        #[test]
        fn normalization_is_idempotent(key in "\\PC{0,300}") {
            if let Ok(once) = normalize(&key) {
                prop_assert_eq!(normalize(once).ok(), Some(once));
                prop_assert!(!once.starts_with(' ') && !once.ends_with(' '));
            }
        }

        #[test]
        fn any_key_is_valid_or_rejected(key in any::<String>()) {
            match normalize(&key) {
                Ok(taken) => {
                    prop_assert!((1..=MAX_CHARACTERS).contains(&taken.chars().count()));
                    prop_assert!(!taken.contains(char::is_control));
                    prop_assert_eq!(taken, key.trim_matches(' '));
                }
                Err(error) => prop_assert_eq!(error.code, Code::InvalidExternalKey),
            }
        }
    }
}
