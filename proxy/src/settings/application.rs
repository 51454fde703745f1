//! Settings of the web application. Each is one field, and its comment is its help text.

use clap::Args;

/// The maximum number of characters of the hint.
const MAX_CHARACTERS: usize = 500;

/// The settings of the web application.
#[derive(Args, Clone)]
#[command(next_help_heading = "Web application")]
pub struct ApplicationSettings {
    /// A hint on the sign-in page, such as where to get a key. It is public. Default: none.
    #[arg(
        long,
        env = "KEYED_SIGN_IN_HINT",
        default_value = "",
        hide_default_value = true,
        value_name = "TEXT"
    )]
    pub sign_in_hint: String,
}

impl ApplicationSettings {
    /// Rejects a hint that is too long or not a single line.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.sign_in_hint.chars().any(char::is_control) {
            return Err(
                "KEYED_SIGN_IN_HINT must not contain control characters, such as the end of a line.".into()
            );
        }
        if self.sign_in_hint.chars().count() > MAX_CHARACTERS {
            return Err(format!("KEYED_SIGN_IN_HINT is longer than {MAX_CHARACTERS} characters."));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_is_one_line_of_at_most_500_characters() {
        let validate = |hint: &str| ApplicationSettings { sign_in_hint: hint.to_owned() }.validate();
        for good in ["", "Ask Ada for a key.", &"é".repeat(500)] {
            assert_eq!(validate(good), Ok(()), "{good}");
        }
        for bad in ["two\nlines", "\u{7}", &"é".repeat(501)] {
            assert!(validate(bad).is_err_and(|message| message.contains("KEYED_SIGN_IN_HINT")), "{bad}");
        }
    }
}
