//! The rules of external keys (docs/reference/values.md): pure, for every entry point.

use crate::error::{Code, Error};

/// The maximum number of characters (Unicode scalar values, not bytes) a key may have after trimming.
pub const MAX_CHARACTERS: usize = 255;

/// The key as it is stored: outer spaces (U+0020 only) removed, everything else untouched.
///
/// Refuses a key that is empty after trimming, longer than 255 characters, or that holds a control
/// character (category Cc: U+0000–U+001F, U+007F–U+009F). Other white space, letter case and Unicode
/// normal form are the sender's business: the key is opaque.
pub fn normalize(key: &str) -> Result<&str, Error> {
    let trimmed = key.trim_matches(' ');
    if trimmed.is_empty() {
        return Err(refuse(
            "external_key must not be empty",
            "Send 1 to 255 characters, or null for no key.",
        ));
    }
    // A control character is found before the length is counted: it is the more telling of two faults.
    if let Some(control) = trimmed.chars().find(|c| c.is_control()) {
        return Err(refuse(
            format!("external_key must not contain control characters: found U+{:04X}", u32::from(control)),
            "Remove tabs, line breaks and other control characters from the key.",
        ));
    }
    // No character takes more than four bytes, so a short text needs no counting.
    if trimmed.len() > MAX_CHARACTERS {
        let count = trimmed.chars().count();
        if count > MAX_CHARACTERS {
            return Err(refuse(
                format!("external_key has {count} characters: at most {MAX_CHARACTERS} are allowed"),
                "Shorten the key, for example to a hash of the longer identifier.",
            ));
        }
    }
    Ok(trimmed)
}

fn refuse(message: impl Into<String>, hint: &str) -> Error {
    Error::at(Code::InvalidExternalKey, "/external_key", message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn outer_spaces_are_trimmed_and_nothing_else() {
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
    fn every_control_character_is_refused_at_any_position() {
        for code in (0..=0x1f).chain(0x7f..=0x9f) {
            let control = char::from_u32(code).expect("a scalar value");
            for key in [format!("{control}ab"), format!("a{control}b"), format!("ab{control}")] {
                assert!(normalize(&key).is_err(), "U+{code:04X} passed");
            }
        }
    }

    proptest! {
        #[test]
        fn normalizing_twice_is_normalizing_once(key in "\\PC{0,300}") {
            if let Ok(once) = normalize(&key) {
                prop_assert_eq!(normalize(once).ok(), Some(once));
                prop_assert!(!once.starts_with(' ') && !once.ends_with(' '));
            }
        }

        #[test]
        fn whatever_is_sent_is_within_its_bounds_or_refused(key in any::<String>()) {
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
